//! The resources of all organizations for operators: [`domain::resource_catalog::ResourceCatalog`].
//!
//! Each domain has its part of an index, in the order of the list, so a page of both domains is merged from two queries.
//! No index finds a text within a name: a page looks at a limited number of index entries.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::resource::{Column, Entity};
use crate::entity::{job, queue, resource_use};
use crate::fleet::Record;
use crate::text_head::is_text;
use async_trait::async_trait;
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use domain::page::{Page, PageRequest};
use domain::resource::{Domain, ResourceType};
use domain::resource_catalog::{
    CatalogCursor, CatalogEntry, CatalogFilter, CatalogSearch, ResourceCatalog, ResourceUse, UseKind,
};
use domain::text::Folded;
use domain::timestamp::Timestamp;
use sea_orm::sea_query::{Expr, ExprTrait, LikeExpr};
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, JoinType, QueryFilter, QueryOrder, QuerySelect, QueryTrait, RelationDef,
    Select,
};
use std::sync::Arc;
use uuid::Uuid;

/// Index entries of one domain that a page looks at while it searches: a few ten milliseconds.
const SEARCHED: u64 = 100_000;

/// Characters of a name that are searched, as many as the lists are sorted by.
const MAX_SEARCH: usize = 200;

/// Escapes what LIKE takes for more than itself.
const ESCAPE: char = '!';

const DOMAINS: [Domain; 2] = [Domain::Private, Domain::Public];

/// The lists of resources in a database.
pub struct SqlResourceCatalog {
    db: Arc<Connections>,
    searched: u64,
}

impl SqlResourceCatalog {
    pub(crate) fn new(db: Arc<Connections>) -> Self {
        Self { db, searched: SEARCHED }
    }

    /// The entries of one domain after `after`, at most `rows`, and where the search ended if it was before the last
    /// resource.
    async fn of_domain(
        &self,
        filter: &CatalogFilter,
        domain: Domain,
        after: Option<&CatalogCursor>,
        rows: u64,
    ) -> Result<(Vec<CatalogEntry>, Option<CatalogCursor>), StoreError> {
        let all = in_order(filter, domain, after);
        let Some(CatalogSearch::Name(name)) = &filter.search else {
            return Ok((self.entries(all.limit(rows)).await?, None));
        };
        let end = self.entries(all.clone().offset(self.searched - 1).limit(1)).await?.pop();
        let end = end.map(|entry| entry.cursor());
        let found = all.apply_if(end.as_ref(), |select, end| select.filter(key().lte(key_of(end)))).filter(holds(name));
        Ok((self.entries(found.limit(rows)).await?, end))
    }

    async fn entries(&self, select: Select<Entity>) -> Result<Vec<CatalogEntry>, StoreError> {
        let rows = self.db.read(select.into_model::<Row>().all(&self.db.reads)).await?;
        rows.into_iter().map(Row::entry).collect()
    }
}

#[async_trait]
impl ResourceCatalog for SqlResourceCatalog {
    async fn page(
        &self,
        filter: &CatalogFilter,
        asked: &PageRequest<CatalogCursor>,
    ) -> Result<Page<CatalogEntry, CatalogCursor>, StoreError> {
        if let Some(CatalogSearch::Guid(guid)) = filter.search {
            let select = of_guid(filter, guid, asked.after.as_ref()).limit(asked.rows());
            return Ok(asked.page(self.entries(select).await?, CatalogEntry::cursor));
        }
        if matches!(&filter.search, Some(CatalogSearch::Name(name)) if name.as_str().chars().count() > MAX_SEARCH) {
            return Ok(Page { items: Vec::new(), next: None });
        }
        let (mut entries, mut searched_to) = (Vec::new(), None);
        for domain in DOMAINS.into_iter().filter(|domain| filter.domain.is_none_or(|asked| asked == *domain)) {
            let (found, end) = self.of_domain(filter, domain, asked.after.as_ref(), asked.rows()).await?;
            entries.extend(found);
            searched_to = [searched_to, end].into_iter().flatten().min();
        }
        entries.sort_by_cached_key(CatalogEntry::cursor);
        // What lies after the end of the search of one domain was not looked at in that domain.
        entries.retain(|entry| searched_to.as_ref().is_none_or(|end| entry.cursor() <= *end));
        let page = asked.page(entries, CatalogEntry::cursor);
        Ok(Page { next: page.next.or(searched_to), items: page.items })
    }

