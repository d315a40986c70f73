//! Pages of a list by keyset: a page begins after a key, so that it stays right while rows come and go.

/// Which page of a list is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageRequest<K> {
    /// The key of the last row before the page; `None` for the first page.
    pub after: Option<K>,
    /// Rows of the page, at most.
    pub limit: u64,
}

impl<K> PageRequest<K> {
    /// The rows to read: one more than the page has shows whether another page follows.
    #[must_use]
    pub fn rows(&self) -> u64 {
        self.limit.saturating_add(1)
    }

    /// The page of the rows that were read.
    #[must_use]
    pub fn page<T>(&self, mut rows: Vec<T>, key: impl Fn(&T) -> K) -> Page<T, K> {
        let limit = usize::try_from(self.limit).unwrap_or(usize::MAX);
        let is_last = rows.len() <= limit;
        rows.truncate(limit);
        let next = if is_last { None } else { rows.last().map(key) };
        Page { items: rows, next }
    }
}

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page<T, K> {
    pub items: Vec<T>,
    /// The key after which the next page begins; `None` on the last page.
    pub next: Option<K>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_says_where_the_next_one_begins() {
        let asked = PageRequest { after: Some(3), limit: 2 };
        assert_eq!(asked.rows(), 3);
        assert_eq!(asked.page(vec![4, 5, 6], |row| *row), Page { items: vec![4, 5], next: Some(5) });
        assert_eq!(asked.page(vec![4, 5], |row| *row), Page { items: vec![4, 5], next: None });
        assert_eq!(asked.page(Vec::new(), |row| *row), Page { items: Vec::<i32>::new(), next: None });
    }
}
