//! The crash reports: [`domain::crash_report::CrashReportRepository`].

use crate::connections::Connections;
use crate::convert::{Owner, size_column};
use crate::entity::{crash_part, crash_pending, crash_report};
use crate::error::FailedTransaction;
use crate::group_commit::{BatchWriter, GroupCommit};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_report::{CrashPart, CrashReportRepository, NewCrashReport, PartRole, StoredCrashReport};
use domain::error::{StoreError, WriteError};
use domain::guid::{ComputerGuid, CrashReportId};
use domain::timestamp::Timestamp;
use sea_orm::{
    ColumnTrait, DatabaseConnection, DbErr, EntityTrait, IntoActiveModel, QueryFilter, QueryOrder, QueryTrait,
    TransactionTrait,
};
use std::sync::Arc;

/// Parts of one statement: nine values each, of at most 32,766 (SQLite).
const PARTS_PER_INSERT: usize = 500;

/// A report and its parts, in the order of the body.
pub(crate) type CrashReportRows = (crash_report::Model, Vec<crash_part::Model>);

/// The crash reports in a database. Reports that arrive together are committed together.
pub struct SqlCrashReportRepository {
    db: Arc<Connections>,
    commits: Arc<GroupCommit<CrashReportRows>>,
}

impl SqlCrashReportRepository {
    pub(crate) fn new(db: Arc<Connections>, commits: Arc<GroupCommit<CrashReportRows>>) -> Self {
        Self { db, commits }
    }
}

#[async_trait]
impl CrashReportRepository for SqlCrashReportRepository {
    async fn add(&self, organization: OrganizationId, report: NewCrashReport) -> Result<(), WriteError> {
        let rows = new_rows(organization, report);
        // A part is some names and a key: its bytes are in the blob store.
        let bytes = rows.1.len() * 512;
        self.commits.add(rows, bytes).await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        id: CrashReportId,
    ) -> Result<Option<StoredCrashReport>, StoreError> {
        Ok(find(&self.db, Some(organization), id).await?.map(|(_, report)| report))
    }
}

/// A report and its organization, which is the given one if one is given.
pub(crate) async fn find(
    db: &Connections,
    organization: Option<OrganizationId>,
    id: CrashReportId,
) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
    let report = crash_report::Entity::find_by_id(id.as_uuid())
        .apply_if(organization, |select, id| select.filter(crash_report::Column::OrganizationId.eq(id.0)));
    let Some(report) = db.read(report.one(&db.reads)).await? else {
        return Ok(None);
    };
    // Reports never change: their parts are those that were stored with them.
    let parts = crash_part::Entity::find()
        .filter(crash_part::Column::ReportId.eq(id.as_uuid()))
        .order_by_asc(crash_part::Column::Position);
    let parts = db.read(parts.all(&db.reads)).await?;
    let organization = OrganizationId(report.organization_id);
    Ok(Some((organization, stored(report, parts)?)))
}

fn new_rows(organization: OrganizationId, report: NewCrashReport) -> CrashReportRows {
    let id = report.id.as_uuid();
    let part = |(position, part): (i32, CrashPart)| crash_part::Model {
        report_id: id,
        position,
        place: part.role.as_str().to_owned(),
        name: part.name,
        file_name: part.file_name,
        content_type: part.content_type,
        blob_key: part.key.as_str().to_owned(),
        content_size: size_column(part.size),
        checksum: part.checksum.to_string(),
    };
    let parts = (0..).zip(report.parts).map(part).collect();
    let row = crash_report::Model {
        id,
        organization_id: organization.0,
        received_at: report.received.as_micros(),
        application_name: report.application_name,
        os: report.os,
        user_name: report.user,
        computer_guid: report.computer.map(ComputerGuid::as_uuid),
        serial_number: report.serial_number,
        application_version: report.application_version,
        note: report.note,
    };
    (row, parts)
}

/// Writes batches of crash reports with their parts.
pub(crate) struct CrashReportWriter(pub(crate) DatabaseConnection);

#[async_trait]
impl BatchWriter for CrashReportWriter {
    type Row = CrashReportRows;

    async fn write(&self, rows: &[CrashReportRows]) -> Result<(), FailedTransaction<DbErr>> {
        let transaction = self.0.begin().await?;
        let reports = rows.iter().map(|(report, _)| report.clone().into_active_model());
        crash_report::Entity::insert_many(reports).exec_without_returning(&transaction).await?;
        let waiting = rows.iter().map(|(report, _)| crash_pending::Model::new(report).into_active_model());
        crash_pending::Entity::insert_many(waiting).exec_without_returning(&transaction).await?;
        let parts: Vec<&crash_part::Model> = rows.iter().flat_map(|(_, parts)| parts).collect();
        for parts in parts.chunks(PARTS_PER_INSERT) {
            let parts = parts.iter().map(|part| (*part).clone().into_active_model());
            crash_part::Entity::insert_many(parts).exec_without_returning(&transaction).await?;
        }
        transaction.commit().await.map_err(FailedTransaction::in_commit)
    }
}

fn stored(row: crash_report::Model, parts: Vec<crash_part::Model>) -> Result<StoredCrashReport, StoreError> {
    let id = CrashReportId::from(row.id);
    let owner = Owner { what: "crash report", id: &id };
    let part = |part: crash_part::Model| {
        Ok::<_, StoreError>(CrashPart {
            role: owner.need(PartRole::parse(&part.place))?,
            name: part.name,
            file_name: part.file_name,
            content_type: part.content_type,
            key: owner.blob_key(&part.blob_key)?,
            size: owner.size(part.content_size)?,
            checksum: owner.checksum(&part.checksum)?,
        })
    };
    Ok(StoredCrashReport {
        id,
        received: Timestamp::from_micros(row.received_at),
        application_name: row.application_name,
        os: row.os,
        user: row.user_name,
        computer: row.computer_guid.map(ComputerGuid::from),
        serial_number: row.serial_number,
        application_version: row.application_version,
        parts: parts.into_iter().map(part).collect::<Result<_, _>>()?,
        note: row.note,
    })
}
