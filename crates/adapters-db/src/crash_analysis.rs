//! The analyses of crash reports: [`domain::crash_analysis::CrashAnalysisRepository`].
//!
//! The transaction that deletes the row of `crash_pending` counts the report. So a report is counted once.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::crash_group::{Counted, count, remove_empty, uncount};
use crate::entity::crash_analysis::{Column, Entity, Model};
use crate::entity::{crash_pending, crash_report};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::crash_analysis::{
    AnalyzedReport, CrashAnalysis, CrashAnalysisRepository, DumpAnalysis, PendingReport, Recorded, Requeue,
};
use domain::crash_group::{CrashGroup, CrashGroupId, GroupState};
use domain::error::StoreError;
use domain::guid::CrashReportId;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, LockBehavior, LockType, OnConflict};
use sea_orm::{
    ColumnTrait, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, Iterable, PaginatorTrait, QueryFilter,
    QueryOrder, QuerySelect,
};
use std::sync::Arc;
use uuid::Uuid;

/// The analyses in a database.
pub struct SqlCrashAnalysisRepository {
    db: Arc<Connections>,
}

impl SqlCrashAnalysisRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl CrashAnalysisRepository for SqlCrashAnalysisRepository {
    async fn take(&self, now: Timestamp, until: Timestamp, limit: u64) -> Result<Vec<PendingReport>, StoreError> {
        // The queue is empty most of the time. This read avoids the write lock.
        let waits = crash_pending::Entity::find().filter(crash_pending::Column::TakenUntil.lte(now.as_micros()));
        if self.db.read(waits.one(&self.db.reads)).await?.is_none() {
            return Ok(Vec::new());
        }
        let taken = self.db.write(move |transaction| take(transaction, now, until, limit).boxed()).await?;
        let mut reports = Vec::new();
        for row in taken {
            // Reports that were removed in the meantime are left out.
            let found = crate::crash_report::find(&self.db, None, CrashReportId::from(row.report_id)).await?;
            let attempts = u32::try_from(row.attempts).unwrap_or(u32::MAX);
            reports.extend(found.map(|(organization, report)| PendingReport { organization, report, attempts }));
        }
        Ok(reports)
    }

    async fn record(&self, analysis: CrashAnalysis) -> Result<Recorded, StoreError> {
        let analysis = Arc::new(analysis);
        let recorded = self.db.write(move |transaction| {
            let analysis = analysis.clone();
            async move { record(transaction, &analysis).await }.boxed()
        });
        Ok(recorded.await?)
    }

    async fn requeue(
        &self,
        which: Requeue,
        after: Option<CrashReportId>,
        limit: u64,
        now: Timestamp,
    ) -> Result<(Option<CrashReportId>, u64), StoreError> {
        let requeued = self
            .db
            .write(move |transaction| async move { requeue(transaction, which, after, limit, now).await }.boxed());
        Ok(requeued.await?)
    }

    async fn find(&self, reports: &[CrashReportId]) -> Result<Vec<AnalyzedReport>, StoreError> {
        let mut found = Vec::new();
        for ids in reports.chunks(500) {
            let select = Entity::find().filter(Column::ReportId.is_in(ids.iter().map(|id| id.as_uuid())));
            for row in self.db.read(select.all(&self.db.reads)).await? {
                found.push(stored(row)?);
            }
        }
        Ok(found)
    }

    async fn waiting(&self) -> Result<u64, StoreError> {
        self.db.read(crash_pending::Entity::find().count(&self.db.reads)).await
    }
}

async fn take(
    transaction: &DatabaseTransaction,
    now: Timestamp,
    until: Timestamp,
    limit: u64,
) -> Result<Vec<crash_pending::Model>, DbErr> {
    let waiting = crash_pending::Entity::find()
        .filter(crash_pending::Column::TakenUntil.lte(now.as_micros()))
        .order_by_asc(crash_pending::Column::WaitingSince)
        .order_by_asc(crash_pending::Column::ReportId)
        .limit(limit)
        .lock_with_behavior(LockType::Update, LockBehavior::SkipLocked);
    let mut taken = waiting.all(transaction).await?;
    let ids: Vec<Uuid> = taken.iter().map(|row| row.report_id).collect();
    let update = crash_pending::Entity::update_many()
        .col_expr(crash_pending::Column::TakenUntil, Expr::val(until.as_micros()))
        .col_expr(crash_pending::Column::Attempts, Expr::col(crash_pending::Column::Attempts).add(1))
        .filter(crash_pending::Column::ReportId.is_in(ids));
    update.exec(transaction).await?;
    for row in &mut taken {
        row.attempts += 1;
    }
    Ok(taken)
}

