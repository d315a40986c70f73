//! A filter for texts that hold another text, without case as far as the database engine supports it.

use domain::text::cut;
use sea_orm::DbBackend;
use sea_orm::sea_query::{Expr, ExprTrait, Func, LikeExpr};

/// Characters of a text that are searched for.
const MAX_LENGTH: usize = 200;

/// A condition: `column` holds `text`, without case. `SQLite` ignores the case of ASCII letters only.
pub(crate) fn holds(column: Expr, text: &str, backend: DbBackend) -> Expr {
    // An engine refuses very long patterns.
    let text = &cut(text, MAX_LENGTH);
    let text = if backend == DbBackend::Postgres { text.to_lowercase() } else { text.to_ascii_lowercase() };
    let pattern: String = text
        .chars()
        .flat_map(|character| if "%_\\".contains(character) { vec!['\\', character] } else { vec![character] })
        .collect();
    Expr::from(Func::lower(column)).like(LikeExpr::new(format!("%{pattern}%")).escape('\\'))
}

#[cfg(test)]
mod tests {
    use super::*;
    use sea_orm::sea_query::{Query, SqliteQueryBuilder};

    #[test]
    fn a_pattern_is_no_longer_than_an_engine_takes() {
        let condition = holds(Expr::col("name"), &"ä%".repeat(30_000), DbBackend::Sqlite);
        assert!(Query::select().expr(condition).to_string(SqliteQueryBuilder).len() < 1_000);
    }
}
