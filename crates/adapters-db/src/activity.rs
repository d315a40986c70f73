//! Last requests and fetches: [`domain::activity::ActivityRepository`].

mod holders;

use crate::connections::Connections;
use crate::entity::{computer_fetch, computer_seen, user_account, user_fetch, user_seen};
use async_trait::async_trait;
use domain::activity::{
    ActivityRepository, ComputerFetch, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey,
    SERIAL_NUMBERS_PER_USER, Sender, UserActivity, UserFetch,
};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use domain::text::Folded;
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use futures_util::stream::BoxStream;
use sea_orm::sea_query::{Expr, ExprTrait, OnConflict};
use sea_orm::{
    ColumnTrait, Condition, DatabaseTransaction, DbErr, EntityTrait, IntoActiveModel, Iterable, PrimaryKeyToColumn,
    QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;
use uuid::Uuid;

/// Rows in one statement: a row has at most eight values, and SQLite takes 32,766 values in a statement.
const ROWS: usize = 500;

/// Last requests and fetches in a database.
pub struct SqlActivityRepository {
    db: Arc<Connections>,
}

impl SqlActivityRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl ActivityRepository for SqlActivityRepository {
    async fn store_requests(&self, requests: &[(Sender, LastRequest)]) -> Result<(), StoreError> {
        for requests in requests.chunks(ROWS) {
            let requests: Arc<[(Sender, LastRequest)]> = requests.into();
            let stored = self.db.write(move |transaction| {
                let requests = Arc::clone(&requests);
                async move { store_requests(transaction, &requests).await }.boxed()
            });
            stored.await?;
        }
        Ok(())
    }

    async fn store_fetches(&self, fetches: &[((Holder, ResourceKey), Fetch)]) -> Result<(), StoreError> {
        for fetches in fetches.chunks(ROWS) {
            let fetches: Arc<[((Holder, ResourceKey), Fetch)]> = fetches.into();
            let stored = self.db.write(move |transaction| {
                let fetches = Arc::clone(&fetches);
                async move { store_fetches(transaction, &fetches).await }.boxed()
            });
            stored.await?;
        }
        Ok(())
    }

    fn users(&self, organization: OrganizationId) -> BoxStream<'static, Result<UserActivity, StoreError>> {
        holders::users(self.db.clone(), organization)
    }

    fn computers_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<ComputerFetch, StoreError>> {
        holders::computers(self.db.clone(), organization, resource)
    }

    fn users_of_resource(
        &self,
        organization: OrganizationId,
        resource: ResourceKey,
    ) -> BoxStream<'static, Result<UserFetch, StoreError>> {
        holders::users_of_resource(self.db.clone(), organization, resource)
    }

    fn outdated_resources(
        &self,
        organization: OrganizationId,
        computer: ComputerGuid,
    ) -> BoxStream<'static, Result<OutdatedResource, StoreError>> {
        holders::outdated(self.db.clone(), organization, computer)
    }
}

async fn store_requests(transaction: &DatabaseTransaction, requests: &[(Sender, LastRequest)]) -> Result<(), DbErr> {
    let mut names = UserNames::new();
    for (sender, _) in requests {
        if let Sender::User(organization, name) = sender {
            names.entry(organization.0).or_default().insert(name.clone());
        }
    }
    let ids = user_ids(transaction, names).await?;
    let (mut computers, mut users) = (BTreeMap::new(), BTreeMap::new());
    for (sender, request) in requests {
        let LastRequest { at, address, serial_number, application_version } = request.clone();
        let seen_at = at.as_micros();
        match sender {
            Sender::Computer(_, guid) => {
                let computer_guid = guid.as_uuid();
                let row = computer_seen::Model { computer_guid, seen_at, address, serial_number, application_version };
                computers.insert(computer_guid, row);
            }
            Sender::User(organization, name) => {
                if let Some(&user_id) = ids.get(&(organization.0, name.clone())) {
                    let row = user_seen::Model { user_id, seen_at, address, serial_number, application_version };
                    users.insert(user_id, row);
                }
            }
        }
    }
    upsert::<computer_seen::Entity>(transaction, computers.into_values(), computer_seen::Column::SeenAt).await?;
    upsert::<user_seen::Entity>(transaction, users.into_values(), user_seen::Column::SeenAt).await
}

