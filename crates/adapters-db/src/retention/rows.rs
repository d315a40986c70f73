//! The statements that find and remove the old records of one organization.

use crate::entity::{crash_part, crash_report};
use crate::ledger::discard;
use domain::caller::OrganizationId;
use domain::retention::{Kind, Place};
use domain::timestamp::Timestamp;
use sea_orm::sea_query::Query;
use sea_orm::{
    ColumnTrait, ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, EntityTrait, QueryFilter, Statement, Value,
};
use uuid::Uuid;

/// Blob keys of one statement.
const KEYS: usize = 500;

/// The first organization from a place on, and its oldest record.
const OLDEST: &str = "SELECT organization_id, received_at FROM {table}
    WHERE (organization_id, received_at) >= ($1, $2) ORDER BY organization_id, received_at LIMIT 1";

const REMOVE_LOGS: &str = "DELETE FROM log_entry WHERE id IN (
        SELECT id FROM log_entry WHERE organization_id = $1 AND received_at >= $2 AND received_at < $3
        ORDER BY received_at, id LIMIT $4)
    RETURNING received_at";

const OLD_REPORTS: &str = "SELECT id, received_at,
        (SELECT count(*) FROM crash_part WHERE crash_part.report_id = crash_report.id) AS parts
    FROM crash_report WHERE organization_id = $1 AND received_at >= $2 AND received_at < $3
    ORDER BY received_at, id LIMIT $4";

/// What is removed, in either engine's words.
pub(super) struct Rows {
    pub(super) kind: Kind,
    pub(super) backend: DbBackend,
    pub(super) before: Timestamp,
    pub(super) now: Timestamp,
}

/// Where to remove, and how much at most.
pub(super) struct Span {
    pub(super) from: Place,
    pub(super) records: u64,
    pub(super) parts: u64,
}

/// What was removed of one organization; `rest` is where more may be.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) records: u64,
    pub(super) parts: u64,
    pub(super) rest: Option<Place>,
}

impl Rows {
    /// The oldest record of the first organization from `from` on.
    pub(super) async fn oldest(
        &self,
        transaction: &DatabaseTransaction,
        from: Option<Place>,
    ) -> Result<Option<Place>, DbErr> {
        let Some(row) = transaction.query_one_raw(self.find_oldest(from)).await? else {
            return Ok(None);
        };
        let (organization, received) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        Ok(Some(Place { organization: OrganizationId(organization), received: Timestamp::from_micros(received) }))
    }

    /// Removes what is old of one organization.
    pub(super) async fn remove(&self, transaction: &DatabaseTransaction, span: &Span) -> Result<Taken, DbErr> {
        if span.from.received >= self.before {
            return Ok(Taken::default());
        }
        match self.kind {
            Kind::Logs => self.remove_logs(transaction, span).await,
            Kind::CrashReports => self.remove_reports(transaction, span).await,
        }
    }

    async fn remove_logs(&self, transaction: &DatabaseTransaction, span: &Span) -> Result<Taken, DbErr> {
        let rows = transaction.query_all_raw(self.of_span(REMOVE_LOGS, span)).await?;
        let mut newest = span.from.received;
        for row in &rows {
            newest = newest.max(Timestamp::from_micros(row.try_get_by_index(0)?));
        }
        let records = rows.len() as u64;
        let rest = (records >= span.records).then_some(Place { received: newest, ..span.from });
        Ok(Taken { records, parts: 0, rest })
    }

    /// Parts first, since they refer to their reports.
    async fn remove_reports(&self, transaction: &DatabaseTransaction, span: &Span) -> Result<Taken, DbErr> {
        let rows = transaction.query_all_raw(self.of_span(OLD_REPORTS, span)).await?;
        let mut taken = Taken::default();
        let mut reports: Vec<Uuid> = Vec::new();
        for row in &rows {
            let (received, parts): (i64, i64) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
            let parts = taken.parts + parts.unsigned_abs();
            taken.rest = Some(Place { received: Timestamp::from_micros(received), ..span.from });
            if parts > span.parts && !reports.is_empty() {
                break;
            }
            taken.parts = parts;
            reports.push(row.try_get_by_index(0)?);
        }
        taken.records = reports.len() as u64;
        if taken.records == rows.len() as u64 && taken.records < span.records {
            taken.rest = None;
        }
        let parts = Query::delete()
            .from_table(crash_part::Entity)
            .and_where(crash_part::Column::ReportId.is_in(reports.iter().copied()))
            .returning_col(crash_part::Column::BlobKey)
            .to_owned();
        let keys = transaction.query_all(&parts).await?;
        let keys = keys.iter().map(|row| row.try_get_by_index(0)).collect::<Result<Vec<String>, _>>()?;
        for keys in keys.chunks(KEYS) {
            discard(transaction, keys.to_vec(), self.now).await?;
        }
        let removed = crash_report::Entity::delete_many().filter(crash_report::Column::Id.is_in(reports));
        removed.exec(transaction).await?;
        Ok(taken)
    }

    fn find_oldest(&self, from: Option<Place>) -> Statement {
        let table = match self.kind {
            Kind::Logs => "log_entry",
            Kind::CrashReports => "crash_report",
        };
        let (organization, received) =
            from.map_or((i64::MIN, i64::MIN), |from| (from.organization.0, from.received.as_micros()));
        let sql = OLDEST.replace("{table}", table);
        Statement::from_sql_and_values(self.backend, sql, [organization.into(), received.into()])
    }

    fn of_span(&self, sql: &str, span: &Span) -> Statement {
        let Place { organization, received } = span.from;
        let limit = i64::try_from(span.records).unwrap_or(i64::MAX);
        let values: [Value; 4] =
            [organization.0.into(), received.as_micros().into(), self.before.as_micros().into(), limit.into()];
        Statement::from_sql_and_values(self.backend, sql, values)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const REPORTS: &str = "INSERT INTO crash_report (id, organization_id, received_at, serial_number,
            application_version)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT {guid}, 1 + n % 3, 1000000 + n, 'SN', '1' FROM numbers";

    #[tokio::test]
    async fn old_records_are_found_by_the_indexes_of_their_lists() {
        for engine in engines().await {
            engine.fill().await;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "md5(n::text)::uuid" };
            engine.run(&REPORTS.replace("{guid}", guid)).await;
            engine.run("ANALYZE").await;
            let from = Place { organization: OrganizationId(2), received: Timestamp::from_micros(1_000_100) };
            let rows = |kind| Rows {
                kind,
                backend: engine.core().backend,
                before: Timestamp::from_micros(1_002_000),
                now: Timestamp::from_micros(0),
            };
            let span = Span { from, records: 100, parts: 100 };
            let (logs, reports) = (rows(Kind::Logs), rows(Kind::CrashReports));
            engine.assert_uses("log_entry_by_time", logs.find_oldest(Some(from))).await;
            engine.assert_uses("crash_report_by_time", reports.find_oldest(Some(from))).await;
            engine.assert_uses("log_entry_by_time", logs.of_span(REMOVE_LOGS, &span)).await;
            engine.assert_uses("crash_report_by_time", reports.of_span(OLD_REPORTS, &span)).await;
        }
    }
}
