//! What the database knows of blobs: [`domain::blob::BlobLedger`].

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{crash_part, discarded_blob, resource};
use crate::page::{BUDGET, Pace, PageRow};
use async_trait::async_trait;
use domain::blob::{BlobKey, BlobLedger, BlobReference};
use domain::error::StoreError;
use domain::guid::{CrashReportId, ResourceGuid};
use domain::timestamp::Timestamp;
use futures_util::stream::{self, BoxStream};
use futures_util::{FutureExt, StreamExt, TryStreamExt};
use sea_orm::ActiveValue::Set;
use sea_orm::sea_query::{OnConflict, Query, SelectStatement, UnionType};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QuerySelect, Value,
};
use std::collections::HashSet;
use std::sync::Arc;
use uuid::Uuid;

/// Keys of one statement.
const CHUNK: usize = 500;

/// Claims of resources, behind an organization and a GUID.
const RESOURCES: &str = "SELECT resource.organization_id, resource.guid, resource.blob_key, resource.content_size,
        resource.checksum, COALESCE(organization.name, '') AS organization_name
    FROM resource LEFT JOIN organization ON organization.id = resource.organization_id
    WHERE (resource.organization_id, resource.guid) > ($1, $2)
    ORDER BY resource.organization_id, resource.guid LIMIT $3";

/// Claims of the parts of crash reports, behind a report and a position.
const CRASH_PARTS: &str = "SELECT crash_part.report_id, crash_part.position, crash_part.blob_key,
        crash_part.content_size, crash_part.checksum, COALESCE(organization.name, '') AS organization_name
    FROM crash_part JOIN crash_report ON crash_report.id = crash_part.report_id
    LEFT JOIN organization ON organization.id = crash_report.organization_id
    WHERE (crash_part.report_id, crash_part.position) > ($1, $2)
    ORDER BY crash_part.report_id, crash_part.position LIMIT $3";

/// The blobs in a database.
pub struct SqlBlobLedger {
    db: Arc<Connections>,
}

impl SqlBlobLedger {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
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
        self.db
            .write(move |transaction| {
                let keys = keys.clone();
                async move {
                    for keys in keys.iter() {
                        discard(transaction, keys.clone(), now).await?;
                    }
                    Ok(())
                }
                .boxed()
            })
            .await
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

    async fn forget(&self, keys: &[BlobKey]) -> Result<(), StoreError> {
        let keys = Arc::new(chunks(keys));
        self.db
            .write(move |transaction| {
                let keys = keys.clone();
                async move {
                    for keys in keys.iter() {
                        let forgotten = discarded_blob::Column::BlobKey.is_in(keys.iter().map(String::as_str));
                        discarded_blob::Entity::delete_many().filter(forgotten).exec(transaction).await?;
                    }
                    Ok(())
                }
                .boxed()
            })
            .await
    }

    async fn known(&self, keys: &[BlobKey]) -> Result<HashSet<BlobKey>, StoreError> {
        let mut known = HashSet::new();
        for chunk in chunks(keys) {
            let rows = self.db.read(self.db.reads.query_all(&claims(&chunk))).await?;
            for row in rows {
                let key: String = row.try_get_by_index(0).map_err(crate::error::store_error)?;
                known.insert(Owner { what: "blob", id: &key }.blob_key(&key)?);
            }
        }
        Ok(known)
    }

    fn references(&self) -> BoxStream<'static, Result<BlobReference, StoreError>> {
        let resources =
            claims_in_pages::<ResourceClaim>(self.db.clone(), RESOURCES, [i64::MIN.into(), Uuid::nil().into()]);
        let parts = claims_in_pages::<PartClaim>(self.db.clone(), CRASH_PARTS, [Uuid::nil().into(), (-1).into()]);
        resources.chain(parts).boxed()
    }

    async fn is_current(&self, reference: &BlobReference) -> Result<bool, StoreError> {
        let mut select = claimed(resource::Entity, resource::Column::BlobKey, &[reference.key.as_str().to_owned()]);
        let part = claimed(crash_part::Entity, crash_part::Column::BlobKey, &[reference.key.as_str().to_owned()]);
        select.union(UnionType::All, part);
        Ok(self.db.read(self.db.reads.query_one(&select)).await?.is_some())
    }
}

