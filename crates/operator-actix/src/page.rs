//! Pages of lists: `limit` and `cursor` of a query, `items` and `next` of an answer.

use domain::operator::OperatorError;
use domain::page::{Page, PageRequest};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Items of a page if it isn't said, and at most.
const DEFAULT_LIMIT: u64 = 50;
const MAX_LIMIT: u64 = 500;

/// Which page of a list.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct PageQuery {
    /// Items of the page, at most.
    #[param(value_type = Option<u16>, minimum = 1, maximum = 500, default = 50)]
    pub limit: Option<String>,
    /// `next` of the page before. It stays valid while items come and go.
    pub cursor: Option<String>,
}

impl PageQuery {
    /// The page that is asked for, whose cursors `read` reads.
    ///
    /// # Errors
    /// [`OperatorError::Invalid`]
    pub fn request<K>(&self, read: impl Fn(&str) -> Option<K>) -> Result<PageRequest<K>, OperatorError> {
        let limit = match self.limit.as_deref() {
            None => DEFAULT_LIMIT,
            Some(text) => {
                let number = text.parse().ok().filter(|limit| (1..=MAX_LIMIT).contains(limit));
                number.ok_or_else(|| OperatorError::invalid("limit", "must be a whole number from 1 to 500"))?
            }
        };
        let unknown = || OperatorError::invalid("cursor", "must be what `next` of a page said");
        let after = self.cursor.as_deref().map(|text| read(text).ok_or_else(unknown)).transpose()?;
        Ok(PageRequest { after, limit })
    }
}

/// A page of a list.
#[derive(Debug, Serialize, ToSchema)]
pub(crate) struct PageBody<T> {
    pub(crate) items: Vec<T>,
    /// The cursor of the next page; null on the last one.
    pub(crate) next: Option<String>,
}

impl<T> PageBody<T> {
    /// The answer of a page.
    pub(crate) fn of<R, K>(page: Page<R, K>, item: impl Fn(R) -> T, cursor: impl Fn(K) -> String) -> Self {
        Self { items: page.items.into_iter().map(item).collect(), next: page.next.map(cursor) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked(limit: Option<&str>, cursor: Option<&str>) -> Result<PageRequest<i64>, OperatorError> {
        let query = PageQuery { limit: limit.map(str::to_owned), cursor: cursor.map(str::to_owned) };
        query.request(|text| text.parse().ok())
    }

    #[test]
    fn a_page_has_fifty_items_unless_the_query_says_otherwise() {
        assert_eq!(asked(None, None).unwrap(), PageRequest { after: None, limit: 50 });
        assert_eq!(asked(Some("500"), Some("7")).unwrap(), PageRequest { after: Some(7), limit: 500 });
        for limit in ["0", "501", "-1", "ten", ""] {
            assert!(matches!(asked(Some(limit), None), Err(OperatorError::Invalid { field: "limit", .. })), "{limit}");
        }
        assert!(matches!(asked(None, Some("x")), Err(OperatorError::Invalid { field: "cursor", .. })));
    }
}
