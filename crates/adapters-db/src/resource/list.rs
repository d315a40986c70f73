//! The list of an organization's resources, by the first characters of the name, then GUID (decision T19).
//!
//! A list is read by one statement, so that it is a snapshot: a resource that is renamed meanwhile is in it once. The
//! database is read at its own speed, whatever the speed of the client. What exceeds one page waits in an unnamed
//! temporary file (ADR 60).

use crate::connections::Connections;
use crate::convert::Owner;
use crate::entity::resource::{Column, Entity};
use crate::error::unavailable;
use crate::page::{BUDGET, TIMEOUT_FACTOR};
use crate::text_head::{head, head_of};
use domain::caller::OrganizationId;
use domain::error::StoreError;
use domain::guid::ResourceGuid;
use domain::resource::{ListFilter, ResourceListItem, ResourceType};
use domain::text::Folded;
use futures_util::stream::{self, BoxStream};
use futures_util::{Stream, StreamExt, TryStreamExt};
use sea_orm::sea_query::ExprTrait;
use sea_orm::{
    ColumnTrait, DbErr, EntityTrait, FromQueryResult, QueryFilter, QueryOrder, QueryResult, QuerySelect, QueryTrait,
    Select, StreamTrait,
};
use std::collections::BTreeSet;
use std::fs::File;
use std::future::ready;
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::sync::Arc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use uuid::Uuid;

/// Most types in a query. If more are given, the query reads all resources, and this process compares the types.
const MAX_TYPES: usize = 16;

type Types = BTreeSet<Folded>;

pub(super) fn list(
    db: Arc<Connections>,
    organization: OrganizationId,
    filter: ListFilter,
) -> BoxStream<'static, Result<ResourceListItem, StoreError>> {
    let types: Option<Types> = filter.types.map(|types| types.into_iter().collect());
    let (asked, compared) = match types {
        Some(types) if types.len() > MAX_TYPES => (None, Some(types)),
        types => (types, None),
    };
    let select = select(organization, filter.domain.as_str(), asked.as_ref());
    let start = async move { read(&db, select, compared.as_ref()).await };
    stream::once(start).try_flatten().and_then(|row| ready(row.item())).boxed()
}

fn select(organization: OrganizationId, domain: &str, types: Option<&Types>) -> Select<Entity> {
    let of_types = |select: Select<Entity>, types: &Types| {
        select
            .filter(head_of("type_folded").is_in(types.iter().map(|name| head(name.as_str()))))
            .filter(Column::TypeFolded.is_in(types.iter().map(Folded::as_str)))
    };
    Entity::find()
        .select_only()
        .columns([Column::Guid, Column::ResourceType, Column::Checksum, Column::Name])
        .filter(Column::OrganizationId.eq(organization.0))
        .filter(Column::Domain.eq(domain))
        .apply_if(types, of_types)
        .order_by_asc(Column::NameSort)
        .order_by_asc(Column::Guid)
}

/// What a list holds of a resource.
#[derive(Debug, FromQueryResult)]
struct Row {
    guid: Uuid,
    resource_type: String,
    checksum: String,
    name: String,
}

impl Row {
    fn bytes(&self) -> usize {
        size_of::<Self>() + self.resource_type.len() + self.checksum.len() + self.name.len()
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

/// Reads all rows from the database before the first one is returned. No connection is held afterwards.
async fn read(
    db: &Connections,
    select: Select<Entity>,
    types: Option<&Types>,
) -> Result<BoxStream<'static, Result<Row, StoreError>>, StoreError> {
    let permit = db.read_limit.acquire().await?;
    let mut rows = db.outcome(db.in_time(db.reads.stream_raw(select.build(db.backend))).await?)?;
    let mut page = in_time(db, next_page(&mut rows, types)).await?;
    if page.is_last {
        let _ = permit.record(Ok::<_, DbErr>(()));
        return Ok(stream::iter(page.rows.into_iter().map(Ok)).boxed());
    }
    let mut spool = blocking(Spool::new).await?;
    loop {
        let (written, is_last) = (page.rows, page.is_last);
        spool = blocking(move || spool.append(&written)).await?;
        if is_last {
            let _ = permit.record(Ok::<_, DbErr>(()));
            return spool_rows(spool).await;
        }
        page = in_time(db, next_page(&mut rows, types)).await?;
    }
}

async fn in_time<T>(db: &Connections, page: impl Future<Output = Result<T, DbErr>>) -> Result<T, StoreError> {
    let page = timeout(db.timeout * TIMEOUT_FACTOR, page).await;
    db.outcome(page.map_err(|_| unavailable("the database didn't answer in time"))?)
}

struct Page {
    rows: Vec<Row>,
    is_last: bool,
}

/// Up to [`BUDGET`] bytes of rows, only of `types` if they are given.
async fn next_page(
    rows: &mut (impl Stream<Item = Result<QueryResult, DbErr>> + Unpin),
    types: Option<&Types>,
) -> Result<Page, DbErr> {
    let (mut page, mut bytes) = (Vec::new(), 0);
    while bytes < BUDGET {
        let Some(row) = rows.try_next().await? else {
            return Ok(Page { rows: page, is_last: true });
        };
        let row = Row::from_query_result(&row, "")?;
        if types.is_none_or(|types| types.contains(&Folded::of(&row.resource_type))) {
            bytes += row.bytes();
            page.push(row);
        }
    }
    Ok(Page { rows: page, is_last: false })
}

/// Rows in an unnamed temporary file, each a line of JSON.
struct Spool(BufWriter<File>);

impl Spool {
    fn new() -> io::Result<Self> {
        Ok(Self(BufWriter::new(tempfile::tempfile()?)))
    }

