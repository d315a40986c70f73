//! Texts of any length in indexes of limited width (ADR 10): an index holds the first 128 characters, and a query asks
//! for these and for the whole text.

use sea_orm::sea_query::{Expr, ExprTrait};

/// Characters of a text that are indexed.
const HEAD: usize = 128;

/// The indexed characters of `text`.
pub(crate) fn head(text: &str) -> &str {
    text.char_indices().nth(HEAD).map_or(text, |(end, _)| &text[..end])
}

/// The indexed expression of `column`. A query must spell it exactly so for its index to be used.
pub(crate) fn head_of(column: &str) -> Expr {
    Expr::cust(format!("substr({column}, 1, {HEAD})"))
}

/// Whether `column` is `text`; an index on [`head_of`] is used.
pub(crate) fn is_text(column: &'static str, text: &str) -> Expr {
    head_of(column).eq(head(text)).and(Expr::col(column).eq(text))
}
