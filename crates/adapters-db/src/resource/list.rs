//! The list of an organization's resources, by folded name, then GUID (decision T19).
//!
//! The indexes hold the first 128 characters of a name, then the GUID. That is the order of the list
//! but among names that agree in all of these characters: such a run of rows is sorted here where a
//! page holds all of it, and read in its own order where it doesn't end within a page.

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::resource::{Column, Entity};
use crate::page::{BUDGET, Pace, PageRow, Pages, merged};
use crate::text_head::{fills_head, head, head_of, is_text};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use domain::resource::{Domain, ListFilter, ResourceListItem, ResourceType};
use domain::text::Folded;
use futures_util::stream::BoxStream;
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::sea_query::{Expr, ExprTrait};
use sea_orm::{
    ColumnTrait, EntityTrait, FromQueryResult, Order, QueryFilter, QueryOrder, QuerySelect, QueryTrait, Select,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use uuid::Uuid;

/// Lists of up to this many types are merged from one ordered list of each. Longer ones pass over all
/// resources.
const MERGED: usize = 16;

pub(super) fn list(
    db: &Arc<Connections>,
    organization: OrganizationId,
    filter: ListFilter,
) -> BoxStream<'static, Result<ResourceListItem, StoreError>> {
    let domain = filter.domain;
    let rows_of = |kind, budget| Scan::new(db.clone(), organization, domain, kind, budget).rows();
    let types: Option<BTreeSet<Folded>> = filter.types.map(|types| types.into_iter().collect());
    let rows = match types {
        None => rows_of(None, BUDGET),
        Some(types) if types.len() > MERGED => {
            let listed = move |row: &Row| types.contains(&Folded::of(&row.resource_type));
            rows_of(None, BUDGET).try_filter(move |row| std::future::ready(listed(row))).boxed()
        }
        Some(types) => {
            let budget = BUDGET / types.len().max(1);
            let lists = types.into_iter().map(|kind| rows_of(Some(kind.into_string()), budget)).collect();
            merged(lists, |one, other| one.key().cmp(&other.key()))
        }
    };
    rows.and_then(|row| std::future::ready(row.item())).boxed()
}

/// What of a resource is listed, and what it is sorted by.
#[derive(Debug, FromQueryResult)]
struct Row {
    guid: Uuid,
    resource_type: String,
    checksum: String,
    name: String,
    name_folded: String,
}

impl PageRow for Row {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.resource_type.len() + self.name.len() + self.name_folded.len()
    }
}

impl Row {
    fn key(&self) -> (&str, Uuid) {
        (&self.name_folded, self.guid)
    }

    fn item(self) -> Result<ResourceListItem, StoreError> {
        let guid = ResourceGuid::from(self.guid);
        let owner = Owner { what: "resource", id: &guid };
        Ok(ResourceListItem {
            guid,
            resource_type: owner.need(ResourceType::new(&self.resource_type))?,
            checksum: owner.checksum(&self.checksum)?,
            name: self.name,
        })
    }
}

/// Where the next page begins.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Place {
    /// In the order of the index, behind these first characters of a name and this GUID.
    Behind(Option<(String, Uuid)>),
    /// Among the names that begin with `head`, behind this name and GUID.
    Within {
        head: String,
        behind: Option<(String, Uuid)>,
    },
    End,
}

/// The way through the resources of one domain and, if given, one type.
struct Scan {
    db: Arc<Connections>,
    organization: OrganizationId,
    domain: Domain,
    kind: Option<String>,
    pace: Pace,
    place: Place,
}

impl Scan {
    fn new(
        db: Arc<Connections>,
        organization: OrganizationId,
        domain: Domain,
        kind: Option<String>,
        budget: usize,
    ) -> Self {
        Self { db, organization, domain, kind, pace: Pace::new(budget), place: Place::Behind(None) }
    }

    fn all(&self) -> Select<Entity> {
        all(self.organization, self.domain, self.kind.as_deref())
    }
}

impl Pages for Scan {
    type Row = Row;

    async fn next_page(&mut self) -> Result<Option<Vec<Row>>, StoreError> {
        let select = match &self.place {
            Place::End => return Ok(None),
            Place::Behind(behind) => in_index_order(self.all(), behind.as_ref()),
            Place::Within { head, behind } => in_name_order(self.all(), head, behind.as_ref()),
        };
        let statement = select.limit(self.pace.limit).build(self.db.backend);
        let page = self.pace.read::<Row>(&self.db, statement).await?;
        let (rows, place) = match &self.place {
            Place::Within { head, .. } => within(page.rows, page.last, head),
            _ => settle(page.rows, page.last),
        };
        self.place = place;
        Ok(Some(rows))
    }
}

fn all(organization: OrganizationId, domain: Domain, kind: Option<&str>) -> Select<Entity> {
    Entity::find()
        .select_only()
        .columns([Column::Guid, Column::ResourceType, Column::Checksum, Column::Name, Column::NameFolded])
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(Column::Domain.eq(domain.as_str()))
        .apply_if(kind, |select, kind| select.filter(is_text("type_folded", kind)))
}

fn in_index_order(select: Select<Entity>, behind: Option<&(String, Uuid)>) -> Select<Entity> {
    let place = Expr::tuple([head_of("name_folded"), Expr::col(Column::Guid)]);
    select
        .apply_if(behind, |select, (head, guid)| {
            select.filter(place.gt(Expr::tuple([head.as_str().into(), (*guid).into()])))
        })
        .order_by(head_of("name_folded"), Order::Asc)
        .order_by(Column::Guid, Order::Asc)
}

