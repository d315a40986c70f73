//! Whether a text holds another one, letters without case where the engine knows how.

use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

/// Whether `column` holds this text. `SQLite` folds ASCII only.
pub(crate) fn holds(column: Expr, text: &str, backend: DbBackend) -> Expr {
    let text = if backend == DbBackend::Postgres { text.to_lowercase() } else { text.to_ascii_lowercase() };
    let pattern: String = text
        .chars()
        .flat_map(|character| if "%_\\".contains(character) { vec!['\\', character] } else { vec![character] })
        .collect();
    Expr::from(Func::lower(column)).like(LikeExpr::new(format!("%{pattern}%")).escape('\\'))
}