async fn record(transaction: &DatabaseTransaction, analysis: &CrashAnalysis) -> Result<Recorded, DbErr> {
    let id = analysis.report.as_uuid();
    if crash_pending::Entity::delete_by_id(id).exec(transaction).await?.rows_affected == 0 {
        return Ok(Recorded::Obsolete);
    }
    let Some(report) = crash_report::Entity::find_by_id(id).one(transaction).await? else {
        return Ok(Recorded::Obsolete);
    };
    let former = Entity::find_by_id(id).one(transaction).await?.and_then(|row| row.group_id).map(CrashGroupId::from);
    let group = analysis.signature.as_ref().ok().map(|signature| new_group(&report, signature, analysis.algorithm));
    let moves = former != group.as_ref().map(|group| group.id);
    if let Some(group) = group.as_ref().filter(|_| moves) {
        count(transaction, group, &Counted::from(&report)).await?;
    }
    let row = row(&report, group.as_ref().map(|group| group.id), analysis)?;
    let others = Column::iter().filter(|column| !matches!(column, Column::ReportId));
    let replace = OnConflict::column(Column::ReportId).update_columns(others).to_owned();
    Entity::insert(row.into_active_model()).on_conflict(replace).exec_without_returning(transaction).await?;
    if let Some(former) = former.filter(|_| moves) {
        uncount(transaction, std::iter::once((former, Counted::from(&report)))).await?;
        remove_empty(transaction, vec![former.as_uuid()]).await?;
    }
    Ok(Recorded::Stored)
}

/// The group of a report as it is before its first report is counted.
fn new_group(report: &crash_report::Model, signature: &str, algorithm: u32) -> CrashGroup {
    let (organization, name) = (OrganizationId(report.organization_id), report.application_name.as_deref());
    let received = Timestamp::from_micros(report.received_at);
    CrashGroup {
        id: CrashGroupId::of(organization, name, signature),
        organization,
        application_name: report.application_name.clone(),
        signature: signature.to_owned(),
        algorithm,
        state: GroupState::New,
        resolved_in: None,
        resolved_at: None,
        first_seen: received,
        last_seen: received,
        reports: 0,
    }
}

async fn requeue(
    transaction: &DatabaseTransaction,
    which: Requeue,
    after: Option<CrashReportId>,
    limit: u64,
    now: Timestamp,
) -> Result<(Option<CrashReportId>, u64), DbErr> {
    let mut ids = crash_report::Entity::find().select_only().column(crash_report::Column::Id);
    if let Some(after) = after {
        ids = ids.filter(crash_report::Column::Id.gt(after.as_uuid()));
    }
    let ids: Vec<Uuid> = ids.order_by_asc(crash_report::Column::Id).limit(limit).into_tuple().all(transaction).await?;
    let Some(last) = ids.last().copied() else {
        return Ok((None, 0));
    };
    let current = match which {
        Requeue::All => Vec::new(),
        Requeue::Older { than } => {
            let select = Entity::find()
                .select_only()
                .column(Column::ReportId)
                .filter(Column::ReportId.is_in(ids.iter().copied()))
                .filter(Column::Algorithm.gte(i32::try_from(than).unwrap_or(i32::MAX)))
                .filter(Column::Signature.is_not_null());
            select.into_tuple::<Uuid>().all(transaction).await?
        }
    };
    let row = |id: Uuid| crash_pending::ActiveModel {
        report_id: Set(id),
        waiting_since: Set(now.as_micros()),
        taken_until: Set(0),
        attempts: Set(0),
    };
    let rows: Vec<_> = ids.into_iter().filter(|id| !current.contains(id)).map(row).collect();
    let mut count = 0;
    if !rows.is_empty() {
        let waits = OnConflict::column(crash_pending::Column::ReportId).do_nothing().to_owned();
        let insert = crash_pending::Entity::insert_many(rows).on_conflict(waits);
        count = insert.exec_without_returning(transaction).await?;
    }
    Ok((Some(CrashReportId::from(last)), count))
}

fn row(report: &crash_report::Model, group: Option<CrashGroupId>, analysis: &CrashAnalysis) -> Result<Model, DbErr> {
    let dump = analysis.dump.as_ref();
    let facts = dump.and_then(|dump| dump.facts.as_ref().ok()).map(serde_json::to_string).transpose();
    let facts = facts.map_err(|error| DbErr::Json(error.to_string()))?;
    Ok(Model {
        report_id: report.id,
        group_id: group.map(CrashGroupId::as_uuid),
        received_at: report.received_at,
        algorithm: i32::try_from(analysis.algorithm).unwrap_or(i32::MAX),
        signature: analysis.signature.as_ref().ok().cloned(),
        failure: analysis.signature.as_ref().err().cloned(),
        dump_reader: dump.map(|dump| dump.reader.clone()),
        dump_facts: facts,
        dump_failure: dump.and_then(|dump| dump.facts.as_ref().err().cloned()),
        analyzed_at: analysis.analyzed.as_micros(),
    })
}

fn stored(row: Model) -> Result<AnalyzedReport, StoreError> {
    let id = CrashReportId::from(row.report_id);
    let owner = Owner { what: "crash analysis", id: &id };
    let facts = match (row.dump_facts, row.dump_failure) {
        (Some(facts), _) => Some(Ok(owner.need(serde_json::from_str(&facts).ok())?)),
        (None, failure) => failure.map(Err),
    };
    let dump = facts.map(|facts| DumpAnalysis { reader: row.dump_reader.unwrap_or_default(), facts });
    let signature = match (row.signature, row.failure) {
        (Some(signature), _) => Ok(signature),
        (None, failure) => Err(owner.need(failure)?),
    };
    let analysis = CrashAnalysis {
        report: id,
        algorithm: owner.need(u32::try_from(row.algorithm).ok())?,
        signature,
        dump,
        analyzed: Timestamp::from_micros(row.analyzed_at),
    };
    Ok(AnalyzedReport { analysis, group: row.group_id.map(CrashGroupId::from) })
}
