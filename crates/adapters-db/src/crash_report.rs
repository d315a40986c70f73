//! The crash reports: [`domain::crash_report::CrashReportRepository`].

use crate::convert::{Owner, size_column};
use crate::core::Core;
use crate::entity::{crash_part, crash_report};
use crate::group_commit::{Cell, GroupCommit, Kind, Record, Table, Written};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_report::{CrashPart, CrashReportRepository, NewCrashReport, PartRole, StoredCrashReport};
use domain::error::StoreError;
use domain::guid::{ComputerGuid, CrashReportId};
use domain::timestamp::Timestamp;
use sea_orm::{ColumnTrait, EntityTrait, QueryFilter, QueryOrder, QueryTrait};
use std::sync::Arc;

/// The crash reports in a database. Reports that arrive together are committed together.
pub struct SqlCrashReportRepository {
    core: Arc<Core>,
    group: Arc<GroupCommit>,
}

impl SqlCrashReportRepository {
    pub(crate) fn new(core: Arc<Core>, group: Arc<GroupCommit>) -> Self {
        Self { core, group }
    }
}

#[async_trait]
impl CrashReportRepository for SqlCrashReportRepository {
    async fn add(&self, organization: OrganizationId, report: NewCrashReport) -> Result<(), StoreError> {
        let (report, parts) = new_rows(organization, report);
        // A part is some names and a key: its bytes are in the blob store.
        let bytes = parts.len() * 512;
        self.group.add(Record::CrashReport(Box::new(report), parts), bytes).await
    }

    async fn find(
        &self,
        organization: OrganizationId,
        id: CrashReportId,
    ) -> Result<Option<StoredCrashReport>, StoreError> {
        Ok(find(&self.core, Some(organization), id).await?.map(|(_, report)| report))
    }
}

/// A report and its organization, which is the given one if one is given.
pub(crate) async fn find(
    core: &Core,
    organization: Option<OrganizationId>,
    id: CrashReportId,
) -> Result<Option<(OrganizationId, StoredCrashReport)>, StoreError> {
    let report = crash_report::Entity::find_by_id(id.as_uuid())
        .apply_if(organization, |select, id| select.filter(crash_report::Column::OrganizationId.eq(id.0)));
    let Some(report) = core.read(report.one(&core.reads)).await? else {
        return Ok(None);
    };
    // Reports never change: their parts are those that were stored with them.
    let parts = crash_part::Entity::find()
        .filter(crash_part::Column::ReportId.eq(id.as_uuid()))
        .order_by_asc(crash_part::Column::Position);
    let parts = core.read(parts.all(&core.reads)).await?;
    let organization = OrganizationId(report.organization_id);
    Ok(Some((organization, stored(report, parts)?)))
}

fn new_rows(organization: OrganizationId, report: NewCrashReport) -> (crash_report::Model, Vec<crash_part::Model>) {
    let id = report.id.as_uuid();
    let part = |(position, part): (i32, CrashPart)| crash_part::Model {
        report_id: id,
        position,
        place: part.place.as_str().to_owned(),
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

/// Reports as batches write them.
pub(crate) static REPORTS: Table = Table {
    name: "crash_report",
    columns: &[
        ("id", Kind::Guid),
        ("organization_id", Kind::BigInt),
        ("received_at", Kind::BigInt),
        ("application_name", Kind::Text),
        ("os", Kind::Text),
        ("user_name", Kind::Text),
        ("computer_guid", Kind::Guid),
        ("serial_number", Kind::Text),
        ("application_version", Kind::Text),
        ("note", Kind::Text),
    ],
    on_conflict: "",
};

/// Their parts.
pub(crate) static PARTS: Table = Table {
    name: "crash_part",
    columns: &[
        ("report_id", Kind::Guid),
        ("position", Kind::Integer),
        ("place", Kind::Text),
        ("name", Kind::Text),
        ("file_name", Kind::Text),
        ("content_type", Kind::Text),
        ("blob_key", Kind::Text),
        ("content_size", Kind::BigInt),
        ("checksum", Kind::Text),
    ],
    on_conflict: "",
};

impl Written for crash_report::Model {
    const TABLE: &'static Table = &REPORTS;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend_from_slice(&[
            self.id.into(),
            self.organization_id.into(),
            self.received_at.into(),
            self.application_name.as_ref().into(),
            self.os.as_ref().into(),
            self.user_name.as_ref().into(),
            self.computer_guid.into(),
            (&self.serial_number).into(),
            (&self.application_version).into(),
            self.note.as_ref().into(),
        ]);
    }
}

impl Written for crash_part::Model {
    const TABLE: &'static Table = &PARTS;

    fn write<'a>(&'a self, cells: &mut Vec<Cell<'a>>) {
        cells.extend_from_slice(&[
            self.report_id.into(),
            self.position.into(),
            (&self.place).into(),
            self.name.as_ref().into(),
            self.file_name.as_ref().into(),
            self.content_type.as_ref().into(),
            (&self.blob_key).into(),
            self.content_size.into(),
            (&self.checksum).into(),
        ]);
    }
}

fn stored(row: crash_report::Model, parts: Vec<crash_part::Model>) -> Result<StoredCrashReport, StoreError> {
    let id = CrashReportId::from(row.id);
    let owner = Owner { what: "crash report", id: &id };
    let part = |part: crash_part::Model| {
        Ok::<_, StoreError>(CrashPart {
            place: owner.need(PartRole::parse(&part.place))?,
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
