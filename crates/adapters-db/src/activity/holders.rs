//! The lists of holders, outdated resources and users. All use keyset pagination.

use super::last_request;
use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{computer, computer_fetch, resource, user_account, user_fetch, user_seen};
use crate::page::{BUDGET, Pace, PageRow, Pages};
use crate::resource::is_visible_to;
use domain::activity::{ComputerFetch, Fetch, OutdatedResource, ResourceKey, UserActivity, UserFetch};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::{ComputerGuid, ResourceGuid};
use domain::timestamp::Timestamp;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, Condition, DbBackend, EntityTrait, FromQueryResult, JoinType, Order, QueryFilter, QueryOrder,
    QuerySelect, QueryTrait, RelationTrait, Statement,
};
use std::future::ready;
use std::sync::Arc;
use uuid::Uuid;

type Listed<T> = BoxStream<'static, Result<T, StoreError>>;

/// Reads a list page by page.
struct Scan<Row, Key, Page> {
    db: Arc<Connections>,
    pace: Pace,
    /// The key of the last row read.
    after: Option<Key>,
    is_at_end: bool,
    /// Builds the statement for at most so many rows after a key.
    page: Page,
    key: fn(&Row) -> Key,
}

impl<Row, Key, Page> Scan<Row, Key, Page>
where
    Page: Fn(DbBackend, Option<Key>, u64) -> Statement,
{
    fn new(db: Arc<Connections>, page: Page, key: fn(&Row) -> Key) -> Self {
        Self { db, pace: Pace::new(BUDGET), after: None, is_at_end: false, page, key }
    }
}

impl<Row, Key, Page> Pages for Scan<Row, Key, Page>
where
    Row: PageRow + Send + 'static,
    Key: Send + 'static,
    Page: Fn(DbBackend, Option<Key>, u64) -> Statement + Send + Sync + 'static,
{
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        if self.is_at_end {
            return Ok(None);
        }
        let statement = (self.page)(self.db.backend, self.after.take(), self.pace.limit);
        let page = self.pace.read::<Row>(&self.db, statement).await?;
        self.is_at_end = page.last;
        self.after = page.rows.last().map(self.key);
        Ok(Some(page.rows))
    }
}

/// A column that is compared by code point. `PostgreSQL` compares by the collation of the database by default; the
/// query builder has no collations.
fn by_code_point(backend: DbBackend, column: &'static str) -> Expr {
    match backend {
        DbBackend::Postgres => Expr::cust(format!(r#"{column} COLLATE "C""#)),
        _ => Expr::cust(column),
    }
}

#[derive(FromQueryResult)]
struct UserRow {
    name: String,
    seen_at: Option<i64>,
    address: Option<String>,
    serial_number: Option<String>,
    application_version: Option<String>,
}

impl PageRow for UserRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len()
    }
}

/// Each page sorts all users of the organization; there are few.
pub(super) fn users(db: Arc<Connections>, organization: OrganizationId) -> Listed<UserActivity> {
    let page = move |backend: DbBackend, after: Option<String>, limit: u64| {
        let name = by_code_point(backend, "user_account.name");
        let to_seen = user_account::Entity::belongs_to(user_seen::Entity)
            .from(user_account::Column::Id)
            .to(user_seen::Column::UserId)
            .into();
        user_account::Entity::find()
            .select_only()
            .column(user_account::Column::Name)
            .columns([
                user_seen::Column::SeenAt,
                user_seen::Column::Address,
                user_seen::Column::SerialNumber,
                user_seen::Column::ApplicationVersion,
            ])
            .join(JoinType::LeftJoin, to_seen)
            .filter(user_account::Column::OrganizationId.eq(organization.0))
            .apply_if(after, |select, after| select.filter(name.clone().gt(after)))
            .order_by(name, Order::Asc)
            .limit(limit)
            .build(backend)
    };
    let user = |row: UserRow| UserActivity {
        name: row.name,
        last_request: row.seen_at.map(|seen_at| {
            let (serial_number, version) = (row.serial_number, row.application_version);
            last_request(seen_at, row.address, serial_number.unwrap_or_default(), version.unwrap_or_default())
        }),
    };
    Scan::new(db, page, |row: &UserRow| row.name.clone()).rows().map_ok(user).boxed()
}

#[derive(FromQueryResult)]
struct ComputerRow {
    guid: Uuid,
    name: String,
    fetched_at: Option<i64>,
    checksum: Option<String>,
}

