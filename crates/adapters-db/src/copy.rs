//! Copies all records of one database into another, between any two engines.
//!
//! A copy reads each table in the order of its primary key, page by page, twice: first it compares what the target holds
//! with the source, then it inserts what the target lacks. An interrupted copy continues where it stopped, and a second
//! one changes nothing (ADR 33).

#[cfg(test)]
mod tests;

use crate::connections::Connections;
use crate::entity::{
    audit_record, computer, computer_fetch, computer_seen, crash_analysis, crash_group, crash_group_tally, crash_part,
    crash_pending, crash_report, device, device_forecast, device_history, device_status, former_name, hardware_hash,
    job, log_entry, mis_key, operator_account, operator_token, organization, queue, resource, resource_use,
    user_account, user_fetch, user_seen,
};
use crate::error::store_error;
use crate::{Database, page};
use domain::error::StoreError;
use futures_util::TryStreamExt;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbBackend, DbErr, EntityName, EntityTrait, IntoActiveModel, Iterable,
    JoinType, ModelTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder, QuerySelect, RelationTrait, Statement, Value,
};
use std::collections::HashMap;

/// Rows of one page at most; a page of long ones ends sooner.
const ROWS: u64 = 200;

/// Tables whose next id the engine counts.
const COUNTED: [&str; 6] =
    ["organization", "user_account", "log_entry", "operator_account", "operator_token", "audit_record"];

/// Why records can't be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A record has the key of one of ours and says something else.
    #[error("the target holds another record as {record}; copy into an empty database")]
    Different { record: String },
    /// The target has a record that the source lacks.
    #[error("the target holds {record}, which the source doesn't; copy into an empty database")]
    Foreign { record: String },
    /// The database that is copied failed.
    #[error("the source")]
    Source(#[source] StoreError),
    /// The database that is copied into failed.
    #[error("the target")]
    Target(#[source] StoreError),
}

fn source(error: DbErr) -> CopyError {
    CopyError::Source(store_error(error))
}

fn target(error: DbErr) -> CopyError {
    CopyError::Target(store_error(error))
}

/// The work on each table.
#[derive(Clone, Copy)]
enum Pass {
    /// Each record of the target must be equal to one of the source.
    Compare,
    /// Records that the target lacks are inserted.
    Insert,
}

/// Counts of the records that a copy has handled.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedRecords {
    pub copied: u64,
    /// Records that the target had before.
    pub kept: u64,
}

/// One of the two databases.
struct Side<'a> {
    db: &'a Connections,
    failed: fn(DbErr) -> CopyError,
}

/// A copy from one database into another. Neither may change during the copy.
pub struct RecordCopy<'a> {
    from: Side<'a>,
    to: Side<'a>,
    /// Called after each page with the table and its progress so far.
    report: &'a (dyn Fn(&str, CopiedRecords) + Sync),
}

impl<'a> RecordCopy<'a> {
    /// Both databases have the current schema.
    pub fn new(from: &'a Database, to: &'a Database, report: &'a (dyn Fn(&str, CopiedRecords) + Sync)) -> Self {
        let from = Side { db: from.db(), failed: source };
        let to = Side { db: to.db(), failed: target };
        Self { from, to, report }
    }

    /// Makes sure that the target holds nothing but what an earlier copy has brought: nothing is inserted
    /// next to records of another origin.
    ///
    /// # Errors
    /// [`CopyError`]
    pub async fn compare(&self) -> Result<(), CopyError> {
        self.all_tables(Pass::Compare).await.map(drop)
    }

    /// Copies what the target lacks, after its content is there. Discarded content, refusals and the sessions of
    /// operators are not copied.
    ///
    /// # Errors
    /// [`CopyError`]; what was copied before stays.
    pub async fn insert(&self) -> Result<CopiedRecords, CopyError> {
        let all = self.all_tables(Pass::Insert).await?;
        self.count_on().await?;
        Ok(all)
    }

