//! The statements that find and remove the old records of one organization.
//!
//! Their texts are always the same, so that they don't push those of intake out of the statements that a
//! connection has prepared.

use crate::ledger::discard;
use domain::caller::OrganizationId;
use domain::retention::{RemovalCursor, RetainedRecords};
use domain::timestamp::Timestamp;
use sea_orm::{ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, QueryResult, Statement, Value};
use uuid::Uuid;

/// Blob keys of one statement.
const KEYS: usize = 500;

/// The first organization from a place on, and its oldest record.
const OLDEST: &str = "SELECT organization_id, received_at FROM {table}
    WHERE (organization_id, received_at) >= ($1, $2) ORDER BY organization_id, received_at LIMIT 1";

/// Old records and what each of them weighs.
const OLD: &str = "SELECT id, received_at, {weight} AS weight FROM {table}
    WHERE organization_id = $1 AND received_at >= $2 AND received_at < $3 ORDER BY received_at, id LIMIT $4";

/// All up to a certain one.
const UP_TO: &str = "organization_id = $1 AND received_at >= $2 AND (received_at, id) <= ($3, $4)";

const REMOVE_ENTRIES: &str = "DELETE FROM log_entry WHERE {up to}";

const REMOVE_REPORTS: &str = "DELETE FROM crash_report WHERE {up to}";

const REMOVE_PARTS: &str = "DELETE FROM crash_part
    WHERE report_id IN (SELECT id FROM crash_report WHERE {up to}) RETURNING blob_key";

/// What is removed, in either engine's words.
pub(super) struct Rows {
    pub(super) kind: RetainedRecords,
    pub(super) backend: DbBackend,
    pub(super) before: Timestamp,
    pub(super) now: Timestamp,
}

/// Where to remove, and how much at most.
pub(super) struct Span {
    pub(super) from: RemovalCursor,
    pub(super) records: u64,
    pub(super) weight: u64,
}

/// What was removed of one organization; `rest` is where more may be.
#[derive(Default)]
pub(super) struct Taken {
    pub(super) records: u64,
    pub(super) weight: u64,
    pub(super) rest: Option<RemovalCursor>,
}

/// The last of the records that go.
struct Last {
    received: i64,
    id: Value,
}

impl Rows {
    /// What the records of one batch weigh at most, but for a single one that weighs more: bytes of log entries,
    /// parts of crash reports.
    pub(super) fn heaviest(&self) -> u64 {
        match self.kind {
            RetainedRecords::Logs => 4 * 1024 * 1024,
            RetainedRecords::CrashReports => 1000,
        }
    }

    /// The oldest record of the first organization from `from` on.
    pub(super) async fn oldest(
        &self,
        transaction: &DatabaseTransaction,
        from: Option<RemovalCursor>,
    ) -> Result<Option<RemovalCursor>, DbErr> {
        let Some(row) = transaction.query_one_raw(self.find_oldest(from)).await? else {
            return Ok(None);
        };
        let (organization, received) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        Ok(Some(RemovalCursor {
            organization: OrganizationId(organization),
            received: Timestamp::from_micros(received),
        }))
    }

    /// Removes what is old of one organization.
    pub(super) async fn remove(&self, transaction: &DatabaseTransaction, span: &Span) -> Result<Taken, DbErr> {
        if span.from.received >= self.before {
            return Ok(Taken::default());
        }
        let rows = transaction.query_all_raw(self.find_old(span)).await?;
        let (mut taken, last) = self.cut(&rows, span)?;
        let Some(last) = last else {
            return Ok(taken);
        };
        taken.records = match self.kind {
            RetainedRecords::Logs => self.remove_entries(transaction, span, &last).await?,
            RetainedRecords::CrashReports => self.remove_reports(transaction, span, &last).await?,
        };
        Ok(taken)
    }

    async fn remove_entries(&self, transaction: &DatabaseTransaction, span: &Span, last: &Last) -> Result<u64, DbErr> {
        let removed = transaction.execute_raw(self.up_to(REMOVE_ENTRIES, span, last)).await?;
        Ok(removed.rows_affected())
    }

    async fn remove_reports(&self, transaction: &DatabaseTransaction, span: &Span, last: &Last) -> Result<u64, DbErr> {
        // Parts first, since they refer to their reports.
        let parts = transaction.query_all_raw(self.up_to(REMOVE_PARTS, span, last)).await?;
        let keys = parts.iter().map(|row| row.try_get_by_index(0)).collect::<Result<Vec<String>, _>>()?;
        for keys in keys.chunks(KEYS) {
            discard(transaction, keys.to_vec(), self.now).await?;
        }
        let removed = transaction.execute_raw(self.up_to(REMOVE_REPORTS, span, last)).await?;
        Ok(removed.rows_affected())
    }

