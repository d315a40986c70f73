//! What the database knows of blobs: [`domain::blob::BlobLedger`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{crash_part, crash_report, discarded_blob, organization, resource};
use crate::page::{BUDGET, Pace, PageRow, Pages};
use async_trait::async_trait;
use domain::blob::{BlobKey, BlobLedger, BlobReference};
use domain::error::StoreError;
use domain::guid::{CrashReportId, ResourceGuid};
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict, Query, SelectStatement, UnionType};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbBackend, DbErr, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, RelationTrait, Statement,
};
use std::collections::HashSet;
use std::future::ready;
use std::marker::PhantomData;
use std::sync::Arc;
use uuid::Uuid;

/// Keys of one statement.
const CHUNK: usize = 500;

/// The blobs in a database.
pub struct SqlBlobLedger {
    db: Arc<Connections>,
}

impl SqlBlobLedger {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    /// The keys that `select` finds among `keys`.
    async fn find_keys(
        &self,
        keys: &[BlobKey],
        select: fn(&[String]) -> SelectStatement,
    ) -> Result<HashSet<BlobKey>, StoreError> {
        let mut found = HashSet::new();
        for chunk in chunks(keys) {
            for row in self.db.read(self.db.reads.query_all(&select(&chunk))).await? {
                let key: String = row.try_get_by_index(0).map_err(crate::error::store_error)?;
                found.insert(Owner { what: "blob", id: &key }.blob_key(&key)?);
            }
        }
        Ok(found)
    }

    /// Executes a statement for each chunk of `keys`, all in one transaction.
    async fn change(&self, keys: &[BlobKey], statement: impl Fn(Vec<String>) -> Statement) -> Result<(), StoreError> {
        let statements: Arc<Vec<Statement>> = Arc::new(chunks(keys).into_iter().map(statement).collect());
        let changed = self.db.write(move |transaction| {
            let statements = statements.clone();
            async move {
                for statement in statements.iter() {
                    transaction.execute_raw(statement.clone()).await?;
                }
                Ok(())
            }
            .boxed()
        });
        Ok(changed.await?)
    }
}

/// Enters blobs as discarded; those that are entered already keep their time.
pub(crate) async fn discard(db: &impl ConnectionTrait, keys: Vec<String>, now: Timestamp) -> Result<(), DbErr> {
    let row = |key| discarded_blob::ActiveModel { blob_key: Set(key), discarded_at: Set(now.as_micros()) };
    let on_conflict = OnConflict::column(discarded_blob::Column::BlobKey).do_nothing().to_owned();
    let insert = discarded_blob::Entity::insert_many(keys.into_iter().map(row)).on_conflict(on_conflict);
    insert.exec_without_returning(db).await.map(drop)
}

