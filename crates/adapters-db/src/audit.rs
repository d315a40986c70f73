//! Audit records: [`domain::audit::AuditRepository`], and the record of each change.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::{audit_record, organization};
use async_trait::async_trait;
use domain::audit::{
    AuditAction, AuditCursor, AuditFilter, AuditRecord, AuditRepository, AuditedScope, AuditedValue, Author,
    AuthorCredential, NewAuditRecord,
};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::text::{Folded, storable};
use domain::timestamp::Timestamp;
use futures_util::FutureExt;
use sea_orm::ActiveValue::{NotSet, Set};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, ConnectionTrait, DbErr, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::sync::Arc;

/// The audit records in a database.
pub struct SqlAuditRepository {
    db: Arc<Connections>,
}

impl SqlAuditRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }
}

#[async_trait]
impl AuditRepository for SqlAuditRepository {
    async fn add(&self, record: &NewAuditRecord) -> Result<(), StoreError> {
        let record = Arc::new(record.clone());
        let added = self.db.write(move |transaction| {
            let record = record.clone();
            async move { store(transaction, &record).await }.boxed()
        });
        Ok(added.await?)
    }

    async fn page(
        &self,
        filter: &AuditFilter,
        after: Option<AuditCursor>,
        limit: u64,
    ) -> Result<Vec<AuditRecord>, StoreError> {
        let select = page(filter, after, limit).find_also_related(organization::Entity);
        let rows = self.db.read(select.all(&self.db.reads)).await?;
        rows.into_iter().map(|(row, organization)| record(row, organization.map(|row| row.name))).collect()
    }
}

/// Stores the record of a change in the transaction of the change.
pub(crate) async fn store(db: &impl ConnectionTrait, record: &NewAuditRecord) -> Result<(), DbErr> {
    let organization_id = match &record.scope {
        AuditedScope::All => None,
        AuditedScope::Organization(id) => Some(id.0),
        AuditedScope::Named(name) => {
            let find = organization::Entity::find().filter(organization::Column::Name.eq(name));
            find.one(db).await?.map(|row| row.id)
        }
    };
    let (credential, token_name) = record.author.credential.parts();
    let author = storable(&record.author.name);
    let values = serde_json::to_string(&record.values).map_err(|error| DbErr::Custom(error.to_string()))?;
    let row = audit_record::ActiveModel {
        id: NotSet,
        recorded_at: Set(record.at.as_micros()),
        author_folded: Set(Folded::of(&author).into_string()),
        author: Set(author),
        credential: Set(credential.to_owned()),
        token_name: Set(token_name.map(storable)),
        address: Set(record.author.address.clone()),
        organization_id: Set(organization_id),
        action: Set(record.action.code().to_owned()),
        target: Set(storable(&record.target)),
        changed_values: Set(values),
    };
    audit_record::Entity::insert(row).exec_without_returning(db).await.map(drop)
}

fn page(filter: &AuditFilter, after: Option<AuditCursor>, limit: u64) -> Select<audit_record::Entity> {
    use audit_record::Column;
    audit_record::Entity::find()
        .apply_if(filter.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
        .apply_if(filter.who.as_ref(), |select, who| select.filter(Column::AuthorFolded.eq(who.as_str())))
        .apply_if(filter.what, |select, what| select.filter(Column::Action.eq(what.code())))
        .apply_if(filter.from, |select, from| select.filter(Column::RecordedAt.gte(from.as_micros())))
        .apply_if(filter.to, |select, to| select.filter(Column::RecordedAt.lte(to.as_micros())))
        .apply_if(after, |select, AuditCursor { at, id }| {
            let key = Expr::tuple([Column::RecordedAt, Column::Id].map(ColumnTrait::into_expr));
            select.filter(key.lt(Expr::tuple([at.as_micros().into(), id.into()])))
        })
        .order_by_desc(Column::RecordedAt)
        .order_by_desc(Column::Id)
        .limit(limit)
}

fn record(row: audit_record::Model, organization: Option<String>) -> Result<AuditRecord, StoreError> {
    let id = row.id;
    let owner = Owner { what: "audit record", id: &id };
    let credential = AuthorCredential::from_parts(&row.credential, row.token_name);
    let values: Option<Vec<AuditedValue>> = serde_json::from_str(&row.changed_values).ok();
    let author = Author { name: row.author, credential: owner.need(credential)?, address: row.address };
    let record = NewAuditRecord {
        at: Timestamp::from_micros(row.recorded_at),
        author,
        scope: row.organization_id.map_or(AuditedScope::All, |id| AuditedScope::Organization(OrganizationId(id))),
        action: owner.need(AuditAction::parse(&row.action))?,
        target: row.target,
        values: owner.need(values)?,
    };
    Ok(AuditRecord { id, organization, record })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::ConnectionTrait;

    const MANY: &str =
        "INSERT INTO audit_record (recorded_at, author, author_folded, credential, organization_id, action,
            target, changed_values)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT 1000000 + n, 'A' || (n % 100), 'a' || (n % 100), 'session', n % 100, 'action ' || (n % 9), 'target', '[]'
        FROM numbers";

    #[tokio::test]
    async fn lists_of_audit_records_go_by_an_index() {
        for engine in engines().await {
            engine.run(MANY).await;
            engine.run("ANALYZE").await;
            let after = Some(AuditCursor { at: Timestamp::from_micros(1_002_000), id: 2_000 });
            let all = AuditFilter::default();
            for (index, filter) in [
                ("audit_by_time", all.clone()),
                ("audit_of_organization", AuditFilter { organization: Some(OrganizationId(3)), ..all.clone() }),
                ("audit_of_author", AuditFilter { who: Some(Folded::of("A7")), ..all.clone() }),
                ("audit_of_action", AuditFilter { what: Some(AuditAction::SignedIn), ..all }),
            ] {
                engine.assert_uses(index, page(&filter, after, 51).build(engine.db().backend)).await;
            }
        }
    }

    /// Decision P9.
    #[tokio::test]
    async fn no_statement_changes_or_deletes_an_audit_record() {
        for engine in engines().await {
            engine.run(MANY).await;
            let mut statements =
                vec!["UPDATE audit_record SET author = 'Eve'", "DELETE FROM audit_record WHERE id = 1"];
            if engine.name == "PostgreSQL" {
                statements.push("TRUNCATE audit_record");
            }
            for sql in statements {
                let error = engine.db().writes.execute_unprepared(sql).await.unwrap_err().to_string();
                assert!(error.contains("an audit record never changes"), "{}: {error}", engine.name);
            }
            assert_eq!(engine.number("SELECT count(*) FROM audit_record WHERE author <> 'Eve'").await, 3_000);
        }
    }
}
