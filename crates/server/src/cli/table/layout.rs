//! How wide the columns of a table are on a terminal.

use super::Kind;

/// Blanks after a column.
pub(super) const GAP: u16 = 2;

/// The same as a number of characters.
const BLANKS: usize = GAP as usize;

/// Characters that a text of each kind gets at least, where it has so many.
const LEAST_TEXT: usize = 12;
const LEAST_WIDE: usize = 32;

/// Characters that a text gets before an optional column is shown.
const USUAL_TEXT: usize = 24;

/// The width of each column on a terminal of `room` columns, given its kind and the width of its longest text; `None` where
/// an optional column finds no room. Optional columns are shown in their order, as many as fit.
pub(super) fn widths(kinds: &[Kind], contents: &[usize], room: usize) -> Vec<Option<usize>> {
    let least = |column: usize| match kinds[column] {
        Kind::Whole => contents[column],
        Kind::Text => contents[column].min(LEAST_TEXT),
        Kind::Wide | Kind::Cut => contents[column].min(LEAST_WIDE),
        Kind::Optional => contents[column].min(USUAL_TEXT),
        Kind::LeftOut => 0,
    };
    let of_kind = |wanted: &'static [Kind]| (0..kinds.len()).filter(move |column| wanted.contains(&kinds[*column]));
    let mut widths = vec![None; kinds.len()];
    // The last gap may lie outside of the terminal.
    let mut free = room + BLANKS;
    let needed: usize =
        of_kind(&[Kind::Whole, Kind::Text, Kind::Wide, Kind::Cut]).map(|column| least(column) + BLANKS).sum();
    let mut missing = needed.saturating_sub(free);
    for column in of_kind(&[Kind::Whole, Kind::Text, Kind::Wide, Kind::Cut]) {
        widths[column] = Some(least(column));
    }
    // On a narrow terminal the wide texts shrink first, then all.
    for (kinds, bound) in [(&[Kind::Wide, Kind::Cut][..], LEAST_TEXT), (&[Kind::Text, Kind::Wide, Kind::Cut][..], 1)] {
        while missing > 0
            && let Some(width) = of_kind(kinds).filter_map(|column| widths[column]).max().filter(|width| *width > bound)
            && let Some(column) = of_kind(kinds).find(|column| widths[*column] == Some(width))
        {
            widths[column] = Some(width - 1);
            missing -= 1;
        }
    }
    free = free.saturating_sub(needed);
    grow(&mut widths, &mut free, of_kind(&[Kind::Text]), |column| contents[column].min(USUAL_TEXT));
    for column in of_kind(&[Kind::Optional]) {
        let Some(rest) = free.checked_sub(least(column) + BLANKS) else {
            break;
        };
        (widths[column], free) = (Some(least(column)), rest);
    }
    grow(&mut widths, &mut free, of_kind(&[Kind::Wide, Kind::Cut]), |column| contents[column]);
    grow(&mut widths, &mut free, of_kind(&[Kind::Text, Kind::Optional]), |column| contents[column]);
    widths
}

/// Widens the columns that are shown, one after the other, as far as there is room.
fn grow(
    widths: &mut [Option<usize>],
    free: &mut usize,
    columns: impl Iterator<Item = usize>,
    most: impl Fn(usize) -> usize,
) {
    for column in columns {
        if let Some(width) = &mut widths[column] {
            let more = most(column).saturating_sub(*width).min(*free);
            *width += more;
            *free -= more;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KINDS: [Kind; 5] = [Kind::Whole, Kind::Optional, Kind::Text, Kind::Optional, Kind::Wide];

    #[test]
    fn optional_columns_are_shown_in_their_order_as_far_as_there_is_room() {
        let shown = |room| widths(&KINDS, &[20, 10, 12, 6, 90], room);
        assert_eq!(shown(68), [Some(20), None, Some(12), None, Some(32)]);
        assert_eq!(shown(79), [Some(20), None, Some(12), None, Some(43)], "the wide text takes the rest");
        assert_eq!(shown(80), [Some(20), Some(10), Some(12), None, Some(32)]);
        assert_eq!(shown(88), [Some(20), Some(10), Some(12), Some(6), Some(32)]);
        assert_eq!(shown(500), [Some(20), Some(10), Some(12), Some(6), Some(90)]);
    }

    #[test]
    fn on_a_narrow_terminal_wide_texts_shrink_first_and_whole_ones_never() {
        let shown = |room| widths(&KINDS, &[20, 10, 40, 6, 90], room);
        assert_eq!(shown(60), [Some(20), None, Some(12), None, Some(24)]);
        assert_eq!(shown(40), [Some(20), None, Some(8), None, Some(8)]);
        assert_eq!(shown(3), [Some(20), None, Some(1), None, Some(1)]);
        assert_eq!(shown(120), [Some(20), Some(10), Some(24), Some(6), Some(52)]);
    }
}
