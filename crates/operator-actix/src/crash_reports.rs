//! `GET /crash-reports`, `GET /crash-reports/{id}` and `…/parts/{number}`

mod body;

pub(crate) use body::{FoundReportBody, ReportBody};

use crate::authenticate::Caller;
use crate::download::attachment;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::{Query, given};
use crate::routes::json;
use crate::time::parse;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::crash_group::CrashGroupId;
use domain::crash_report::{CrashReportReader, ReportCursor, ReportFilter, file_name};
use domain::guid::{ComputerGuid, CrashReportId, parse_guid};
use domain::operator::OperatorError;
use domain::text::storable;
use serde::Deserialize;
use utoipa::IntoParams;

/// Which reports: all that fit every condition.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ReportsQuery {
    /// Only reports of this group, by its id.
    pub group: Option<String>,
    /// Only reports of this computer, by its GUID.
    pub computer: Option<String>,
    /// Exactly this ApplicationVersion.
    pub version: Option<String>,
    /// The first time of receipt, inclusive.
    #[param(format = DateTime)]
    pub from: Option<String>,
    /// The last time of receipt, inclusive.
    #[param(format = DateTime)]
    pub to: Option<String>,
    /// Only reports of this organization.
    pub organization: Option<String>,
}

impl ReportsQuery {
    /// What is asked for; empty members count as missing.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`]
    pub fn filter(&self) -> Result<ReportFilter, OperatorError> {
        let guid = |field, text| parse_guid(text).ok_or_else(|| OperatorError::invalid(field, "must be a GUID"));
        Ok(ReportFilter {
            group: given(&self.group).map(|text| guid("group", text)).transpose()?.map(CrashGroupId::from),
            computer: given(&self.computer).map(|text| guid("computer", text)).transpose()?.map(ComputerGuid::from),
            version: given(&self.version).map(storable),
            from: given(&self.from).map(|text| parse("from", text)).transpose()?,
            to: given(&self.to).map(|text| parse("to", text)).transpose()?,
        })
    }
}

/// The crash reports that the operator sees, the newest first.
#[utoipa::path(get, path = "/crash-reports", operation_id = "list_crash_reports", tag = "Crashes", params(ReportsQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<ReportBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    query: Query<ReportsQuery>,
    page: Query<PageQuery>,
    reports: Data<CrashReportReader>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(ReportCursor::parse)?;
    let filter = query.0.filter()?;
    let page = reports.list(&caller.actor, given(&query.0.organization), &filter, asked).await?;
    Ok(json(&PageBody::of(page, ReportBody::from, |cursor| cursor.to_string())))
}

/// A crash report with its signature, the facts of its minidump and what its computer logged before.
#[utoipa::path(get, path = "/crash-reports/{id}", operation_id = "find_crash_report", tag = "Crashes", params(("id" = String, Path)), responses((status = 200, description = "The report.", body = FoundReportBody), Problems))]
pub(crate) async fn find(
    caller: Caller,
    id: Path<String>,
    reports: Data<CrashReportReader>,
) -> Result<HttpResponse, Problem> {
    let found = reports.find(&caller.actor, report_id(&id)?).await?;
    let log = reports.log_before(&found).await?;
    Ok(json(&FoundReportBody::of(found, log)))
}

/// A part of a crash report as it was sent, as a file. `number` counts the parts from 1.
#[utoipa::path(get, path = "/crash-reports/{id}/parts/{number}", operation_id = "get_crash_report_part", tag = "Crashes", params(("id" = String, Path), ("number" = u32, Path, minimum = 1)), responses((status = 200, description = "The content.", content_type = "application/octet-stream", body = String), Problems))]
pub(crate) async fn part(
    caller: Caller,
    path: Path<(String, String)>,
    reports: Data<CrashReportReader>,
) -> Result<HttpResponse, Problem> {
    download_part(&caller, &path.0, &path.1, &reports).await
}

/// Answers a part of a report as a file.
///
/// # Errors
/// It doesn't exist, or the operator doesn't see it, or a store failure.
pub async fn download_part(
    caller: &Caller,
    id: &str,
    number: &str,
    reports: &CrashReportReader,
) -> Result<HttpResponse, Problem> {
    let missing = || OperatorError::NotFound(format!("part \"{}\"", domain::text::cut(number, 20)));
    let number: usize = number.parse().map_err(|_| missing())?;
    let (part, content) = reports.part(&caller.actor, report_id(id)?, number).await?;
    Ok(attachment(&file_name(number, &part), part.size, content))
}

/// The id of a path; a malformed one is not found (decision R7).
///
/// # Errors
/// [`OperatorError::NotFound`]
pub fn report_id(text: &str) -> Result<CrashReportId, OperatorError> {
    let missing = || OperatorError::NotFound(format!("crash report \"{}\"", domain::text::cut(text, 100)));
    CrashReportId::parse(text).ok_or_else(missing)
}
