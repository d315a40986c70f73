//! Brings all records of one database into another, whatever their engines.
//!
//! Each table is walked in the order of its primary key, page by page. What the other database has
//! under the same key must be the same; what it lacks is inserted. So an interrupted copy goes on where
//! it stopped, a second one changes nothing, and a finished one has compared every record.

#[cfg(test)]
mod tests;

use crate::core::Core;
use crate::entity::{
    computer, crash_part, crash_report, device, device_status, hardware_hash, job, log_entry, mis_key, organization,
    queue, resource, resource_use, user_account,
};
use crate::error::store_error;
use crate::{Database, page};
use domain::error::StoreError;
use futures_util::TryStreamExt;
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, Condition, ConnectionTrait, DbBackend, DbErr, EntityTrait, IntoActiveModel, Iterable, ModelTrait,
    PaginatorTrait, PrimaryKeyToColumn, QueryFilter, QueryOrder, QuerySelect, Statement, Value,
};
use std::collections::HashMap;

/// Rows of one page at most; a page of long ones ends sooner.
const ROWS: u64 = 200;

/// Tables whose next id the engine counts.
const COUNTED: [&str; 3] = ["organization", "user_account", "log_entry"];

/// Why records can't be copied.
#[derive(Debug, thiserror::Error)]
pub enum CopyError {
    /// A record has the key of one of ours and says something else.
    #[error("the target holds another record as {table} {key}; copy into an empty database")]
    Different { table: String, key: String },
    /// The target has records that the source lacks.
    #[error("the target holds {excess} records of {table} that the source doesn't; copy into an empty database")]
    Foreign { table: String, excess: u64 },
    /// One of the databases failed.
    #[error(transparent)]
    Store(#[from] StoreError),
}

impl From<DbErr> for CopyError {
    fn from(error: DbErr) -> Self {
        Self::Store(store_error(error))
    }
}

/// Records that a copy has dealt with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CopiedRecords {
    pub copied: u64,
    /// Those that were there before.
    pub kept: u64,
}

/// A way from one database to another. Neither may change meanwhile.
pub struct RecordCopy<'a> {
    from: &'a Core,
    to: &'a Core,
    /// Told after each page: the table, and what was dealt with in it so far.
    report: &'a (dyn Fn(&str, CopiedRecords) + Sync),
}

impl<'a> RecordCopy<'a> {
    /// Both databases have the current schema.
    pub fn new(from: &'a Database, to: &'a Database, report: &'a (dyn Fn(&str, CopiedRecords) + Sync)) -> Self {
        Self { from: from.core(), to: to.core(), report }
    }

    /// Copies who may call and what requests may refer to: few records, which show whether the target
    /// belongs to somebody else.
    ///
    /// # Errors
    /// [`CopyError`]; what was copied before stays.
    pub async fn fleet(&self) -> Result<CopiedRecords, CopyError> {
        self.refuse_foreign::<organization::Entity>().await?;
        let mut all = CopiedRecords::default();
        all += self.table::<organization::Entity>().await?;
        all += self.table::<user_account::Entity>().await?;
        all += self.table::<mis_key::Entity>().await?;
        all += self.table::<computer::Entity>().await?;
        all += self.table::<hardware_hash::Entity>().await?;
        all += self.table::<device::Entity>().await?;
        all += self.table::<queue::Entity>().await?;
        all += self.table::<job::Entity>().await?;
        all += self.table::<resource_use::Entity>().await?;
        Ok(all)
    }

    /// Copies what clients have sent, after its content is there. Discarded content and refusals stay behind.
    ///
    /// # Errors
    /// [`CopyError`]; what was copied before stays.
    pub async fn records(&self) -> Result<CopiedRecords, CopyError> {
        let mut all = CopiedRecords::default();
        all += self.table::<resource::Entity>().await?;
        all += self.table::<log_entry::Entity>().await?;
        all += self.table::<crash_report::Entity>().await?;
        all += self.table::<crash_part::Entity>().await?;
        all += self.table::<device_status::Entity>().await?;
        self.count_on().await?;
        Ok(all)
    }

    /// Nothing is inserted beside records of somebody else.
    async fn refuse_foreign<E>(&self) -> Result<(), CopyError>
    where
        E: EntityTrait,
        E::Model: PartialEq,
    {
        let back = RecordCopy { from: self.to, to: self.from, report: self.report };
        let (mut last, mut excess) = (None, 0);
        loop {
            let rows = back.page::<E>(last.take()).await?;
            let Some(row) = rows.last() else {
                break;
            };
            last = Some(key(row));
            let known = back.counterparts::<E>(&rows).await?;
            excess += rows.iter().filter(|row| !known.contains_key(&key_text(*row))).count() as u64;
        }
        match excess {
            0 => Ok(()),
            excess => Err(CopyError::Foreign { table: E::default().table_name().to_owned(), excess }),
        }
    }

