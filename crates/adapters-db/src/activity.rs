//! Last requests and fetches: [`domain::activity::ActivityRepository`].

mod holders;

use crate::connections::Connections;
use crate::entity::{computer_fetch, computer_seen, user_account, user_fetch, user_seen};
use async_trait::async_trait;
use domain::activity::{
    ActivityRepository, ComputerFetch, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey, Sender, UserActivity,
    UserFetch,
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
    QueryFilter,
};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

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
    upsert::<user_fetch::Entity>(transaction, users.into_values(), user_fetch::Column::FetchedAt).await
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