    async fn uses(
        &self,
        organization: OrganizationId,
        guid: ResourceGuid,
        limit: u64,
    ) -> Result<Vec<ResourceUse>, StoreError> {
        let queues = uses::<queue::Entity>(organization, guid).limit(limit).into_model::<Use>();
        let mut found = self.db.read(queues.all(&self.db.reads)).await?;
        let rest = limit.saturating_sub(found.len() as u64);
        if rest > 0 {
            let jobs = uses::<job::Entity>(organization, guid).limit(rest).into_model::<Use>();
            found.extend(self.db.read(jobs.all(&self.db.reads)).await?);
        }
        let kind = |word: &str| if word == queue::Model::WORD { UseKind::Queue } else { UseKind::Job };
        Ok(found.into_iter().map(|one| ResourceUse { kind: kind(&one.kind), guid: one.guid, name: one.name }).collect())
    }
}

/// What a list holds of a resource.
#[derive(FromQueryResult)]
struct Row {
    organization_id: i64,
    guid: Uuid,
    resource_type: String,
    name: String,
    name_sort: String,
    domain: String,
    content_size: i64,
    checksum: String,
    modified_at: i64,
}

impl Row {
    fn entry(self) -> Result<CatalogEntry, StoreError> {
        let guid = ResourceGuid::from(self.guid);
        let owner = Owner { what: "resource", id: &guid };
        Ok(CatalogEntry {
            organization: OrganizationId(self.organization_id),
            guid,
            resource_type: owner.need(ResourceType::new(&self.resource_type))?,
            name: self.name,
            sort_key: self.name_sort,
            domain: owner.need(Domain::parse(&self.domain))?,
            size: owner.size(self.content_size)?,
            checksum: owner.checksum(&self.checksum)?,
            modified: Timestamp::from_micros(self.modified_at),
        })
    }
}

fn key() -> Expr {
    Expr::tuple([Column::NameSort, Column::OrganizationId, Column::Guid].map(ColumnTrait::into_expr))
}

fn key_of(cursor: &CatalogCursor) -> Expr {
    let CatalogCursor { sort_key, organization, guid } = cursor;
    Expr::tuple([sort_key.as_str().into(), organization.0.into(), guid.as_uuid().into()])
}

/// Whether the name holds a folded text.
fn holds(name: &Folded) -> Expr {
    let mut pattern = String::from("%");
    for character in name.as_str().chars() {
        if matches!(character, '%' | '_' | ESCAPE) {
            pattern.push(ESCAPE);
        }
        pattern.push(character);
    }
    pattern.push('%');
    Expr::col(Column::NameSort).like(LikeExpr::new(pattern).escape(ESCAPE))
}

fn columns() -> Select<Entity> {
    Entity::find().select_only().columns([
        Column::OrganizationId,
        Column::Guid,
        Column::ResourceType,
        Column::Name,
        Column::NameSort,
        Column::Domain,
        Column::ContentSize,
        Column::Checksum,
        Column::ModifiedAt,
    ])
}