    async fn all_tables(&self, pass: Pass) -> Result<CopiedRecords, CopyError> {
        let mut all = CopiedRecords::default();
        all += self.table::<organization::Entity>(pass).await?;
        all += self.table::<user_account::Entity>(pass).await?;
        all += self.table::<mis_key::Entity>(pass).await?;
        all += self.table::<computer::Entity>(pass).await?;
        all += self.table::<hardware_hash::Entity>(pass).await?;
        all += self.table::<device::Entity>(pass).await?;
        all += self.table::<former_name::Entity>(pass).await?;
        all += self.table::<queue::Entity>(pass).await?;
        all += self.table::<job::Entity>(pass).await?;
        all += self.table::<resource_use::Entity>(pass).await?;
        all += self.table::<resource::Entity>(pass).await?;
        all += self.table::<log_entry::Entity>(pass).await?;
        all += self.table::<crash_report::Entity>(pass).await?;
        all += self.table::<crash_part::Entity>(pass).await?;
        all += self.table::<crash_pending::Entity>(pass).await?;
        all += self.table::<crash_group::Entity>(pass).await?;
        all += self.table::<crash_group_tally::Entity>(pass).await?;
        all += self.table::<crash_analysis::Entity>(pass).await?;
        all += self.table::<device_status::Entity>(pass).await?;
        all += self.table::<device_history::Entity>(pass).await?;
        all += self.table::<device_forecast::Entity>(pass).await?;
        all += self.table::<computer_seen::Entity>(pass).await?;
        all += self.table::<user_seen::Entity>(pass).await?;
        all += self.table::<computer_fetch::Entity>(pass).await?;
        all += self.table::<user_fetch::Entity>(pass).await?;
        all += self.table::<operator_account::Entity>(pass).await?;
        all += self.table::<operator_token::Entity>(pass).await?;
        all += self.table::<audit_record::Entity>(pass).await?;
        Ok(all)
    }

    async fn table<E>(&self, pass: Pass) -> Result<CopiedRecords, CopyError>
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + PartialEq,
    {
        let table = E::default();
        let table = table.table_name();
        let mut done = CopiedRecords::default();
        let mut last = None;
        loop {
            let walked = match pass {
                Pass::Compare => &self.to,
                Pass::Insert => &self.from,
            };
            let rows = walked.page::<E>(last.take()).await?;
            let Some(row) = rows.last() else {
                return Ok(done);
            };
            last = Some(key(row));
            match pass {
                Pass::Compare => self.compare_page::<E>(table, rows).await?,
                Pass::Insert => done += self.insert_page::<E>(rows).await?,
            }
            (self.report)(table, done);
        }
    }

    /// Fails if a row of the target isn't equal to one of the source.
    async fn compare_page<E>(&self, table: &str, rows: Vec<E::Model>) -> Result<(), CopyError>
    where
        E: EntityTrait,
        E::Model: PartialEq,
    {
        let origin = self.from.counterparts::<E>(&rows).await?;
        for row in rows {
            let same = origin.get(&key_text(&row));
            if same == Some(&row) {
                continue;
            }
            let record = format!("{table} {}", self.to.shown(&row).await?);
            let is_ours = same.is_some();
            return Err(if is_ours { CopyError::Different { record } } else { CopyError::Foreign { record } });
        }
        Ok(())
    }

    /// Inserts those of `rows` that the target lacks.
    async fn insert_page<E>(&self, rows: Vec<E::Model>) -> Result<CopiedRecords, CopyError>
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel>,
    {
        let there = self.to.counterparts::<E>(&rows).await?;
        let all = rows.len() as u64;
        let missing = rows.into_iter().filter(|row| !there.contains_key(&key_text(row)));
        let missing: Vec<E::ActiveModel> = missing.map(IntoActiveModel::into_active_model).collect();
        let copied = missing.len() as u64;
        if copied > 0 {
            E::insert_many(missing).exec_without_returning(&self.to.db.writes).await.map_err(target)?;
        }
        Ok(CopiedRecords { copied, kept: all - copied })
    }

    /// Lets PostgreSQL count ids on from the highest that was copied, as `SQLite` does by itself. The builder knows no
    /// sequences.
    async fn count_on(&self) -> Result<(), CopyError> {
        let Connections { backend, writes, .. } = self.to.db;
        if *backend != DbBackend::Postgres {
            return Ok(());
        }
        for table in COUNTED {
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table} HAVING max(id) IS NOT NULL"
            );
            writes.query_one_raw(Statement::from_string(*backend, sql)).await.map_err(target)?;
        }
        Ok(())
    }
}