    fn append(mut self, rows: &[Row]) -> io::Result<Self> {
        for row in rows {
            let fields = (row.guid.to_string(), &row.resource_type, &row.checksum, &row.name);
            serde_json::to_writer(&mut self.0, &fields)?;
            self.0.write_all(b"\n")?;
        }
        Ok(self)
    }

    fn rewind(self) -> io::Result<BufReader<File>> {
        let mut file = self.0.into_inner()?;
        file.rewind()?;
        Ok(BufReader::new(file))
    }
}

/// The rows of a spool, page by page.
async fn spool_rows(spool: Spool) -> Result<BoxStream<'static, Result<Row, StoreError>>, StoreError> {
    let file = blocking(move || spool.rewind()).await?;
    let pages = stream::try_unfold(file, |mut file| async {
        let (rows, file) = blocking(move || Ok((spooled_page(&mut file)?, file))).await?;
        let rows = (!rows.is_empty()).then(|| stream::iter(rows.into_iter().map(Ok)));
        Ok::<_, StoreError>(rows.map(|rows| (rows, file)))
    });
    Ok(pages.try_flatten().boxed())
}

fn spooled_page(file: &mut impl BufRead) -> io::Result<Vec<Row>> {
    let (mut rows, mut bytes, mut line) = (Vec::new(), 0, String::new());
    while bytes < BUDGET && file.read_line(&mut line)? > 0 {
        let (guid, resource_type, checksum, name) = serde_json::from_str::<(String, String, String, String)>(&line)?;
        let guid = Uuid::parse_str(&guid).map_err(io::Error::other)?;
        let row = Row { guid, resource_type, checksum, name };
        bytes += row.bytes();
        rows.push(row);
        line.clear();
    }
    Ok(rows)
}

async fn blocking<T: Send + 'static>(work: impl FnOnce() -> io::Result<T> + Send + 'static) -> Result<T, StoreError> {
    spawn_blocking(work).await.map_err(StoreError::other)?.map_err(StoreError::other)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::engines;

    #[tokio::test]
    async fn a_list_is_read_in_the_order_of_an_index() {
        let label = Types::from([Folded::of("type 1")]);
        for engine in engines().await {
            engine.fill().await;
            for (types, index) in [
                (None, "resource_by_name|resource_catalog_by_name"),
                (Some(&label), "resource_by_type|resource_catalog_by_type"),
            ] {
                let select = select(OrganizationId(1), "Private", types);
                engine.assert_uses(index, select.build(engine.db().backend)).await;
            }
        }
    }

    #[tokio::test]
    async fn rows_come_out_of_a_spool_as_they_went_in() {
        let row = |number: u32| Row {
            guid: Uuid::from_u128(number.into()),
            resource_type: "Labël \"1\"".to_owned(),
            checksum: String::new(),
            name: format!("line\nbreak \\ \u{2028} 🖨 {number} {}", "n".repeat(1000)),
        };
        let spool = (0..3000).fold(Spool::new().unwrap(), |spool, number| spool.append(&[row(number)]).unwrap());
        let rows: Vec<Row> = spool_rows(spool).await.unwrap().try_collect().await.unwrap();
        assert_eq!(rows.len(), 3000, "three pages");
        for (number, found) in (0..).zip(&rows) {
            assert_eq!(format!("{found:?}"), format!("{:?}", row(number)));
        }
    }
}