impl PageRow for ComputerRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len()
    }
}

/// Each page sorts all computers of the organization; there are few.
pub(super) fn computers(
    db: Arc<Connections>,
    organization: OrganizationId,
    resource: ResourceKey,
) -> Listed<ComputerFetch> {
    let page =
        move |backend: DbBackend, after, limit: u64| computers_page(backend, organization, resource, after, limit);
    let found = |row: ComputerRow| {
        let guid = ComputerGuid::from(row.guid);
        let fetch = row.fetched_at.zip(row.checksum).map(|(at, checksum)| fetch(&guid, at, &checksum)).transpose()?;
        Ok::<_, StoreError>(ComputerFetch { guid, name: row.name, fetch })
    };
    let rows = Scan::new(db, page, |row: &ComputerRow| (row.name.clone(), row.guid)).rows();
    rows.and_then(move |row| ready(found(row))).boxed()
}

fn computers_page(
    backend: DbBackend,
    organization: OrganizationId,
    resource: ResourceKey,
    after: Option<(String, Uuid)>,
    limit: u64,
) -> Statement {
    use computer::Column;
    let name = by_code_point(backend, "computer.name");
    let fetched = Condition::all()
        .add(
            Expr::col((computer_fetch::Entity, computer_fetch::Column::ComputerGuid))
                .equals((computer::Entity, Column::Guid)),
        )
        .add(computer_fetch::Column::OrganizationId.eq(resource.organization.0))
        .add(computer_fetch::Column::ResourceGuid.eq(resource.guid.as_uuid()));
    let mut select = computer::Entity::find()
        .select_only()
        .columns([Column::Guid, Column::Name])
        .columns([computer_fetch::Column::FetchedAt, computer_fetch::Column::Checksum])
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(Column::RetiredAt.is_null())
        .apply_if(after, |select, (after, guid)| {
            let is_next = name.clone().gt(after.as_str()).or(name.clone().eq(after).and(Column::Guid.gt(guid)));
            select.filter(is_next)
        })
        .order_by(name, Order::Asc)
        .order_by_asc(Column::Guid)
        .limit(limit);
    QuerySelect::query(&mut select).left_join(computer_fetch::Entity, fetched);
    select.build(backend)
}

#[derive(FromQueryResult)]
struct UserFetchRow {
    name: String,
    serial_folded: String,
    serial_number: String,
    fetched_at: i64,
    checksum: String,
}

impl PageRow for UserFetchRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len() + 2 * self.serial_number.len()
    }
}

pub(super) fn users_of_resource(
    db: Arc<Connections>,
    organization: OrganizationId,
    resource: ResourceKey,
) -> Listed<UserFetch> {
    let page = move |backend: DbBackend, after: Option<(String, String)>, limit: u64| {
        use user_fetch::Column;
        let (name, serial) = (by_code_point(backend, "user_account.name"), Column::SerialFolded.into_expr());
        user_fetch::Entity::find()
            .select_only()
            .column(user_account::Column::Name)
            .columns([Column::SerialFolded, Column::SerialNumber, Column::FetchedAt, Column::Checksum])
            .join(JoinType::InnerJoin, user_fetch::Relation::User.def())
            .filter(Column::OrganizationId.eq(resource.organization.0))
            .filter(Column::ResourceGuid.eq(resource.guid.as_uuid()))
            .filter(user_account::Column::OrganizationId.eq(organization.0))
            .apply_if(after, |select, (after, after_serial)| {
                let is_next =
                    name.clone().gt(after.as_str()).or(name.clone().eq(after).and(serial.clone().gt(after_serial)));
                select.filter(is_next)
            })
            .order_by(name, Order::Asc)
            .order_by(serial, Order::Asc)
            .limit(limit)
            .build(backend)
    };
    let found = |row: UserFetchRow| {
        let fetch = fetch(&row.name, row.fetched_at, &row.checksum)?;
        Ok::<_, StoreError>(UserFetch { name: row.name, serial_number: row.serial_number, fetch })
    };
    let rows = Scan::new(db, page, |row: &UserFetchRow| (row.name.clone(), row.serial_folded.clone())).rows();
    rows.and_then(move |row| ready(found(row))).boxed()
}