/// Those of `keys` that anything knows: in one statement, because a key may move from a resource to the
/// discarded ones meanwhile.
fn claims(keys: &[String]) -> SelectStatement {
    let mut select = claimed(resource::Entity, resource::Column::BlobKey, keys);
    select.union(UnionType::All, claimed(crash_part::Entity, crash_part::Column::BlobKey, keys));
    select.union(UnionType::All, claimed(discarded_blob::Entity, discarded_blob::Column::BlobKey, keys));
    select
}

fn claimed<E: EntityTrait>(table: E, column: E::Column, keys: &[String]) -> SelectStatement {
    Query::select().column(column).from(table).and_where(column.is_in(keys.iter().map(String::as_str))).take()
}

fn chunks(keys: &[BlobKey]) -> Vec<Vec<String>> {
    let chunk = |keys: &[BlobKey]| keys.iter().map(|key| key.as_str().to_owned()).collect();
    keys.chunks(CHUNK).map(chunk).collect()
}

/// A row that claims a blob, and its place in the order of its table.
trait Claim: PageRow + Send + 'static {
    fn place(&self) -> [Value; 2];
    fn reference(self) -> Result<BlobReference, StoreError>;
}

fn claims_in_pages<C: Claim>(
    db: Arc<Connections>,
    sql: &'static str,
    start: [Value; 2],
) -> BoxStream<'static, Result<BlobReference, StoreError>> {
    let pages = stream::try_unfold((Pace::new(BUDGET), Some(start)), move |(mut pace, behind)| {
        let db = db.clone();
        async move {
            let Some([first, second]) = behind else {
                return Ok(None);
            };
            let limit = Value::from(i64::try_from(pace.limit).unwrap_or(i64::MAX));
            let page = pace.read::<C>(&db, db.statement(sql, [first, second, limit])).await?;
            let behind = page.rows.last().filter(|_| !page.last).map(Claim::place);
            let references = page.rows.into_iter().map(Claim::reference);
            Ok::<_, StoreError>(Some((stream::iter(references), (pace, behind))))
        }
    });
    pages.try_flatten().boxed()
}

#[derive(FromQueryResult)]
struct ResourceClaim {
    organization_id: i64,
    guid: Uuid,
    blob_key: String,
    content_size: i64,
    checksum: String,
    organization_name: String,
}

impl PageRow for ResourceClaim {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.organization_name.len()
    }
}

impl Claim for ResourceClaim {
    fn place(&self) -> [Value; 2] {
        [self.organization_id.into(), self.guid.into()]
    }

    fn reference(self) -> Result<BlobReference, StoreError> {
        let guid = ResourceGuid::from(self.guid);
        let owner = Owner { what: "resource", id: &guid };
        Ok(BlobReference {
            key: owner.blob_key(&self.blob_key)?,
            size: owner.size(self.content_size)?,
            checksum: owner.checksum(&self.checksum)?,
            owner: format!("resource {guid} of {}", self.organization_name),
        })
    }
}

#[derive(FromQueryResult)]
struct PartClaim {
    report_id: Uuid,
    position: i32,
    blob_key: String,
    content_size: i64,
    checksum: String,
    organization_name: String,
}

impl PageRow for PartClaim {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.organization_name.len()
    }
}

impl Claim for PartClaim {
    fn place(&self) -> [Value; 2] {
        [self.report_id.into(), self.position.into()]
    }

    fn reference(self) -> Result<BlobReference, StoreError> {
        let id = CrashReportId::from(self.report_id);
        let owner = Owner { what: "crash report", id: &id };
        Ok(BlobReference {
            key: owner.blob_key(&self.blob_key)?,
            size: owner.size(self.content_size)?,
            checksum: owner.checksum(&self.checksum)?,
            owner: format!("crash report {id} of {}", self.organization_name),
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
            let plan = engine.plan(db.backend.build(&claims(&["resources/1".to_owned()]))).await;
            let indexes = ["resource_blob", "crash_part_blob", "discarded_blob"];
            assert!(indexes.iter().all(|index| plan.contains(index)), "{}:\n{plan}", engine.name);
            for sign in ["Seq Scan", "SCAN "] {
                assert!(!plan.contains(sign), "{}:\n{plan}", engine.name);
            }
        }
    }
}
