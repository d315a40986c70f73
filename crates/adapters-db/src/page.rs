//! Lists of any length, read in pages: between two pages no connection is held, and no page takes
//! more memory than its budget and one row.

use crate::connections::Connections;
use crate::error::unavailable;
use domain::error::StoreError;
use futures_util::stream::{self, BoxStream};
use futures_util::{StreamExt, TryStreamExt};
use sea_orm::{FromQueryResult, Statement, StreamTrait};
use std::cmp::Ordering;
use std::collections::BinaryHeap;
use tokio::time::timeout;

/// Bytes of text after which a page ends.
pub(crate) const BUDGET: usize = 1024 * 1024;

/// Rows of the first page, and at most. The first is small for readers of short lists.
const FIRST: u64 = 128;
const MOST: u64 = 1024;

/// A page may have to pass over many rows that don't match, so it may take this many times as long as a lookup.
pub(crate) const TIMEOUT_FACTOR: u32 = 12;

/// A row and the memory that it takes.
pub(crate) trait PageRow: FromQueryResult {
    /// Bytes of its texts.
    fn bytes(&self) -> usize;
}

/// Rows in the order of the list.
pub(crate) struct Page<R> {
    pub(crate) rows: Vec<R>,
    /// Whether no row follows.
    pub(crate) last: bool,
}

/// How pages follow each other: as many rows as fit the budget.
pub(crate) struct Pace {
    /// Rows to ask for.
    pub(crate) limit: u64,
    budget: usize,
    /// Whether a page was read already: a list that has begun must not fail for load.
    has_begun: bool,
}

impl Pace {
    pub(crate) fn new(budget: usize) -> Self {
        Self { limit: FIRST, budget, has_begun: false }
    }

    /// Reads the page of `statement`, whose limit is ours.
    pub(crate) async fn read<R: PageRow>(
        &mut self,
        db: &Connections,
        statement: Statement,
    ) -> Result<Page<R>, StoreError> {
        let limit = db.timeout * TIMEOUT_FACTOR;
        let permit = if self.has_begun {
            db.read_limit.acquire_to_continue(limit).await?
        } else {
            db.read_limit.acquire().await?
        };
        let read = timeout(limit, self.read_rows(db, statement))
            .await
            .map_err(|_| unavailable("the database didn't answer in time"))?;
        let (rows, full) = db.outcome(permit.record(read))?;
        self.has_begun = true;
        let count = rows.len() as u64;
        let last = !full && count < self.limit;
        // Rows that were asked for and not taken are work in vain: the next page asks for fewer.
        self.limit = if full { count } else { (self.limit * 2).min(MOST) };
        Ok(Page { rows, last })
    }

    async fn read_rows<R: PageRow>(
        &self,
        db: &Connections,
        statement: Statement,
    ) -> Result<(Vec<R>, bool), sea_orm::DbErr> {
        let mut stream = db.reads.stream_raw(statement).await?;
        let mut rows = Vec::new();
        let mut bytes = 0;
        while let Some(row) = stream.try_next().await? {
            let row = R::from_query_result(&row, "")?;
            bytes += row.bytes();
            rows.push(row);
            if bytes >= self.budget {
                return Ok((rows, true));
            }
        }
        Ok((rows, false))
    }
}

/// Rows in the order of their list.
pub(crate) type Rows<R> = BoxStream<'static, Result<R, StoreError>>;

/// The way through a list, page by page.
pub(crate) trait Pages: Send + Sized + 'static {
    type Row: Send + 'static;

    /// The rows of the next page, perhaps none of them; `None` at the end.
    fn next_page(&mut self) -> impl Future<Output = Result<Option<Vec<Self::Row>>, StoreError>> + Send;

    /// The whole list; a page is read when its first row is asked for.
    fn rows(self) -> Rows<Self::Row> {
        let pages = stream::try_unfold(self, |mut scan| async {
            let page = scan.next_page().await?;
            Ok::<_, StoreError>(page.map(|rows| (stream::iter(rows.into_iter().map(Ok)), scan)))
        });
        pages.try_flatten().boxed()
    }
}

/// Merges lists, each of which is in `order`, into one that is. Each list holds one row and its page in memory.
pub(crate) fn merged<R: Send + 'static>(mut lists: Vec<Rows<R>>, order: fn(&R, &R) -> Ordering) -> Rows<R> {
    if lists.len() == 1 {
        return lists.remove(0);
    }
    let start = async move {
        let mut fronts = BinaryHeap::with_capacity(lists.len());
        for mut list in lists {
            if let Some(row) = list.try_next().await? {
                fronts.push(Front { row, list, order });
            }
        }
        let rows = stream::try_unfold(fronts, |mut fronts: BinaryHeap<Front<R>>| async {
            let Some(Front { row, mut list, order }) = fronts.pop() else {
                return Ok(None);
            };
            if let Some(following) = list.try_next().await? {
                fronts.push(Front { row: following, list, order });
            }
            Ok::<_, StoreError>(Some((row, fronts)))
        });
        Ok::<_, StoreError>(rows)
    };
    stream::once(start).try_flatten().boxed()
}

/// The next row of a list, and the rest of the list. The greatest is the one whose row comes first.
struct Front<R> {
    row: R,
    list: Rows<R>,
    order: fn(&R, &R) -> Ordering,
}

impl<R> Ord for Front<R> {
    fn cmp(&self, other: &Self) -> Ordering {
        (self.order)(&other.row, &self.row)
    }
}

impl<R> PartialOrd for Front<R> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<R> PartialEq for Front<R> {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl<R> Eq for Front<R> {}
