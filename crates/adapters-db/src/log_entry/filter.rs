//! The text filters of a log list as conditions on columns (decision L5).

use domain::log_entry::Pattern;
use sea_orm::sea_query::{Expr, ExprTrait, LikeExpr};

/// Longest text and most stars of a LIKE pattern: a database may refuse a longer one, and many stars make it slow. The
/// rest of the pattern is compared in this process.
const LONGEST: usize = 1000;
const MOST_STARS: usize = 8;

/// Escapes what LIKE takes for more than itself.
const ESCAPE: char = '!';

/// What a pattern demands of a column.
pub(super) struct Condition {
    /// What every match fulfils; `None` if all texts do.
    pub(super) necessary: Option<Expr>,
    /// Whether it is all that a match has to fulfil.
    pub(super) sufficient: bool,
}

/// How a column is asked for a whole text.
pub(super) type IsText = fn(&'static str, &str) -> Expr;

/// The condition of a column without an index. That of an indexed column would make the planner expect too few rows.
pub(super) fn is_plain_text(column: &'static str, text: &str) -> Expr {
    Expr::col(column).eq(text)
}

/// The condition of `pattern` on the folded text in `column`.
pub(super) fn condition(column: &'static str, is_text: IsText, pattern: &Pattern) -> Condition {
    match pattern.pieces() {
        [whole] => Condition { necessary: Some(is_text(column, whole)), sufficient: true },
        pieces => {
            let (like, sufficient) = like(pieces);
            let expr = || Expr::col(column).like(LikeExpr::new(&like).escape(ESCAPE));
            Condition { necessary: (like != "%").then(expr), sufficient }
        }
    }
}

/// The LIKE pattern of texts between stars, and whether it holds all of them.
fn like(pieces: &[String]) -> (String, bool) {
    let mut like = String::new();
    let mut room = LONGEST;
    let mut stars = 0;
    for (place, piece) in pieces.iter().enumerate() {
        let is_end = place == 0 || place + 1 == pieces.len();
        if piece.is_empty() && !is_end {
            continue;
        }
        if place > 0 {
            like.push('%');
            stars += 1;
        }
        if stars > MOST_STARS {
            return (like, false);
        }
        let held = &piece[..piece.floor_char_boundary(room)];
        room -= held.len();
        for character in held.chars() {
            if matches!(character, '%' | '_' | ESCAPE) {
                like.push(ESCAPE);
            }
            like.push(character);
        }
        if held.len() < piece.len() {
            like.push('%');
            return (like, false);
        }
    }
    (like, true)
}

#[cfg(test)]
mod tests {
    use super::like;
    use domain::log_entry::Pattern;

    fn of(pattern: &str) -> (String, bool) {
        like(Pattern::new(pattern).pieces())
    }

    #[test]
    fn stars_are_runs_of_any_characters_and_nothing_else_is_special() {
        assert_eq!(of("a*b"), ("a%b".to_owned(), true));
        assert_eq!(of("*100%_!*"), ("%100!%!_!!%".to_owned(), true));
        assert_eq!(of("a***b"), ("a%b".to_owned(), true));
        assert_eq!(of("*"), ("%".to_owned(), true));
        assert_eq!(of("***"), ("%".to_owned(), true));
    }

    #[test]
    fn a_long_pattern_is_cut_to_one_that_every_match_fulfils() {
        let (like, whole) = of(&format!("{}*x", "é".repeat(2000)));
        assert_eq!((like, whole), (format!("{}%", "é".repeat(500)), false));
        let (like, whole) = of(&"a*".repeat(50));
        assert_eq!((like, whole), ("a%".repeat(8) + "a%", false));
        assert!(!of(&format!("*{}", "x".repeat(1001))).1);
        assert!(of(&format!("*{}", "x".repeat(1000))).1);
    }
}
