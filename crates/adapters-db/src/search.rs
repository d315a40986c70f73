//! The search for operators: [`domain::search::SearchRepository`]. Each kind of record has its own query by a primary
//! key or an index. Names of fleet records are searched by a scan, since there are few.

use crate::connections::Connections;
use crate::entity::{
    computer, crash_group, crash_report, device, job, organization, queue, refusal, resource, user_account,
};
use crate::text_filter::holds;
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::resource::Domain;
use domain::search::{GuidRange, Hit, SearchQuery, SearchRepository, Thing};
use domain::text::{Folded, cut};
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{ExprTrait, Query};
use sea_orm::{
    ColumnTrait, Condition, DbBackend, EntityTrait, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The length of the column `name_sort` of resources in characters.
const SORT_KEY_LENGTH: usize = 200;

/// Searches a database.
pub struct SqlSearchRepository {
    db: Arc<Connections>,
}

impl SqlSearchRepository {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db }
    }

    /// The rows of one kind, as hits.
    async fn hits<E: EntityTrait>(
        &self,
        select: Select<E>,
        limit: u64,
        hit: impl Fn(E::Model) -> Hit,
    ) -> Result<Vec<Hit>, StoreError> {
        let rows = self.db.read(select.limit(limit).all(&self.db.reads)).await?;
        Ok(rows.into_iter().map(hit).collect())
    }
}

/// The parameters of a search.
#[derive(Clone, Copy)]
struct Asked<'a> {
    organization: Option<OrganizationId>,
    query: &'a SearchQuery,
    backend: DbBackend,
}

#[async_trait]
impl SearchRepository for SqlSearchRepository {
    async fn find(
        &self,
        organization: Option<OrganizationId>,
        query: &SearchQuery,
        limit: u64,
    ) -> Result<Vec<Hit>, StoreError> {
        let asked = Asked { organization, query, backend: self.db.backend };
        let mut hits = self.hits(asked.organizations(), limit, of_organization).await?;
        hits.extend(self.hits(asked.users(), limit, of_user).await?);
        hits.extend(self.hits(asked.computers(), limit, of_computer).await?);
        hits.extend(self.hits(asked.devices(), limit, of_device).await?);
        hits.extend(self.hits(asked.queues(), limit, of_queue).await?);
        hits.extend(self.hits(asked.jobs(), limit, of_job).await?);
        hits.extend(self.resources(asked, limit).await?);
        if let Some(range) = query.guids {
            hits.extend(self.hits(asked.reports(range), limit, of_report).await?);
            hits.extend(self.hits(asked.groups(range), limit, of_group).await?);
        }
        hits.extend(self.hits(asked.refusals(), limit, of_refusal).await?);
        Ok(hits)
    }
}

impl SqlSearchRepository {
    /// Resources by GUID, then by the beginning of the name: two queries, since each has its own index.
    async fn resources(&self, asked: Asked<'_>, limit: u64) -> Result<Vec<Hit>, StoreError> {
        let mut rows = self.db.read(asked.resources_by_name().limit(limit).all(&self.db.reads)).await?;
        if let Some(range) = asked.query.guids {
            let by_guid = asked.resources_by_guid(range).limit(limit);
            rows.splice(..0, self.db.read(by_guid.all(&self.db.reads)).await?);
        }
        let mut seen = BTreeSet::new();
        rows.retain(|row| seen.insert((row.organization_id, row.guid)));
        rows.truncate(usize::try_from(limit).unwrap_or(usize::MAX));
        Ok(rows.into_iter().map(of_resource).collect())
    }
}