    async fn table<E>(&self) -> Result<CopiedRecords, CopyError>
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + PartialEq + Sync,
        for<'e> sea_orm::Select<E>: PaginatorTrait<'e, sea_orm::DatabaseConnection>,
    {
        let table = E::default();
        let table = table.table_name();
        let mut done = CopiedRecords::default();
        let mut last = None;
        loop {
            let rows = self.page::<E>(last.take()).await?;
            let Some(row) = rows.last() else {
                break;
            };
            last = Some(key(row));
            let page = self.compare::<E>(table, rows).await?;
            done += page;
            (self.report)(table, done);
        }
        let there: u64 = E::find().count(&self.to.reads).await?;
        match there.saturating_sub(done.copied + done.kept) {
            0 => Ok(done),
            excess => Err(CopyError::Foreign { table: table.to_owned(), excess }),
        }
    }

    /// Rows of the source behind the one with the key `last`.
    async fn page<E: EntityTrait>(&self, last: Option<Vec<Value>>) -> Result<Vec<E::Model>, CopyError> {
        let mut select = E::find().limit(ROWS);
        for column in key_columns::<E>() {
            select = select.order_by_asc(column);
        }
        if let Some(last) = last {
            let columns = Expr::tuple(key_columns::<E>().map(ColumnTrait::into_expr));
            select = select.filter(columns.gt(Expr::tuple(last.into_iter().map(Expr::val))));
        }
        let mut stream = select.stream(&self.from.reads).await?;
        let (mut rows, mut bytes) = (Vec::new(), 0);
        while let Some(row) = stream.try_next().await? {
            bytes += bytes_of(&row);
            rows.push(row);
            if bytes >= page::BUDGET {
                break;
            }
        }
        Ok(rows)
    }

    /// Inserts those of `rows` that the target lacks; the others must be the same there.
    async fn compare<E>(&self, table: &str, rows: Vec<E::Model>) -> Result<CopiedRecords, CopyError>
    where
        E: EntityTrait,
        E::Model: IntoActiveModel<E::ActiveModel> + PartialEq,
    {
        let mut there = self.counterparts::<E>(&rows).await?;
        let all = rows.len() as u64;
        let mut missing = Vec::new();
        for row in rows {
            match there.remove(&key_text(&row)) {
                None => missing.push(row.into_active_model()),
                Some(same) if same == row => {}
                Some(_) => return Err(CopyError::Different { table: table.to_owned(), key: shown(&row) }),
            }
        }
        let copied = missing.len() as u64;
        if copied > 0 {
            E::insert_many(missing).exec_without_returning(&self.to.writes).await?;
        }
        Ok(CopiedRecords { copied, kept: all - copied })
    }

    /// What the target has under the keys of `rows`, by key.
    async fn counterparts<E: EntityTrait>(&self, rows: &[E::Model]) -> Result<HashMap<String, E::Model>, CopyError> {
        let mut keys = Condition::any();
        for row in rows {
            let values = key_columns::<E>().zip(key(row));
            keys = keys.add(values.fold(Condition::all(), |all, (column, value)| all.add(column.eq(value))));
        }
        let there = E::find().filter(keys).all(&self.to.reads).await?;
        Ok(there.into_iter().map(|row| (key_text(&row), row)).collect())
    }

    /// Lets PostgreSQL count ids on from the highest that was copied, as `SQLite` does by itself.
    async fn count_on(&self) -> Result<(), CopyError> {
        if self.to.backend != DbBackend::Postgres {
            return Ok(());
        }
        for table in COUNTED {
            let sql = format!(
                "SELECT setval(pg_get_serial_sequence('{table}', 'id'), max(id)) FROM {table} HAVING max(id) IS NOT NULL"
            );
            self.to.writes.query_one_raw(Statement::from_string(self.to.backend, sql)).await?;
        }
        Ok(())
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

/// The key for people; a digest of a credential tells them nothing.
fn shown<M: ModelTrait>(row: &M) -> String {
    let shown =
        |value: Value| if matches!(value, Value::Bytes(_)) { "(a digest)".to_owned() } else { value.to_string() };
    key(row).into_iter().map(shown).collect::<Vec<_>>().join(", ")
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
