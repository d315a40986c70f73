//! Following the log: what is stored from now on, each entry once.
//!
//! Entries are numbered when they are inserted and seen when they are committed. On `SQLite`, which has one writer, that
//! is the same order. On `PostgreSQL` a lower number may be committed after a higher one, so that whoever only asks for
//! numbers above the last one loses entries. A number is therefore passed for good ("settled") only after all
//! transactions have ended that were writing entries when it was seen; until then what is above is read again, and what
//! was given is remembered. ADR 46.

use crate::connections::Connections;
use crate::entity::log_entry::Column;
use crate::log_entry::{Row, TextFilter, matching, newest};
use crate::page::{BUDGET, Pace};
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::inspection::{InspectedLogEntry, LogFollower};
use domain::log_entry::LogFilter;
use sea_orm::{ColumnTrait, ConnectionTrait, DbBackend, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait};
use std::collections::{BTreeSet, HashSet};
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

/// Who follows the log.
pub(super) struct Follower {
    db: Arc<Connections>,
    organization: Option<OrganizationId>,
    filter: LogFilter,
    texts: Vec<TextFilter>,
    /// All entries up to this number were given or are older than the follower, and no other will come.
    settled: i64,
    /// Entries above that were given.
    given: BTreeSet<i64>,
    /// What is to end before more is settled.
    waiting: Option<Waiting>,
    round: Option<Round>,
}

/// A number, and who was writing when it was the highest that could be seen.
struct Waiting {
    highest: i64,
    writers: HashSet<String>,
}

/// One reading of everything above what is settled, in pages.
struct Round {
    after: i64,
    /// What is settled once all of it was read.
    settles: Option<i64>,
    next: Option<Waiting>,
    pace: Pace,
}

impl Follower {
    /// Begins after all entries that are stored when this returns, except those added meanwhile.
    pub(super) async fn begin(
        db: Arc<Connections>,
        organization: Option<OrganizationId>,
        filter: LogFilter,
    ) -> Result<Self, StoreError> {
        let Waiting { highest, writers } = observe(&db).await?;
        let ended = async {
            while !writers.is_disjoint(&self::writers(&db).await?) {
                sleep(PAUSE).await;
            }
            Ok::<_, StoreError>(())
        };
        timeout(db.timeout * TIMEOUT_FACTOR, ended).await.map_err(StoreError::unavailable)??;
        let texts = TextFilter::all_of(&filter);
        Ok(Self {
            db,
            organization,
            filter,
            texts,
            settled: highest,
            given: BTreeSet::new(),
            waiting: None,
            round: None,
        })
    }

    async fn begin_round(&self) -> Result<Round, StoreError> {
        // In this order: whoever numbered an entry up to `highest` and can't be seen yet is among the writers, or
        // will be seen by what is read after.
        let seen = observe(&self.db).await?;
        let settles = if seen.writers.is_empty() {
            Some(seen.highest)
        } else {
            let ended = self.waiting.as_ref().filter(|waiting| waiting.writers.is_disjoint(&seen.writers));
            ended.map(|waiting| waiting.highest)
        };
        let next = (!seen.writers.is_empty()).then_some(seen);
        Ok(Round { after: self.settled, settles, next, pace: Pace::new(BUDGET) })
    }

    fn end_round(&mut self, round: Round) {
        if let Some(settled) = round.settles {
            self.settled = self.settled.max(settled);
            self.given = self.given.split_off(&(self.settled + 1));
            self.waiting = None;
        }
        self.waiting = self.waiting.take().or(round.next);
    }
}

#[async_trait]
impl LogFollower for Follower {
    async fn next(&mut self) -> Result<Vec<InspectedLogEntry>, StoreError> {
        loop {
            let mut round = match self.round.take() {
                Some(round) => round,
                None => self.begin_round().await?,
            };
            let select = matching(self.organization, &self.filter, &self.texts)
                .apply_if(self.filter.to, |select, to| select.filter(Column::ReceivedAt.lte(to.as_micros())))
                .filter(Column::Id.gt(round.after))
                .order_by(Column::Id, Order::Asc)
                .limit(round.pace.limit);
            let page = round.pace.read::<Row>(&self.db, select.build(self.db.backend)).await?;
            let mut entries = Vec::new();
            for row in page.rows {
                round.after = row.id;
                if self.texts.iter().all(|text| text.holds(&row)) && self.given.insert(row.id) {
                    entries.push(row.inspected()?);
                }
            }
            if page.last {
                self.end_round(round);
            } else {
                self.round = Some(round);
            }
            if !entries.is_empty() || self.round.is_none() {
                return Ok(entries);
            }
        }
    }
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

    /// Numbers are given when entries are inserted; another process may commit its entry later.
    #[tokio::test]
    async fn an_entry_that_is_committed_after_a_higher_one_is_given() {
        let engine = postgres().await;
        engine.run(&insert("before")).await;
        let db = engine.database.inspection().db;
        let mut follower = Follower::begin(db.clone(), None, LogFilter::default()).await.unwrap();
        let late = db.writes.begin().await.unwrap();
        late.execute_unprepared(&insert("late")).await.unwrap();
        engine.run(&insert("early")).await;
        assert_eq!(given(&mut follower).await, ["early"]);
        for _ in 0..3 {
            assert!(given(&mut follower).await.is_empty());
        }
        let settled = follower.settled;
        late.commit().await.unwrap();
        assert_eq!(given(&mut follower).await, ["late"]);
        assert!(given(&mut follower).await.is_empty());
        assert!(follower.settled >= settled + 2 && follower.given.is_empty(), "nothing is remembered for ever");
    }

    /// Otherwise it would be unknown whether one of its entries belongs to the followed log.
    #[tokio::test]
    async fn a_follower_begins_when_those_who_are_writing_have_ended() {
        let engine = postgres().await;
        let db = engine.database.inspection().db;
        let late = db.writes.begin().await.unwrap();
        late.execute_unprepared(&insert("meanwhile")).await.unwrap();
        let begin = tokio::spawn(Follower::begin(db.clone(), None, LogFilter::default()));
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