/// Selects the rows of the organization whose name or GUID matches. A macro, since the columns of different entities
/// have no common type.
macro_rules! named {
    ($asked:ident, $entity:ident $(, $more:expr)?) => {{
        let mut any = Condition::any().add(holds($entity::Column::Name.into_expr(), &$asked.query.text, $asked.backend));
        if let Some(GuidRange { first, last }) = $asked.query.guids {
            any = any.add($entity::Column::Guid.between(first, last));
        }
        $(any = any.add($more);)?
        $entity::Entity::find()
            .apply_if($asked.organization, |select, id| select.filter($entity::Column::OrganizationId.eq(id.0)))
            .filter(any)
            .order_by_asc($entity::Column::Guid)
    }};
}

impl Asked<'_> {
    fn organizations(self) -> Select<organization::Entity> {
        use organization::Column;
        organization::Entity::find()
            .apply_if(self.organization, |select, id| select.filter(Column::Id.eq(id.0)))
            .filter(holds(Column::Name.into_expr(), &self.query.text, self.backend))
            .order_by_asc(Column::Id)
    }

    fn users(self) -> Select<user_account::Entity> {
        use user_account::Column;
        user_account::Entity::find()
            .apply_if(self.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
            .filter(holds(Column::Name.into_expr(), &self.query.text, self.backend))
            .order_by_asc(Column::Id)
    }

    fn computers(self) -> Select<computer::Entity> {
        let serial = Folded::of(&self.query.text).into_string();
        named!(self, computer, computer::Column::SerialFolded.eq(serial))
    }

    fn devices(self) -> Select<device::Entity> {
        named!(self, device)
    }

    fn queues(self) -> Select<queue::Entity> {
        named!(self, queue)
    }

    fn jobs(self) -> Select<job::Entity> {
        named!(self, job)
    }

    fn resources_by_guid(self, range: GuidRange) -> Select<resource::Entity> {
        use resource::Column;
        resource::Entity::find()
            .apply_if(self.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
            .filter(Column::Guid.between(range.first, range.last))
            .order_by_asc(Column::Guid)
            .order_by_asc(Column::OrganizationId)
    }

    /// The index of names begins with organization and domain, so both are listed.
    fn resources_by_name(self) -> Select<resource::Entity> {
        use resource::Column;
        let first = cut(Folded::of(&self.query.text).as_str(), SORT_KEY_LENGTH);
        let last = format!("{first}{}", char::MAX);
        let mut all = Query::select();
        all.column(organization::Column::Id).from(organization::Entity);
        let owner = match self.organization {
            Some(id) => Column::OrganizationId.eq(id.0),
            None => Column::OrganizationId.in_subquery(all),
        };
        resource::Entity::find()
            .filter(owner)
            .filter(Column::Domain.is_in([Domain::Private, Domain::Public].map(Domain::as_str)))
            .filter(Column::NameSort.gte(first))
            .filter(Column::NameSort.lt(last))
    }

    fn reports(self, range: GuidRange) -> Select<crash_report::Entity> {
        use crash_report::Column;
        crash_report::Entity::find()
            .apply_if(self.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
            .filter(Column::Id.between(range.first, range.last))
            .order_by_asc(Column::Id)
    }

    fn groups(self, range: GuidRange) -> Select<crash_group::Entity> {
        use crash_group::Column;
        crash_group::Entity::find()
            .apply_if(self.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
            .filter(Column::Id.between(range.first, range.last))
            .order_by_asc(Column::Id)
    }

    fn refusals(self) -> Select<refusal::Entity> {
        use refusal::Column;
        let own = |id: OrganizationId| {
            let named = Column::OrganizationId.is_null().and(Column::NamedOrganizationId.eq(id.0));
            Column::OrganizationId.eq(id.0).or(named)
        };
        refusal::Entity::find()
            .filter(is_text("request_id", &self.query.text))
            .apply_if(self.organization, |select, id| select.filter(own(id)))
            .order_by_desc(Column::Id)
    }
}

fn hit(organization: i64, thing: Thing, retired_at: Option<i64>) -> Hit {
    Hit { organization: Some(OrganizationId(organization)), thing, is_retired: retired_at.is_some() }
}

fn of_organization(row: organization::Model) -> Hit {
    hit(row.id, Thing::Organization { name: row.name }, None)
}

fn of_user(row: user_account::Model) -> Hit {
    hit(row.organization_id, Thing::User { name: row.name }, row.retired_at)
}

fn of_computer(row: computer::Model) -> Hit {
    let thing = Thing::Computer { guid: row.guid.into(), name: row.name, serial_number: row.serial_number };
    hit(row.organization_id, thing, row.retired_at)
}

fn of_device(row: device::Model) -> Hit {
    hit(row.organization_id, Thing::Device { guid: row.guid.into(), name: row.name }, row.retired_at)
}

fn of_queue(row: queue::Model) -> Hit {
    let device = row.device_guid.map(Into::into);
    hit(row.organization_id, Thing::Queue { guid: row.guid.into(), name: row.name, device }, row.retired_at)
}

fn of_job(row: job::Model) -> Hit {
    let queue = row.queue_guid.map(Into::into);
    hit(row.organization_id, Thing::Job { guid: row.guid.into(), name: row.name, queue }, row.retired_at)
}

fn of_resource(row: resource::Model) -> Hit {
    hit(row.organization_id, Thing::Resource { guid: row.guid.into(), name: row.name }, None)
}

fn of_report(row: crash_report::Model) -> Hit {
    let received = Timestamp::from_micros(row.received_at);
    let thing = Thing::CrashReport { id: row.id.into(), received, application_name: row.application_name };
    hit(row.organization_id, thing, None)
}

fn of_group(row: crash_group::Model) -> Hit {
    hit(row.organization_id, Thing::CrashGroup { id: row.id.into(), signature: row.signature }, None)
}

fn of_refusal(row: refusal::Model) -> Hit {
    let thing = Thing::Refusal {
        at: Timestamp::from_micros(row.received_at),
        request_id: row.request_id,
        operation: row.operation,
        status: u16::try_from(row.status).unwrap_or_default(),
        reason: row.reason,
        detail: row.detail,
    };
    let organization = row.organization_id.or(row.named_organization_id).map(OrganizationId);
    Hit { organization, thing, is_retired: false }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use sea_orm::Statement;

    const REFUSALS: &str = "INSERT INTO refusal (received_at, address, operation, credential, status, reason, detail,
            request_id, serial_number, application_version)
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 3000)
        SELECT n, '', '', 'none', 400, '', '', 'request ' || n, '', '' FROM numbers";

    #[tokio::test]
    async fn what_there_may_be_many_of_is_searched_by_an_index() {
        for engine in engines().await {
            engine.fill_all().await;
            engine.run(REFUSALS).await;
            engine.run("ANALYZE").await;
            let backend = engine.db().backend;
            let query = SearchQuery::parse("0f8fad5b-d9cb").unwrap();
            let range = query.guids.unwrap();
            for organization in [None, Some(OrganizationId(7))] {
                let asked = Asked { organization, query: &query, backend };
                let plan = async |statement: Statement| engine.plan(statement).await;
                let by_name = plan(asked.resources_by_name().limit(20).build(backend)).await;
                // Several indexes have the name; so few rows don't tell which one is cheaper.
                let has_range = by_name.contains("name_sort>") || by_name.contains("name_sort >=");
                assert!(has_range && !by_name.contains("Seq Scan"), "{}:\n{by_name}", engine.name);
                let request = plan(asked.refusals().limit(20).build(backend)).await;
                assert!(request.contains("refusal_of_request"), "{}:\n{request}", engine.name);
                for by_guid in [
                    plan(asked.resources_by_guid(range).limit(20).build(backend)).await,
                    plan(asked.reports(range).limit(20).build(backend)).await,
                    plan(asked.groups(range).limit(20).build(backend)).await,
                ] {
                    let is_scan = by_guid.contains("Seq Scan") || by_guid.contains("SCAN ");
                    assert!(!is_scan, "{}:\n{by_guid}", engine.name);
                }
            }
        }
    }
}