fn in_name_order(select: Select<Entity>, head: &str, behind: Option<&(String, Uuid)>) -> Select<Entity> {
    let place = Expr::tuple([Expr::col(Column::NameFolded), Expr::col(Column::Guid)]);
    select
        .filter(head_of("name_folded").eq(head))
        .apply_if(behind, |select, (name, guid)| {
            select.filter(place.gt(Expr::tuple([name.as_str().into(), (*guid).into()])))
        })
        .order_by(Column::NameFolded, Order::Asc)
        .order_by(Column::Guid, Order::Asc)
}

/// The rows of a page in index order that may be answered now, in the order of the list.
fn settle(mut rows: Vec<Row>, last: bool) -> (Vec<Row>, Place) {
    if let (Some(row), false) = (rows.last(), last)
        && fills_head(&row.name_folded)
    {
        // Rows that belong between those of this run may follow on the next page.
        let open = head(&row.name_folded).to_owned();
        let settled = rows.iter().rposition(|row| head(&row.name_folded) != open).map_or(0, |place| place + 1);
        rows.truncate(settled);
        if rows.is_empty() {
            return (rows, Place::Within { head: open, behind: None });
        }
    }
    let place = match rows.last() {
        Some(row) if !last => Place::Behind(Some(index_place(row))),
        _ => Place::End,
    };
    rows.sort_by(|one, other| one.key().cmp(&other.key()));
    (rows, place)
}

/// The place in the index behind `row` and all of its run.
fn index_place(row: &Row) -> (String, Uuid) {
    let guid = if fills_head(&row.name_folded) { Uuid::max() } else { row.guid };
    (head(&row.name_folded).to_owned(), guid)
}

/// The rows of a page of names that begin with `head`.
fn within(rows: Vec<Row>, last: bool, head: &str) -> (Vec<Row>, Place) {
    let place = match rows.last() {
        Some(row) if !last => {
            Place::Within { head: head.to_owned(), behind: Some((row.name_folded.clone(), row.guid)) }
        }
        _ => Place::Behind(Some((head.to_owned(), Uuid::max()))),
    };
    (rows, place)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn a_list_is_read_in_the_order_of_an_index() {
        for engine in engines().await {
            engine.fill().await;
            let backend = engine.db().backend;
            let behind = ("name 5".to_owned(), Uuid::nil());
            for (kind, index) in [(None, "resource_by_name"), (Some("type 1"), "resource_by_type")] {
                for behind in [None, Some(&behind)] {
                    let all = all(OrganizationId(1), Domain::Private, kind);
                    engine.assert_uses(index, in_index_order(all, behind).limit(128).build(backend)).await;
                }
                let all = all(OrganizationId(1), Domain::Private, kind);
                let plan = engine.plan(in_name_order(all, "name 5", Some(&behind)).limit(128).build(backend)).await;
                assert!(plan.contains(index), "{}:\n{plan}", engine.name);
            }
        }
    }

    fn row(name: &str, guid: u128) -> Row {
        Row {
            guid: Uuid::from_u128(guid),
            resource_type: "Label".to_owned(),
            checksum: String::new(),
            name: name.to_owned(),
            name_folded: name.to_owned(),
        }
    }

    fn guids(rows: &[Row]) -> Vec<u128> {
        rows.iter().map(|row| row.guid.as_u128()).collect()
    }

    #[test]
    fn a_run_of_long_names_that_a_page_holds_whole_is_sorted() {
        let long = "n".repeat(128);
        let page = || vec![row("a", 9), row(&format!("{long}b"), 1), row(&format!("{long}a"), 2), row("z", 3)];
        let (rows, place) = settle(page(), false);
        assert_eq!(guids(&rows), [9, 2, 1, 3]);
        assert_eq!(place, Place::Behind(Some(("z".to_owned(), Uuid::from_u128(3)))));
        let (rows, place) = settle(page(), true);
        assert_eq!((guids(&rows), place), (vec![9, 2, 1, 3], Place::End));
    }

    #[test]
    fn a_run_of_long_names_that_may_go_on_is_left_to_the_next_page() {
        let long = "n".repeat(128);
        let page = vec![row("a", 9), row(&format!("{long}b"), 1), row(&format!("{long}a"), 2)];
        let (rows, place) = settle(page, false);
        assert_eq!(guids(&rows), [9]);
        assert_eq!(place, Place::Behind(Some(("a".to_owned(), Uuid::from_u128(9)))));
    }

    #[test]
    fn a_run_that_fills_a_page_is_read_in_the_order_of_names() {
        let long = "n".repeat(128);
        let page = vec![row(&format!("{long}b"), 1), row(&format!("{long}a"), 2)];
        let (rows, place) = settle(page, false);
        assert_eq!(guids(&rows), []);
        assert_eq!(place, Place::Within { head: long.clone(), behind: None });
        let page = vec![row(&format!("{long}a"), 2)];
        let (_, place) = within(page, false, &long);
        let behind = Some((format!("{long}a"), Uuid::from_u128(2)));
        assert_eq!(place, Place::Within { head: long.clone(), behind });
        let (_, place) = within(Vec::new(), true, &long);
        assert_eq!(place, Place::Behind(Some((long, Uuid::max()))));
    }
}