impl Side<'_> {
    /// Rows after the one with the key `last`.
    async fn page<E: EntityTrait>(&self, last: Option<Vec<Value>>) -> Result<Vec<E::Model>, CopyError> {
        let mut select = E::find().limit(ROWS);
        for column in key_columns::<E>() {
            select = select.order_by_asc(column);
        }
        if let Some(last) = last {
            let columns = Expr::tuple(key_columns::<E>().map(ColumnTrait::into_expr));
            select = select.filter(columns.gt(Expr::tuple(last.into_iter().map(Expr::val))));
        }
        let mut stream = select.stream(&self.db.reads).await.map_err(self.failed)?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some(row) = stream.try_next().await.map_err(self.failed)? {
            bytes += bytes_of(&row);
            rows.push(row);
            if bytes >= page::BUDGET {
                break;
            }
        }
        Ok(rows)
    }

    /// The rows of this database with the keys of `rows`, by key.
    async fn counterparts<E: EntityTrait>(&self, rows: &[E::Model]) -> Result<HashMap<String, E::Model>, CopyError> {
        let mut keys = Condition::any();
        for row in rows {
            let values = key_columns::<E>().zip(key(row));
            keys = keys.add(values.fold(Condition::all(), |all, (column, value)| all.add(column.eq(value))));
        }
        let there = E::find().filter(keys).all(&self.db.reads).await.map_err(self.failed)?;
        Ok(there.into_iter().map(|row| (key_text(&row), row)).collect())
    }

    /// The key of a row for messages. For a credential, whose key is a digest, it is the name of the holder.
    async fn shown<M: ModelTrait>(&self, row: &M) -> Result<String, CopyError> {
        match &key(row)[..] {
            [Value::Bytes(Some(digest))] => self.holder(<M::Entity>::default().table_name(), digest.clone()).await,
            key => Ok(key.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")),
        }
    }

    /// Names the holder of the credential with this digest.
    async fn holder(&self, table: &str, digest: Vec<u8>) -> Result<String, CopyError> {
        let db = &self.db.reads;
        let holder = if table == mis_key::Entity.table_name() {
            let user = mis_key::Entity::find_by_id(digest)
                .join(JoinType::InnerJoin, mis_key::Relation::User.def())
                .join(JoinType::InnerJoin, user_account::Relation::Organization.def())
                .select_only()
                .columns([user_account::Column::Name])
                .columns([organization::Column::Name]);
            user.into_tuple().one(db).await.map_err(self.failed)?.map(|names: (String, String)| ("user", names))
        } else {
            let computer = hardware_hash::Entity::find_by_id(digest)
                .join(JoinType::InnerJoin, hardware_hash::Relation::Computer.def())
                .join(JoinType::InnerJoin, computer::Relation::Organization.def())
                .select_only()
                .columns([computer::Column::Name])
                .columns([organization::Column::Name]);
            computer.into_tuple().one(db).await.map_err(self.failed)?.map(|names: (String, String)| ("computer", names))
        };
        let named = holder.map(|(kind, (name, organization))| format!("of {kind} \"{name}\" of \"{organization}\""));
        Ok(named.unwrap_or_else(|| "of an unknown holder".to_owned()))
    }
}

impl std::ops::AddAssign for CopiedRecords {
    fn add_assign(&mut self, more: Self) {
        self.copied += more.copied;
        self.kept += more.kept;
    }
}

fn key_columns<E: EntityTrait>() -> impl Iterator<Item = E::Column> {
    E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column)
}

fn key<M: ModelTrait>(row: &M) -> Vec<Value> {
    key_columns::<M::Entity>().map(|column| row.get(column)).collect()
}

/// The key for look-ups.
fn key_text<M: ModelTrait>(row: &M) -> String {
    key(row).iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Bytes of a row's texts.
fn bytes_of<M: ModelTrait>(row: &M) -> usize {
    let bytes = |value| match value {
        Value::String(Some(text)) => text.len(),
        Value::Bytes(Some(bytes)) => bytes.len(),
        _ => 0,
    };
    <<M::Entity as EntityTrait>::Column as Iterable>::iter().map(|column| bytes(row.get(column))).sum()
}