async fn store_fetches(
    transaction: &DatabaseTransaction,
    fetches: &[((Holder, ResourceKey), Fetch)],
) -> Result<(), DbErr> {
    let mut names = UserNames::new();
    for ((holder, _), _) in fetches {
        if let Holder::User { organization, name, .. } = holder {
            names.entry(organization.0).or_default().insert(name.clone());
        }
    }
    let ids = user_ids(transaction, names).await?;
    let mut computers = BTreeMap::new();
    let mut users: BTreeMap<_, user_fetch::Model> = BTreeMap::new();
    for ((holder, resource), fetch) in fetches {
        let (organization_id, resource_guid) = (resource.organization.0, resource.guid.as_uuid());
        let (fetched_at, checksum) = (fetch.at.as_micros(), fetch.checksum.to_string());
        match holder {
            Holder::Computer(_, guid) => {
                let computer_guid = guid.as_uuid();
                let row = computer_fetch::Model { computer_guid, organization_id, resource_guid, fetched_at, checksum };
                computers.insert((computer_guid, organization_id, resource_guid), row);
            }
            Holder::User { organization, name, serial_number } => {
                let Some(&user_id) = ids.get(&(organization.0, name.clone())) else { continue };
                let serial_folded = Folded::of(serial_number).into_string();
                let key = (user_id, serial_folded.clone(), organization_id, resource_guid);
                // Two SerialNumbers may be equal without case.
                if users.get(&key).is_none_or(|row| row.fetched_at <= fetched_at) {
                    let serial_number = serial_number.clone();
                    let row = user_fetch::Model {
                        user_id,
                        serial_folded,
                        organization_id,
                        resource_guid,
                        serial_number,
                        fetched_at,
                        checksum,
                    };
                    users.insert(key, row);
                }
            }
        }
    }
    upsert::<computer_fetch::Entity>(transaction, computers.into_values(), computer_fetch::Column::FetchedAt).await?;
    let touched: BTreeSet<_> =
        users.keys().map(|(user, _, organization, guid)| (*user, *organization, *guid)).collect();
    upsert::<user_fetch::Entity>(transaction, users.into_values(), user_fetch::Column::FetchedAt).await?;
    remove_excess(transaction, &touched).await
}

/// A user's id, and the key of a resource.
type UserResource = (i64, i64, Uuid);

/// Removes the earliest fetches of users who have too many of one resource. Few have; `touched` are those who may.
async fn remove_excess(transaction: &DatabaseTransaction, touched: &BTreeSet<UserResource>) -> Result<(), DbErr> {
    use user_fetch::{Column, Entity};
    if touched.is_empty() {
        return Ok(());
    }
    for (user, organization, guid) in excessive(touched).into_tuple::<UserResource>().all(transaction).await? {
        let own = Condition::all()
            .add(Column::UserId.eq(user))
            .add(Column::OrganizationId.eq(organization))
            .add(Column::ResourceGuid.eq(guid));
        let latest = Entity::find()
            .select_only()
            .column(Column::SerialFolded)
            .filter(own.clone())
            .order_by_desc(Column::FetchedAt)
            .order_by_desc(Column::SerialFolded)
            .limit(u64::from(SERIAL_NUMBERS_PER_USER));
        let excess =
            Entity::delete_many().filter(own).filter(Column::SerialFolded.not_in_subquery(latest.into_query()));
        excess.exec(transaction).await?;
    }
    Ok(())
}