#[async_trait]
impl BlobLedger for SqlBlobLedger {
    async fn discard(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError> {
        let keys = Arc::new(chunks(keys));
        let discarded = self.db.write(move |transaction| {
            let keys = keys.clone();
            async move {
                for keys in keys.iter() {
                    discard(transaction, keys.clone(), now).await?;
                }
                Ok(())
            }
            .boxed()
        });
        Ok(discarded.await?)
    }

    async fn discarded_before(&self, before: Timestamp, limit: u64) -> Result<Vec<BlobKey>, StoreError> {
        let due = discarded_blob::Entity::find()
            .filter(discarded_blob::Column::DiscardedAt.lt(before.as_micros()))
            .order_by_asc(discarded_blob::Column::DiscardedAt)
            .order_by_asc(discarded_blob::Column::BlobKey)
            .limit(limit);
        let due = self.db.read(due.all(&self.db.reads)).await?;
        due.into_iter().map(|row| Owner { what: "discarded blob", id: &row.blob_key }.blob_key(&row.blob_key)).collect()
    }

    async fn postpone(&self, keys: &[BlobKey], now: Timestamp) -> Result<(), StoreError> {
        use discarded_blob::{Column, Entity};
        let update = Entity::update_many().col_expr(Column::DiscardedAt, Expr::value(now.as_micros()));
        let backend = self.db.backend;
        self.change(keys, |keys| update.clone().filter(Column::BlobKey.is_in(keys)).build(backend)).await
    }

    async fn forget(&self, keys: &[BlobKey]) -> Result<(), StoreError> {
        use discarded_blob::{Column, Entity};
        let backend = self.db.backend;
        self.change(keys, |keys| Entity::delete_many().filter(Column::BlobKey.is_in(keys)).build(backend)).await
    }

    async fn known(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError> {
        self.find_keys(keys, known_of).await
    }

    fn references(&self) -> BoxStream<'static, Result<BlobReference, StoreError>> {
        let resources = References::<ResourceRow>::all(self.db.clone());
        let parts = References::<PartRow>::all(self.db.clone());
        resources.chain(parts).boxed()
    }

    async fn referenced(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError> {
        self.find_keys(keys, referred_to).await
    }
}

/// Those of `keys` that the database knows: by one statement, since a key may move from a resource to the discarded
/// ones meanwhile.
fn known_of(keys: &[String]) -> SelectStatement {
    let discarded = keys_of(discarded_blob::Entity, discarded_blob::Column::BlobKey, keys);
    referred_to(keys).union(UnionType::All, discarded).take()
}

/// Those of `keys` that a record refers to.
fn referred_to(keys: &[String]) -> SelectStatement {
    let parts = keys_of(crash_part::Entity, crash_part::Column::BlobKey, keys);
    keys_of(resource::Entity, resource::Column::BlobKey, keys).union(UnionType::All, parts).take()
}

fn keys_of<E: EntityTrait>(table: E, column: E::Column, keys: &[String]) -> SelectStatement {
    Query::select().column(column).from(table).and_where(column.is_in(keys.iter().map(String::as_str))).take()
}

fn chunks(keys: &[BlobKey]) -> Vec<Vec<String>> {
    let chunk = |keys: &[BlobKey]| keys.iter().map(|key| key.as_str().to_owned()).collect();
    keys.chunks(CHUNK).map(chunk).collect()
}

/// A row that refers to a blob.
trait ReferringRow: PageRow + Send + 'static {
    /// The primary key.
    type Key: Send + 'static;

    fn key(&self) -> Self::Key;

    /// A page of rows after a key, in the order of the keys.
    fn page(backend: DbBackend, after: Option<&Self::Key>, limit: u64) -> Statement;

    fn reference(self) -> Result<BlobReference, StoreError>;
}

/// Reads all references of one table, page by page.
struct References<R: ReferringRow> {
    db: Arc<Connections>,
    pace: Pace,
    after: Option<R::Key>,
    is_at_end: bool,
    row: PhantomData<fn() -> R>,
}

impl<R: ReferringRow> References<R> {
    fn all(db: Arc<Connections>) -> BoxStream<'static, Result<BlobReference, StoreError>> {
        let pages = Self { db, pace: Pace::new(BUDGET), after: None, is_at_end: false, row: PhantomData };
        pages.rows().and_then(|row| ready(row.reference())).boxed()
    }
}

impl<R: ReferringRow> Pages for References<R> {
    type Row = R;

    async fn next_page(&mut self) -> Result<Option<Vec<R>>, StoreError> {
        if self.is_at_end {
            return Ok(None);
        }
        let statement = R::page(self.db.backend, self.after.as_ref(), self.pace.limit);
        let page = self.pace.read::<R>(&self.db, statement).await?;
        self.is_at_end = page.last;
        self.after = page.rows.last().map(R::key);
        Ok(Some(page.rows))
    }
}

#[derive(FromQueryResult)]
struct ResourceRow {
    organization_id: i64,
    guid: Uuid,
    blob_key: String,
    content_size: i64,
    checksum: String,
    organization_name: Option<String>,
}

