//! Following the log: what is stored from now on, or after a number, each entry once.
//!
//! Entries are numbered when they are inserted and seen when they are committed. On `SQLite`, which has one writer, that
//! is the same order. On `PostgreSQL` a lower number may be committed after a higher one. A number is therefore passed
//! ("settled") only after all transactions have ended that were writing entries when it was the highest; entries are
//! given up to there, in the order of their numbers. So one number says where a follower is, on every process (ADR 46).

use crate::connections::Connections;
use crate::entity::log_entry::Column;
use crate::log_entry::{Row, TextFilters, matching, newest};
use crate::page::{BUDGET, Pace};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::{InspectedLogEntry, LogFollower};
use domain::log_entry::{LogFilter, LogNumber};
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::{sleep, timeout};

/// Transactions that hold the lock of writers on the table. They take it before they number an entry, and give it up
/// after what they wrote can be seen.
const WRITERS: &str = "SELECT virtualtransaction FROM pg_locks
    WHERE locktype = 'relation' AND relation = 'log_entry'::regclass AND mode = 'RowExclusiveLock'
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";

/// Pause while the transactions of the beginning end.
const PAUSE: Duration = Duration::from_millis(20);

/// How long they may take, in timeouts of a lookup.
const TIMEOUT_FACTOR: u32 = 12;

/// A reader that follows the log.
pub(super) struct Follower {
    db: Arc<Connections>,
    organization: Option<OrganizationId>,
    filter: LogFilter,
    texts: TextFilters,
    /// All matching entries up to this number were given, or are older than the follower.
    position: i64,
    /// No entry with this or a lower number will appear.
    settled: i64,
    /// What is to end before more is settled.
    waiting: Option<Waiting>,
    pace: Pace,
}

/// A number, and the transactions that were writing when it was the highest that could be seen.
struct Waiting {
    highest: i64,
    writers: HashSet<String>,
}

impl Follower {
    /// Begins after a number; without one after all entries that are stored when this returns, except those added
    /// meanwhile.
    pub(super) async fn begin(
        db: Arc<Connections>,
        organization: Option<OrganizationId>,
        filter: LogFilter,
        after: Option<LogNumber>,
    ) -> Result<Self, StoreError> {
        let position = match after {
            // Numbers above the highest may have been removed; a new entry gets a higher number than these.
            Some(after) => after.0.min(newest(&db).await?.unwrap_or_default()),
            None => highest_settled(&db).await?,
        };
        let (texts, pace) = (TextFilters::of(&filter), Pace::new(BUDGET));
        Ok(Self { db, organization, filter, texts, position, settled: position, waiting: None, pace })
    }

    /// Settles the highest number that can be seen, or waits for those who are writing.
    async fn settle(&mut self) -> Result<(), StoreError> {
        // In this order: a transaction that numbered an entry up to `highest`, and can't be seen yet, is among the
        // writers.
        let seen = observe(&self.db).await?;
        let settled = if seen.writers.is_empty() {
            Some(seen.highest)
        } else {
            let ended = self.waiting.as_ref().filter(|waiting| waiting.writers.is_disjoint(&seen.writers));
            ended.map(|waiting| waiting.highest)
        };
        if let Some(settled) = settled {
            self.settled = self.settled.max(settled);
            self.waiting = None;
        }
        if self.waiting.is_none() && !seen.writers.is_empty() {
            self.waiting = Some(seen);
        }
        Ok(())
    }
}

#[async_trait]
impl LogFollower for Follower {
    async fn next(&mut self) -> Result<Vec<InspectedLogEntry>, StoreError> {
        if self.position >= self.settled {
            self.settle().await?;
        }
        while self.position < self.settled {
            let select = matching(self.organization, &self.filter, &self.texts)
                .apply_if(self.filter.to, |select, to| select.filter(Column::ReceivedAt.lte(to.as_micros())))
                .filter(Column::Id.gt(self.position))
                .filter(Column::Id.lte(self.settled))
                .order_by(Column::Id, Order::Asc)
                .limit(self.pace.limit);
            let page = self.pace.read::<Row>(&self.db, select.build(self.db.backend)).await?;
            let last = page.rows.last().map_or(self.settled, |row| row.id);
            let matching = page.rows.into_iter().filter(|row| self.texts.hold(row));
            let entries = matching.map(Row::inspected).collect::<Result<Vec<_>, _>>()?;
            self.position = if page.last { self.settled } else { last };
            if !entries.is_empty() {
                return Ok(entries);
            }
        }
        Ok(Vec::new())
    }

    fn position(&self) -> LogNumber {
        LogNumber(self.position)
    }
}

/// The highest number, once the transactions have ended that were writing when it was seen.
async fn highest_settled(db: &Connections) -> Result<i64, StoreError> {
    let Waiting { highest, writers } = observe(db).await?;
    let ended = async {
        while !writers.is_disjoint(&self::writers(db).await?) {
            sleep(PAUSE).await;
        }
        Ok::<_, StoreError>(())
    };
    timeout(db.timeout * TIMEOUT_FACTOR, ended).await.map_err(StoreError::unavailable)??;
    Ok(highest)
}