#[derive(FromQueryResult)]
struct OutdatedRow {
    organization_id: i64,
    resource_guid: Uuid,
    fetched_at: i64,
    checksum: String,
    name: String,
    stored_checksum: String,
    modified_at: i64,
}

impl PageRow for OutdatedRow {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.name.len()
    }
}

pub(super) fn outdated(
    db: Arc<Connections>,
    organization: OrganizationId,
    computer: ComputerGuid,
) -> Listed<OutdatedResource> {
    let page =
        move |backend: DbBackend, after, limit: u64| outdated_page(backend, organization, computer, after, limit);
    let found = |row: OutdatedRow| {
        let guid = ResourceGuid::from(row.resource_guid);
        let owner = Owner { what: "resource", id: &guid };
        Ok::<_, StoreError>(OutdatedResource {
            resource: ResourceKey { organization: OrganizationId(row.organization_id), guid },
            name: row.name,
            fetch: fetch(&guid, row.fetched_at, &row.checksum)?,
            checksum: owner.checksum(&row.stored_checksum)?,
            modified: Timestamp::from_micros(row.modified_at),
        })
    };
    let rows = Scan::new(db, page, |row: &OutdatedRow| (row.organization_id, row.resource_guid)).rows();
    rows.and_then(move |row| ready(found(row))).boxed()
}

/// A page of outdated resources that the organization's clients may see; empty for a computer of another organization.
fn outdated_page(
    backend: DbBackend,
    organization: OrganizationId,
    computer: ComputerGuid,
    after: Option<(i64, Uuid)>,
    limit: u64,
) -> Statement {
    use computer_fetch::Column;
    let key = Expr::tuple([Column::OrganizationId, Column::ResourceGuid].map(ColumnTrait::into_expr));
    let owned = computer::Entity::find()
        .select_only()
        .column(computer::Column::Guid)
        .filter(computer::Column::Guid.eq(computer.as_uuid()))
        .filter(computer::Column::OrganizationId.eq(organization.0));
    computer_fetch::Entity::find()
        .select_only()
        .columns([Column::OrganizationId, Column::ResourceGuid, Column::FetchedAt, Column::Checksum])
        .column(resource::Column::Name)
        .column_as(resource::Column::Checksum, "stored_checksum")
        .column(resource::Column::ModifiedAt)
        .join(JoinType::InnerJoin, computer_fetch::Relation::Resource.def())
        .filter(is_visible_to(organization))
        .filter(Column::ComputerGuid.in_subquery(owned.into_query()))
        .filter(Column::Checksum.into_expr().ne(resource::Column::Checksum.into_expr()))
        .apply_if(after, |select, (organization, guid)| {
            select.filter(key.clone().gt(Expr::tuple([organization.into(), guid.into()])))
        })
        .order_by_asc(Column::OrganizationId)
        .order_by_asc(Column::ResourceGuid)
        .limit(limit)
        .build(backend)
}

fn fetch(holder: &dyn std::fmt::Display, at: i64, checksum: &str) -> Result<Fetch, StoreError> {
    let owner = Owner { what: "fetch of a resource", id: holder };
    Ok(Fetch { checksum: owner.checksum(checksum)?, at: Timestamp::from_micros(at) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const FETCHES: &str =
        "INSERT INTO computer_fetch (computer_guid, organization_id, resource_guid, fetched_at, checksum)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT {guid}, 1 + n % 3, {guid}, n, '' FROM numbers";

    #[tokio::test]
    async fn fetches_are_found_by_their_indexes() {
        let guid = Uuid::from_u128(0x0011_2233_4455_6677_8899_aabb_ccdd_eeff);
        for engine in engines().await {
            engine.fill_all().await;
            let random = if engine.name == "SQLite" { "randomblob(16)" } else { "md5(n::text)::uuid" };
            engine.run(&FETCHES.replace("{guid}", random)).await;
            engine.run("ANALYZE").await;
            let (backend, acme) = (engine.db().backend, OrganizationId(7));
            let key = ResourceKey { organization: acme, guid: guid.into() };
            for statement in [
                computers_page(backend, acme, key, None, 10),
                outdated_page(backend, acme, guid.into(), Some((7, guid)), 10),
            ] {
                let plan = engine.plan(statement).await;
                assert!(!plan.contains("SCAN computer_fetch"), "{}:\n{plan}", engine.name);
                assert!(!plan.contains("Seq Scan on computer_fetch"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