impl PageRow for ResourceRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.organization_name.as_ref().map_or(0, String::len)
    }
}

impl ReferringRow for ResourceRow {
    type Key = (i64, Uuid);

    fn key(&self) -> Self::Key {
        (self.organization_id, self.guid)
    }

    fn page(backend: DbBackend, after: Option<&Self::Key>, limit: u64) -> Statement {
        use resource::Column;
        let key = Expr::tuple([Column::OrganizationId, Column::Guid].map(ColumnTrait::into_expr));
        resource::Entity::find()
            .select_only()
            .columns([Column::OrganizationId, Column::Guid, Column::BlobKey, Column::ContentSize, Column::Checksum])
            .column_as(organization::Column::Name, "organization_name")
            .join(JoinType::LeftJoin, resource::Relation::Organization.def())
            .apply_if(after, |select, after| select.filter(key.gt(Expr::tuple([after.0.into(), after.1.into()]))))
            .order_by_asc(Column::OrganizationId)
            .order_by_asc(Column::Guid)
            .limit(limit)
            .build(backend)
    }

    fn reference(self) -> Result<BlobReference, StoreError> {
        let guid = ResourceGuid::from(self.guid);
        let owner = Owner { what: "resource", id: &guid };
        Ok(BlobReference {
            key: owner.blob_key(&self.blob_key)?,
            size: owner.size(self.content_size)?,
            checksum: owner.checksum(&self.checksum)?,
            owner: format!("resource {guid} of {}", self.organization_name.unwrap_or_default()),
        })
    }
}

#[derive(FromQueryResult)]
struct PartRow {
    report_id: Uuid,
    position: i32,
    blob_key: String,
    content_size: i64,
    checksum: String,
    organization_name: Option<String>,
}

impl PageRow for PartRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.organization_name.as_ref().map_or(0, String::len)
    }
}

impl ReferringRow for PartRow {
    type Key = (Uuid, i32);

    fn key(&self) -> Self::Key {
        (self.report_id, self.position)
    }

    fn page(backend: DbBackend, after: Option<&Self::Key>, limit: u64) -> Statement {
        use crash_part::Column;
        let key = Expr::tuple([Column::ReportId, Column::Position].map(ColumnTrait::into_expr));
        crash_part::Entity::find()
            .select_only()
            .columns([Column::ReportId, Column::Position, Column::BlobKey, Column::ContentSize, Column::Checksum])
            .column_as(organization::Column::Name, "organization_name")
            .join(JoinType::InnerJoin, crash_part::Relation::Report.def())
            .join(JoinType::LeftJoin, crash_report::Relation::Organization.def())
            .apply_if(after, |select, after| select.filter(key.gt(Expr::tuple([after.0.into(), after.1.into()]))))
            .order_by_asc(Column::ReportId)
            .order_by_asc(Column::Position)
            .limit(limit)
            .build(backend)
    }

    fn reference(self) -> Result<BlobReference, StoreError> {
        let id = CrashReportId::from(self.report_id);
        let owner = Owner { what: "crash report", id: &id };
        Ok(BlobReference {
            key: owner.blob_key(&self.blob_key)?,
            size: owner.size(self.content_size)?,
            checksum: owner.checksum(&self.checksum)?,
            owner: format!("crash report {id} of {}", self.organization_name.unwrap_or_default()),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn blobs_are_looked_up_by_their_keys() {
        for engine in engines().await {
            engine.fill().await;
            let db = engine.db();
            let plan = engine.plan(db.backend.build(&known_of(&["resources/1".to_owned()]))).await;
            let indexes = ["resource_blob", "crash_part_blob", "discarded_blob"];
            assert!(indexes.iter().all(|index| plan.contains(index)), "{}:\n{plan}", engine.name);
            for sign in ["Seq Scan", "SCAN "] {
                assert!(!plan.contains(sign), "{}:\n{plan}", engine.name);
            }
        }
    }
}