/// The highest number that can be seen, then who is writing.
async fn observe(db: &Connections) -> Result<Waiting, StoreError> {
    let highest = newest(db).await?.unwrap_or_default();
    Ok(Waiting { highest, writers: writers(db).await? })
}

async fn writers(db: &Connections) -> Result<HashSet<String>, StoreError> {
    if db.backend != DbBackend::Postgres {
        return Ok(HashSet::new());
    }
    let rows = db.read(db.reads.query_all_raw(db.statement(WRITERS, []))).await?;
    rows.iter().map(|row| row.try_get_by_index(0).map_err(StoreError::other)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{Opened, engines};
    use sea_orm::TransactionTrait;

    async fn postgres() -> Opened {
        engines().await.remove(1)
    }

    fn insert(description: &str) -> String {
        format!(
            "INSERT INTO log_entry (organization_id, received_at, log_type, description, user_name, user_folded, source,
                source_folded, version, version_folded, computer, computer_folded, serial_number, serial_folded,
                computer_guid, application_version)
            VALUES (7, 5, 'log', '{description}', '', '', '', '', '', '', '', '', '', '',
                '00112233-4455-6677-8899-aabbccddeeff', '')"
        )
    }

    async fn given(follower: &mut Follower) -> Vec<String> {
        let entries = follower.next().await.unwrap().into_iter();
        entries.map(|entry| entry.entry.description).collect()
    }

    async fn following(db: &Arc<Connections>, after: Option<i64>) -> Follower {
        Follower::begin(db.clone(), None, LogFilter::default(), after.map(LogNumber)).await.unwrap()
    }

    /// Numbers are given when entries are inserted; another process may commit its entry later.
    #[tokio::test]
    async fn an_entry_that_is_committed_after_a_higher_one_is_given_before_it() {
        let engine = postgres().await;
        engine.run(&insert("before")).await;
        let db = engine.database.inspection().db;
        let mut follower = following(&db, None).await;
        let late = db.writes.begin().await.unwrap();
        late.execute_unprepared(&insert("late")).await.unwrap();
        engine.run(&insert("early")).await;
        for _ in 0..3 {
            assert!(given(&mut follower).await.is_empty(), "a lower number may come");
        }
        let position = follower.position();
        late.commit().await.unwrap();
        assert_eq!(given(&mut follower).await, ["late", "early"]);
        assert!(given(&mut follower).await.is_empty());
        assert_eq!(follower.position().0, position.0 + 2);
    }

    /// Writers that never pause hold nothing back for longer than their transactions take.
    #[tokio::test]
    async fn entries_are_given_while_others_are_written_all_the_time() {
        let engine = postgres().await;
        let db = engine.database.inspection().db;
        let mut follower = following(&db, None).await;
        let mut open = db.writes.begin().await.unwrap();
        open.execute_unprepared(&insert("0")).await.unwrap();
        let mut all = Vec::new();
        for number in 1..10 {
            let next = db.writes.begin().await.unwrap();
            next.execute_unprepared(&insert(&number.to_string())).await.unwrap();
            all.extend(given(&mut follower).await);
            std::mem::replace(&mut open, next).commit().await.unwrap();
        }
        assert_eq!(all, ["0", "1", "2", "3", "4", "5"], "some transaction was open all the time");
        open.commit().await.unwrap();
        all.extend(given(&mut follower).await);
        assert_eq!(all.len(), 10);
    }

    /// A reader comes back to another process while entries are written in any order.
    #[tokio::test]
    async fn a_follower_goes_on_where_another_one_was() {
        let engine = postgres().await;
        let db = engine.database.inspection().db;
        let mut first = following(&db, None).await;
        let late = db.writes.begin().await.unwrap();
        late.execute_unprepared(&insert("late")).await.unwrap();
        engine.run(&insert("early")).await;
        assert!(given(&mut first).await.is_empty());
        let mut second = following(&db, Some(first.position().0)).await;
        assert!(given(&mut second).await.is_empty(), "the lower number may come");
        late.commit().await.unwrap();
        assert_eq!(given(&mut second).await, ["late", "early"]);
        let mut third = following(&db, Some(second.position().0)).await;
        engine.run(&insert("after")).await;
        assert_eq!(given(&mut third).await, ["after"]);
    }

    /// Otherwise it would be unknown whether one of its entries belongs to the followed log.
    #[tokio::test]
    async fn a_follower_begins_when_those_who_are_writing_have_ended() {
        let engine = postgres().await;
        let db = engine.database.inspection().db;
        let late = db.writes.begin().await.unwrap();
        late.execute_unprepared(&insert("meanwhile")).await.unwrap();
        let begin = tokio::spawn(Follower::begin(db.clone(), None, LogFilter::default(), None));
        for _ in 0..20 {
            sleep(PAUSE).await;
            assert!(!begin.is_finished());
        }
        late.commit().await.unwrap();
        let mut follower = begin.await.unwrap().unwrap();
        engine.run(&insert("after")).await;
        let mut all = given(&mut follower).await;
        all.extend(given(&mut follower).await);
        assert_eq!(all, ["meanwhile", "after"]);
    }
}