    /// How many of the old records go with one batch, and the last of them.
    fn cut(&self, rows: &[QueryResult], span: &Span) -> Result<(Taken, Option<Last>), DbErr> {
        let mut taken = Taken::default();
        let mut last: Option<Last> = None;
        for row in rows {
            let (received, weight): (i64, i64) = (row.try_get_by_index(1)?, row.try_get_by_index(2)?);
            let weight = taken.weight + weight.unsigned_abs();
            if weight > span.weight && last.is_some() {
                break;
            }
            taken.weight = weight;
            taken.records += 1;
            let id = match self.kind {
                RetainedRecords::Logs => row.try_get_by_index::<i64>(0)?.into(),
                RetainedRecords::CrashReports => row.try_get_by_index::<Uuid>(0)?.into(),
            };
            last = Some(Last { received, id });
        }
        let is_all = taken.records == rows.len() as u64 && taken.records < span.records;
        let rest = last.as_ref().filter(|_| !is_all);
        taken.rest = rest.map(|last| RemovalCursor { received: Timestamp::from_micros(last.received), ..span.from });
        Ok((taken, last))
    }

    fn find_oldest(&self, from: Option<RemovalCursor>) -> Statement {
        let (organization, received) =
            from.map_or((i64::MIN, i64::MIN), |from| (from.organization.0, from.received.as_micros()));
        self.statement(OLDEST, [organization.into(), received.into()])
    }

    fn find_old(&self, span: &Span) -> Statement {
        let RemovalCursor { organization, received } = span.from;
        let limit = i64::try_from(span.records).unwrap_or(i64::MAX);
        let values: [Value; 4] =
            [organization.0.into(), received.as_micros().into(), self.before.as_micros().into(), limit.into()];
        self.statement(OLD, values)
    }

    fn up_to(&self, sql: &str, span: &Span, last: &Last) -> Statement {
        let RemovalCursor { organization, received } = span.from;
        let values: [Value; 4] =
            [organization.0.into(), received.as_micros().into(), last.received.into(), last.id.clone()];
        self.statement(sql, values)
    }

    fn statement(&self, sql: &str, values: impl IntoIterator<Item = Value>) -> Statement {
        let (table, weight) = match self.kind {
            RetainedRecords::Logs => ("log_entry", "CAST(octet_length(description) AS bigint)"),
            RetainedRecords::CrashReports => {
                ("crash_report", "(SELECT count(*) FROM crash_part WHERE crash_part.report_id = crash_report.id)")
            }
        };
        let sql = sql.replace("{table}", table).replace("{weight}", weight).replace("{up to}", UP_TO);
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

    const PARTS: &str = "INSERT INTO crash_part (report_id, position, place, blob_key, content_size, checksum)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3)
        SELECT id, n, 'Dump', 'crash-reports/' || n, 1, '' FROM crash_report, numbers";

    #[tokio::test]
    async fn old_records_are_found_by_the_indexes_of_their_lists() {
        for engine in engines().await {
            engine.fill().await;
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "md5(n::text)::uuid" };
            engine.run(&REPORTS.replace("{guid}", guid)).await;
            engine.run(PARTS).await;
            engine.run("ANALYZE").await;
            let from = RemovalCursor { organization: OrganizationId(2), received: Timestamp::from_micros(1_000_100) };
            let rows = |kind| Rows {
                kind,
                backend: engine.db().backend,
                before: Timestamp::from_micros(1_002_000),
                now: Timestamp::from_micros(0),
            };
            let span = Span { from, records: 100, weight: 100 };
            let (logs, reports) = (rows(RetainedRecords::Logs), rows(RetainedRecords::CrashReports));
            engine.assert_uses("log_entry_by_time", logs.find_oldest(Some(from))).await;
            engine.assert_uses("crash_report_by_time", reports.find_oldest(Some(from))).await;
            engine.assert_uses("log_entry_by_time", logs.find_old(&span)).await;
            engine.assert_uses("crash_report_by_time", reports.find_old(&span)).await;
            let entry = Last { received: 1_001_000, id: 1000_i64.into() };
            let report = Last { received: 1_000_130, id: Uuid::nil().into() };
            engine.assert_uses("log_entry_by_time", logs.up_to(REMOVE_ENTRIES, &span, &entry)).await;
            engine.assert_uses("crash_report_by_time", reports.up_to(REMOVE_REPORTS, &span, &report)).await;
            engine.assert_uses("crash_report_by_time", reports.up_to(REMOVE_PARTS, &span, &report)).await;
        }
    }
}
