//! The registered computers for operators: [`domain::computer::ComputerRepository`].

use crate::activity::last_request;
use crate::connections::Connections;
use crate::entity::computer::{Column, Entity};
use crate::entity::{computer_seen, user_account};
use crate::text_filter::holds;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::computer::{ComputerCursor, ComputerFilter, ComputerRecord, ComputerRepository};
use domain::error::StoreError;
use domain::guid::ComputerGuid;
use sea_orm::sea_query::{Condition, Expr, ExprTrait, Order, Query, SelectStatement};
use sea_orm::{DbBackend, FromQueryResult, Statement};
use std::sync::Arc;
use uuid::Uuid;

/// The computers in a database, read only.
pub struct SqlComputerRepository {
    db: Arc<Connections>,
}

impl SqlComputerRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    async fn rows(&self, select: &SelectStatement) -> Result<Vec<ComputerRecord>, StoreError> {
        let select: Statement = self.db.backend.build(select);
        let rows = self.db.read(Row::find_by_statement(select).all(&self.db.reads)).await?;
        Ok(rows.into_iter().map(Row::record).collect())
    }
}

#[async_trait]
impl ComputerRepository for SqlComputerRepository {
    async fn page(
        &self,
        organization: Option<OrganizationId>,
        filter: &ComputerFilter,
        after: Option<ComputerCursor>,
        limit: u64,
    ) -> Result<Vec<ComputerRecord>, StoreError> {
        self.rows(&page(organization, filter, after, limit, self.db.backend)).await
    }

    async fn find(
        &self,
        organization: Option<OrganizationId>,
        guid: ComputerGuid,
    ) -> Result<Option<ComputerRecord>, StoreError> {
        let mut select = select(organization);
        select.and_where(computer(Column::Guid).eq(guid.as_uuid()));
        Ok(self.rows(&select).await?.pop())
    }
}

/// A computer with its user and its last request.
#[derive(FromQueryResult)]
struct Row {
    guid: Uuid,
    organization_id: i64,
    name: String,
    serial_number: Option<String>,
    retired_at: Option<i64>,
    user_name: Option<String>,
    seen_at: Option<i64>,
    address: Option<String>,
    seen_serial_number: Option<String>,
    application_version: Option<String>,
}

impl Row {
    fn record(self) -> ComputerRecord {
        let (serial_number, version) = (self.seen_serial_number, self.application_version);
        ComputerRecord {
            organization: OrganizationId(self.organization_id),
            guid: self.guid.into(),
            name: self.name,
            serial_number: self.serial_number,
            user: self.user_name,
            is_retired: self.retired_at.is_some(),
            last_request: self.seen_at.map(|seen_at| {
                last_request(seen_at, self.address, serial_number.unwrap_or_default(), version.unwrap_or_default())
            }),
        }
    }
}

fn computer(column: Column) -> Expr {
    Expr::col((Entity, column))
}

fn seen(column: computer_seen::Column) -> Expr {
    Expr::col((computer_seen::Entity, column))
}

fn user_name() -> Expr {
    Expr::col((user_account::Entity, user_account::Column::Name))
}

fn select(organization: Option<OrganizationId>) -> SelectStatement {
    let columns = [Column::Guid, Column::OrganizationId, Column::Name, Column::SerialNumber, Column::RetiredAt];
    let seen_columns =
        [computer_seen::Column::SeenAt, computer_seen::Column::Address, computer_seen::Column::ApplicationVersion];
    let mut select = Query::select();
    select
        .columns(columns.map(|column| (Entity, column)))
        .columns(seen_columns.map(|column| (computer_seen::Entity, column)))
        .expr_as(seen(computer_seen::Column::SerialNumber), "seen_serial_number")
        .expr_as(user_name(), "user_name")
        .from(Entity)
        .left_join(
            user_account::Entity,
            Expr::col((user_account::Entity, user_account::Column::Id)).equals((Entity, Column::UserId)),
        )
        .left_join(computer_seen::Entity, seen(computer_seen::Column::ComputerGuid).equals((Entity, Column::Guid)));
    if let Some(organization) = organization {
        select.and_where(computer(Column::OrganizationId).eq(organization.0));
    }
    select
}

fn page(
    organization: Option<OrganizationId>,
    filter: &ComputerFilter,
    after: Option<ComputerCursor>,
    limit: u64,
    backend: DbBackend,
) -> SelectStatement {
    // The same expression as in the index. The query builder has no collations; SQLite compares bytes by default.
    let name = Expr::cust(match backend {
        DbBackend::Postgres => r#"(substr("computer"."name", 1, 128) COLLATE "C")"#,
        _ => r#"substr("computer"."name", 1, 128)"#,
    });
    let mut select = select(organization);
    if let Some(text) = &filter.search {
        let mut any = Condition::any();
        for column in [computer(Column::Name), computer(Column::SerialNumber), user_name()] {
            any = any.add(holds(column, text, backend));
        }
        if let Some(guid) = ComputerGuid::parse(text) {
            any = any.add(computer(Column::Guid).eq(guid.as_uuid()));
        }
        select.cond_where(any);
    }
    if let Some(since) = filter.seen_since {
        select.and_where(seen(computer_seen::Column::SeenAt).gte(since.as_micros()));
    }
    if let Some(after) = after {
        let last = Expr::tuple([after.name.into(), after.guid.as_uuid().into()]);
        select.and_where(Expr::tuple([name.clone(), computer(Column::Guid)]).gt(last));
    }
    select.order_by_expr(name, Order::Asc).order_by((Entity, Column::Guid), Order::Asc).limit(limit);
    select
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::testing::numbered;

    const MANY: &[&str] = &[
        "INSERT INTO organization (id, name, publisher) WITH RECURSIVE numbers (n) AS
            (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 20) SELECT n, 'O' || n, false FROM numbers",
        "INSERT INTO computer (guid, organization_id, name) WITH RECURSIVE numbers (n) AS
            (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000) SELECT {guid}, 1 + n % 20, 'RIP ' || n FROM numbers",
    ];

    #[tokio::test]
    async fn computers_are_read_in_the_order_of_an_index() {
        for engine in engines().await {
            let guid = if engine.name == "SQLite" { "randomblob(16)" } else { "gen_random_uuid()" };
            for sql in MANY {
                engine.run(&sql.replace("{guid}", guid)).await;
            }
            engine.run("ANALYZE").await;
            let after = ComputerCursor { name: "RIP 5".to_owned(), guid: ComputerGuid::from(numbered(1)) };
            for (index, organization) in [("computer_by_name", Some(OrganizationId(7))), ("computer_anywhere", None)] {
                let (filter, backend) = (ComputerFilter::default(), engine.db().backend);
                let select = page(organization, &filter, Some(after.clone()), 51, backend);
                let plan = engine.plan(backend.build(&select)).await;
                assert!(plan.contains(index), "{}:\n{plan}", engine.name);
                assert!(!plan.contains("TEMP B-TREE") && !plan.contains("Sort"), "{}:\n{plan}", engine.name);
            }
        }
    }
}