/// The users and resources with too many fetches, of all that have a user and a resource of `touched`.
fn excessive(touched: &BTreeSet<UserResource>) -> Select<user_fetch::Entity> {
    use user_fetch::{Column, Entity};
    let users: BTreeSet<_> = touched.iter().map(|(user, _, _)| *user).collect();
    let organizations: BTreeSet<_> = touched.iter().map(|(_, organization, _)| *organization).collect();
    let guids: BTreeSet<_> = touched.iter().map(|(_, _, guid)| *guid).collect();
    Entity::find()
        .select_only()
        .columns([Column::UserId, Column::OrganizationId, Column::ResourceGuid])
        .filter(Column::OrganizationId.is_in(organizations))
        .filter(Column::ResourceGuid.is_in(guids))
        .filter(Column::UserId.is_in(users))
        .group_by(Column::UserId)
        .group_by(Column::OrganizationId)
        .group_by(Column::ResourceGuid)
        .having(Column::SerialFolded.count().gt(i64::from(SERIAL_NUMBERS_PER_USER)))
        .order_by_asc(Column::UserId)
        .order_by_asc(Column::OrganizationId)
        .order_by_asc(Column::ResourceGuid)
}

/// Upserts rows; a stored row with a later time stays. `rows` are in the order of their keys, so that two processes
/// can't deadlock.
async fn upsert<E: EntityTrait>(
    transaction: &DatabaseTransaction,
    rows: impl ExactSizeIterator<Item = E::Model>,
    time: E::Column,
) -> Result<(), DbErr>
where
    E::Model: IntoActiveModel<E::ActiveModel>,
{
    if rows.len() == 0 {
        return Ok(());
    }
    let keys: Vec<E::Column> = E::PrimaryKey::iter().map(PrimaryKeyToColumn::into_column).collect();
    let values = E::Column::iter().skip(keys.len());
    let is_newer = Expr::col(("excluded", time)).gte(Expr::col((E::default(), time)));
    let replace = OnConflict::columns(keys).update_columns(values).action_and_where(is_newer).to_owned();
    let insert = E::insert_many(rows.map(IntoActiveModel::into_active_model)).on_conflict(replace);
    insert.exec_without_returning(transaction).await.map(drop)
}

/// Names of users by organization.
type UserNames = BTreeMap<i64, BTreeSet<String>>;

/// The ids of the users by organization and name. Users that aren't registered are left out.
async fn user_ids(transaction: &DatabaseTransaction, names: UserNames) -> Result<HashMap<(i64, String), i64>, DbErr> {
    use user_account::Column;
    if names.is_empty() {
        return Ok(HashMap::new());
    }
    let condition = names.into_iter().fold(Condition::any(), |any, (organization, names)| {
        any.add(Column::OrganizationId.eq(organization).and(Column::Name.is_in(names)))
    });
    let users = user_account::Entity::find().filter(condition).all(transaction).await?;
    Ok(users.into_iter().map(|user| ((user.organization_id, user.name), user.id)).collect())
}

/// Builds a last request from the columns that `computer_seen` and `user_seen` have in common.
pub(crate) fn last_request(
    seen_at: i64,
    address: Option<String>,
    serial_number: String,
    application_version: String,
) -> LastRequest {
    LastRequest { at: Timestamp::from_micros(seen_at), address, serial_number, application_version }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    const FETCHES: &str = "INSERT INTO user_fetch (user_id, serial_folded, organization_id, resource_guid,
            serial_number, fetched_at, checksum)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT n % 50, n, 1, {guid}, n, n, '' FROM numbers";

    #[tokio::test]
    async fn fetches_of_users_are_counted_by_an_index() {
        for engine in engines().await {
            let (guid, cast) =
                if engine.name == "SQLite" { ("randomblob(16)", "n") } else { ("md5(n::text)::uuid", "n::text") };
            let sql = FETCHES.replace("{guid}", guid).replace("50, n, 1", &format!("50, {cast}, 1"));
            engine.run(&sql.replace(", n, n, ''", &format!(", {cast}, n, ''"))).await;
            engine.run("ANALYZE").await;
            let touched = BTreeSet::from([(1, 1, Uuid::from_u128(1)), (2, 1, Uuid::from_u128(2))]);
            let plan = engine.plan(excessive(&touched).build(engine.db().backend)).await;
            assert!(!plan.contains("SCAN ") && !plan.contains("Seq Scan"), "{}:\n{plan}", engine.name);
        }
    }
}
