//! `GET /audit`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::{PageBody, PageQuery};
use crate::query::Query;
use crate::routes::json;
use crate::time::{parse, shown};
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::audit::{AuditAction, AuditCursor, AuditFilter, AuditRecord, AuditService, AuditedValue};
use domain::operator::{OperatorError, OrganizationList};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Who changed what, or signed in.
#[derive(Serialize, ToSchema)]
pub(crate) struct AuditBody {
    id: i64,
    #[schema(format = DateTime)]
    time: String,
    /// The operator, or the system's user who ran a command.
    who: String,
    /// `session`, `token`, `command`, `password` or `setup_code`.
    by: &'static str,
    /// The name of the token; null for all else.
    token: Option<String>,
    /// The client's address; null for a command.
    address: Option<String>,
    /// The organization whose admins see it; null where only admins of all do.
    organization: Option<String>,
    /// Such as `key.issued`.
    what: &'static str,
    /// What was changed.
    on: String,
    values: Vec<ValueBody>,
}

/// A value before and after the change; never a secret.
#[derive(Serialize, ToSchema)]
pub(crate) struct ValueBody {
    member: String,
    before: Option<String>,
    after: Option<String>,
}

impl From<AuditRecord> for AuditBody {
    fn from(one: AuditRecord) -> Self {
        let record = one.record;
        let (by, token) = record.author.credential.parts();
        let token = token.map(str::to_owned);
        let value = |AuditedValue { member, before, after }| ValueBody { member, before, after };
        Self {
            id: one.id,
            time: shown(record.at),
            who: record.author.name,
            by,
            token,
            address: record.author.address,
            organization: one.organization,
            what: record.action.code(),
            on: record.target,
            values: record.values.into_iter().map(value).collect(),
        }
    }
}

/// Which records: all that fit every condition.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct AuditQuery {
    /// Only what this operator, or this user of the system, did; without case.
    who: Option<String>,
    /// Only this, such as `key.issued`.
    what: Option<String>,
    /// Only records of this organization.
    organization: Option<String>,
    /// The first time, inclusive.
    #[param(format = DateTime)]
    from: Option<String>,
    /// The last time, inclusive.
    #[param(format = DateTime)]
    to: Option<String>,
}

impl AuditQuery {
    async fn filter(&self, caller: &Caller, organizations: &OrganizationList) -> Result<AuditFilter, OperatorError> {
        let unknown = || OperatorError::invalid("what", "is not what a record is about");
        let time = |field, text: &Option<String>| text.as_deref().map(|text| parse(field, text)).transpose();
        Ok(AuditFilter {
            what: self.what.as_deref().map(|word| AuditAction::parse(word).ok_or_else(unknown)).transpose()?,
            from: time("from", &self.from)?,
            to: time("to", &self.to)?,
            who: self.who.as_deref().map(|name| Folded::of(name.trim())),
            organization: organizations.narrow(&caller.actor, self.organization.as_deref()).await?,
        })
    }
}

/// The audit records that the admin sees, the newest first.
#[utoipa::path(get, path = "/audit", operation_id = "list_audit", tag = "Operators", params(AuditQuery, PageQuery), responses((status = 200, description = "A page.", body = PageBody<AuditBody>), Problems))]
pub(crate) async fn list(
    caller: Caller,
    filter: Query<AuditQuery>,
    page: Query<PageQuery>,
    audit: Data<AuditService>,
    organizations: Data<OrganizationList>,
) -> Result<HttpResponse, Problem> {
    let asked = page.0.request(cursor)?;
    let filter = filter.0.filter(&caller, &organizations).await?;
    let page = audit.list(&caller.actor, filter, asked).await?;
    Ok(json(&PageBody::of(page, AuditBody::from, |AuditCursor { at, id }| format!("{}.{id}", at.as_micros()))))
}

fn cursor(text: &str) -> Option<AuditCursor> {
    let (at, id) = text.split_once('.')?;
    Some(AuditCursor { at: Timestamp::from_micros(at.parse().ok()?), id: id.parse().ok()? })
}