/// The resources of a domain in the order of the list, without the search.
fn in_order(filter: &CatalogFilter, domain: Domain, after: Option<&CatalogCursor>) -> Select<Entity> {
    columns()
        .filter(Column::Domain.eq(domain.as_str()))
        .apply_if(filter.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
        .apply_if(filter.resource_type.as_ref(), |select, wanted| {
            select.filter(is_text("type_folded", wanted.as_str()))
        })
        .apply_if(after, |select, after| select.filter(key().gt(key_of(after))))
        .order_by_asc(Column::NameSort)
        .order_by_asc(Column::OrganizationId)
        .order_by_asc(Column::Guid)
}

/// The resources of a GUID, one of each organization at most.
fn of_guid(filter: &CatalogFilter, guid: ResourceGuid, after: Option<&CatalogCursor>) -> Select<Entity> {
    columns()
        .filter(Column::Guid.eq(guid.as_uuid()))
        .apply_if(filter.organization, |select, id| select.filter(Column::OrganizationId.eq(id.0)))
        .apply_if(filter.domain, |select, domain| select.filter(Column::Domain.eq(domain.as_str())))
        .apply_if(filter.resource_type.as_ref(), |select, wanted| select.filter(Column::TypeFolded.eq(wanted.as_str())))
        .apply_if(after, |select, after| select.filter(key().gt(key_of(after))))
        .order_by_asc(Column::NameSort)
        .order_by_asc(Column::OrganizationId)
        .order_by_asc(Column::Guid)
}

#[derive(FromQueryResult)]
struct Use {
    kind: String,
    guid: Uuid,
    name: String,
}

/// The records of one kind that use a resource and aren't retired, by GUID.
fn uses<E>(organization: OrganizationId, guid: ResourceGuid) -> Select<resource_use::Entity>
where
    E: EntityTrait,
    E::Model: Record<Entity = E>,
{
    let to_record: RelationDef =
        resource_use::Entity::belongs_to(E::default()).from(resource_use::Column::RecordGuid).to(E::Model::GUID).into();
    resource_use::Entity::find()
        .select_only()
        .column(resource_use::Column::Kind)
        .column_as(resource_use::Column::RecordGuid, "guid")
        .column(E::Model::NAME)
        .join(JoinType::InnerJoin, to_record)
        .filter(resource_use::Column::OrganizationId.eq(organization.0))
        .filter(resource_use::Column::ResourceGuid.eq(guid.as_uuid()))
        .filter(resource_use::Column::Kind.eq(E::Model::WORD))
        .filter(E::Model::is_live())
        .order_by_asc(resource_use::Column::RecordGuid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;
    use domain::testing::resource_guid;

    #[tokio::test]
    async fn lists_of_resources_are_read_in_the_order_of_an_index() {
        let after =
            CatalogCursor { sort_key: "name 7".to_owned(), organization: OrganizationId(2), guid: resource_guid(1) };
        let (acme, label) = (Some(OrganizationId(1)), Some(Folded::of("type 1")));
        for engine in engines().await {
            engine.fill().await;
            for (organization, resource_type, indexes) in [
                (None, None, ["resource_catalog_by_name", "resource_catalog_by_name"]),
                (None, label.clone(), ["resource_catalog_by_type", "resource_catalog_by_type"]),
                (acme, None, ["resource_by_name", "resource_catalog_by_name"]),
                (acme, label.clone(), ["resource_by_type", "resource_catalog_by_type"]),
            ] {
                let filter = CatalogFilter { organization, resource_type, ..CatalogFilter::default() };
                for after in [None, Some(&after)] {
                    let select = in_order(&filter, Domain::Private, after).limit(51);
                    let plan = engine.plan(select.build(engine.db().backend)).await;
                    let is_used = indexes.iter().any(|index| plan.contains(index));
                    assert!(is_used, "{} uses none of {indexes:?}:\n{plan}", engine.name);
                    for sign in ["Seq Scan", "SCAN ", "Sort", "TEMP B-TREE"] {
                        assert!(!plan.contains(sign), "{} does too much:\n{plan}", engine.name);
                    }
                }
            }
            let everywhere = CatalogFilter::default();
            let plan = engine.plan(of_guid(&everywhere, resource_guid(1), None).build(engine.db().backend)).await;
            assert!(plan.contains("resource_anywhere"), "{}:\n{plan}", engine.name);
            let queues = uses::<queue::Entity>(OrganizationId(1), resource_guid(1)).limit(51);
            let plan = engine.plan(queues.build(engine.db().backend)).await;
            assert!(plan.contains("resource_use_of_resource"), "{}:\n{plan}", engine.name);
        }
    }

    #[tokio::test]
    async fn a_search_goes_on_where_a_page_stopped_to_look() {
        for engine in engines().await {
            engine.fill().await;
            let catalog = SqlResourceCatalog { searched: 100, ..engine.database.resource_catalog() };
            let search = Some(CatalogSearch::Name(Folded::of("NAME 77")));
            let filter = CatalogFilter { search, ..CatalogFilter::default() };
            let (mut found, mut pages, mut after) = (Vec::new(), 0, None);
            loop {
                let page = catalog.page(&filter, &PageRequest { after, limit: 5 }).await.unwrap();
                found.extend(page.items.into_iter().map(|entry| entry.name));
                pages += 1;
                after = page.next;
                if after.is_none() {
                    break;
                }
            }
            assert!(pages > 10, "{}: {pages}", engine.name);
            let expected = ["Name 77".to_owned()].into_iter().chain((770..780).map(|number| format!("Name {number}")));
            assert_eq!(found, expected.collect::<Vec<_>>(), "{}", engine.name);
        }
    }
}
