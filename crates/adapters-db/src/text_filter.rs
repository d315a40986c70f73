//! A filter for texts that hold another text, without case as far as the database engine supports it.

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

/// A condition: `column` holds `text`, without case. `SQLite` ignores the case of ASCII letters only.
pub(crate) fn holds(column: Expr, text: &str, backend: DbBackend) -> Expr {
    let text = if backend == DbBackend::Postgres { text.to_lowercase() } else { text.to_ascii_lowercase() };
    let pattern: String = text
        .chars()
        .flat_map(|character| if "%_\\".contains(character) { vec!['\\', character] } else { vec![character] })
        .collect();
    Expr::from(Func::lower(column)).like(LikeExpr::new(format!("%{pattern}%")).escape('\\'))
}
