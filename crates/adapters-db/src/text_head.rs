//! Texts of any length in indexes of limited width: an index holds the first 128 characters, and a
//! query asks for them beside the whole text.

use sea_orm::sea_query::{Expr, ExprTrait};

/// Characters of a text that are indexed.
pub(crate) const HEAD: usize = 128;

/// The indexed characters of `text`.
pub(crate) fn head(text: &str) -> &str {
    text.char_indices().nth(HEAD).map_or(text, |(end, _)| &text[..end])
}

/// Whether the index may not hold all of `text`.
pub(crate) fn fills_head(text: &str) -> bool {
    text.chars().nth(HEAD - 1).is_some()
}

/// The indexed expression of `column`, in the words of the index.
pub(crate) fn head_of(column: &str) -> Expr {
    Expr::cust(format!("substr({column}, 1, {HEAD})"))
}

/// Whether `column` is `text`, so that the index is used.
pub(crate) fn is_text(column: &'static str, text: &str) -> Expr {
    head_of(column).eq(head(text)).and(Expr::col(column).eq(text))
}
