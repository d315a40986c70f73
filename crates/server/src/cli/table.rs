//! Tables on stdout, row by row: fit to the width of a terminal, whole where somebody else reads them.

mod screen;
mod visible;

pub(super) use screen::{Screen, Tint};
pub(super) use visible::{is_order, push_visible, visible, visible_json};

use super::output::Out;
use anyhow::Result;
use std::borrow::Cow;
use std::iter;
use unicode_width::UnicodeWidthChar;

/// Rows, and bytes of them, that are looked at before the widths of the columns are settled.
const SAMPLE: usize = 100;
const SAMPLE_BYTES: usize = 256 * 1024;

/// Where lines may have any length, one long text must not push all other rows apart.
const WIDEST: usize = 60;

/// Blanks between two columns.
const GAP: usize = 2;

/// What stands before each line of a text below its row.
const INDENT: &str = "  ";

/// A column of a table.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    /// The width to which a narrow terminal may bring it; [`WHOLE`] for what is useless when it is cut.
    least: usize,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Main,
    Beside,
    Below,
}

/// The least width of a column whose texts are shown whole.
pub(super) const WHOLE: usize = usize::MAX;

impl Column {
    pub(super) const fn new(name: &'static str, least: usize) -> Self {
        Self { name, least, kind: Kind::Main }
    }

    /// A column that is beside the point of its table. On a narrow terminal it gives way first, wholly if need be.
    pub(super) const fn beside(name: &'static str, least: usize) -> Self {
        Self { name, least, kind: Kind::Beside }
    }

    /// The last column of a table, for texts as long as a line. On a terminal each stands whole below its row.
    pub(super) const fn below(name: &'static str) -> Self {
        Self { name, least: WHOLE, kind: Kind::Below }
    }
}

/// A text in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    text: String,
    tint: Option<Tint>,
}

impl Cell {
    /// Takes a text of any origin; what of it would drive a terminal is escaped.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self { text: visible(text.as_ref()).into_owned(), tint: None }
    }

    pub(super) fn tinted(self, tint: Option<Tint>) -> Self {
        Self { tint, ..self }
    }
}

enum Line {
    Cells(Vec<Cell>),
    /// Stands as it is, under the row before it.
    Text(String),
}

/// A table that is written while its rows are still read. The first rows settle the widths of its columns; nothing
/// is written of a table without rows.
pub(super) struct Table {
    columns: Vec<Column>,
    screen: Screen,
    /// Whether the last cell of a row is a text that stands below it.
    has_text_below: bool,
    /// Once they are settled; a column without one is left out.
    widths: Option<Vec<Option<usize>>>,
    waiting: Vec<Line>,
    waiting_bytes: usize,
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, screen: Screen) -> Self {
        let (below, columns): (Vec<_>, Vec<_>) =
            columns.into_iter().partition(|column| column.kind == Kind::Below && screen.width.is_some());
        let has_text_below = !below.is_empty();
        Self { columns, screen, has_text_below, widths: None, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Adds a row, which has a cell for each column.
    pub(super) fn row(&mut self, out: &mut Out<'_>, mut cells: Vec<Cell>) -> Result<()> {
        let below = if self.has_text_below { cells.pop() } else { None };
        self.add(out, Line::Cells(cells))?;
        let (Some(below), Some(room)) = (below, self.screen.width) else {
            return Ok(());
        };
        let lines = wrapped(&below.text, room.saturating_sub(INDENT.len()));
        lines.iter().try_for_each(|line| self.note(out, clipped(&format!("{INDENT}{line}"), room)))
    }

    /// Adds a line of its own under the last row. It must be [`visible`] but for its tints.
    pub(super) fn note(&mut self, out: &mut Out<'_>, text: String) -> Result<()> {
        self.add(out, Line::Text(text))
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            let widths = self.settle();
            let names: Vec<Cell> = self.columns.iter().map(|column| Cell::new(column.name)).collect();
            out.line(&line(&names, &widths, self.screen))?;
            self.widths = Some(widths);
        }
        let widths = self.widths.as_deref().unwrap_or_default();
        for waiting in self.waiting.drain(..) {
            match waiting {
                Line::Cells(cells) => out.line(&line(&cells, widths, self.screen))?,
                Line::Text(text) => out.line(&text)?,
            }
        }
        self.waiting_bytes = 0;
        Ok(())
    }

    fn add(&mut self, out: &mut Out<'_>, added: Line) -> Result<()> {
        self.waiting_bytes += match &added {
            Line::Cells(cells) => cells.iter().map(|cell| cell.text.len()).sum(),
            Line::Text(text) => text.len(),
        };
        self.waiting.push(added);
        if self.widths.is_some() || self.waiting.len() >= SAMPLE || self.waiting_bytes >= SAMPLE_BYTES {
            self.flush(out)?;
        }
        Ok(())
    }

    fn settle(&self) -> Vec<Option<usize>> {
        let most = self.screen.width.unwrap_or(WIDEST);
        let mut needed = vec![0; self.columns.len()];
        for waiting in &self.waiting {
            if let Line::Cells(cells) = waiting {
                for (found, cell) in needed.iter_mut().zip(cells) {
                    *found = width(&cell.text, most).max(*found);
                }
            }
        }
        let names = self.columns.iter().map(|column| width(column.name, most));
        let mut widths: Vec<_> = names.zip(&needed).map(|(name, needed)| Some(name.max(*needed))).collect();
        if let Some(room) = self.screen.width {
            fit(&self.columns, &needed, &mut widths, room);
        }
        widths
    }
}

/// Brings the columns into `room`, of which the texts need `needed`. Those without a text are left out. Then those
/// that are beside the point are, the last one first, until the least widths of all others have room. Then width is
/// taken away: what only the name of a column takes, then from those that are beside the point before any other,
/// each time from the widest.
fn fit(columns: &[Column], needed: &[usize], widths: &mut [Option<usize>], room: usize) {
    let taken = |widths: &[Option<usize>], least: bool| {
        let kept = widths.iter().zip(columns).filter_map(|(width, column)| Some((width.as_ref()?, column)));
        kept.map(|(width, column)| GAP + if least { column.least.min(*width) } else { *width }).sum::<usize>()
    };
    let room = room + GAP;
    if taken(widths, false) > room {
        widths.iter_mut().zip(needed).filter(|(_, needed)| **needed == 0).for_each(|(width, _)| *width = None);
    }
    while taken(widths, true) > room
        && let Some(last) =
            (0..columns.len()).rfind(|&place| columns[place].kind == Kind::Beside && widths[place].is_some())
    {
        widths[last] = None;
    }
    while taken(widths, false) > room {
        let all = widths.iter_mut().zip(columns).zip(needed);
        let kept = all.filter_map(|((width, column), needed)| Some((width.as_mut()?, column, *needed)));
        let givers = kept.filter(|(width, column, _)| **width > column.least);
        // Of equally wide ones the last: it is the one that says least about which row it is.
        let rank = |(width, column, needed): &(&mut usize, &Column, usize)| {
            (**width > *needed, column.kind == Kind::Beside, **width)
        };
        let Some((widest, ..)) = givers.max_by_key(rank) else {
            return;
        };
        *widest -= 1;
    }
}

fn line(cells: &[Cell], widths: &[Option<usize>], screen: Screen) -> String {
    let mut line = String::new();
    // Where the column begins, and blanks that are due before it if it isn't empty.
    let (mut start, mut blanks) = (0, 0);
    let kept = cells.iter().zip(widths).filter_map(|(cell, width)| Some((cell, (*width)?)));
    for (cell, width) in kept {
        let text = match screen.width {
            Some(room) => Cow::Owned(clipped(&cell.text, width.min(room.saturating_sub(start)))),
            None => Cow::Borrowed(&cell.text),
        };
        start += width + GAP;
        if !text.is_empty() {
            line.extend(iter::repeat_n(' ', std::mem::take(&mut blanks)));
            match cell.tint.filter(|_| screen.colours) {
                Some(tint) => line.push_str(&tint.paint(&text)),
                None => line.push_str(&text),
            }
        }
        blanks += width.saturating_sub(columns_of(&text)) + GAP;
    }
    line
}

/// Columns that `text` takes on a terminal, counted up to `most`.
fn width(text: &str, most: usize) -> usize {
    let mut width = 0;
    for character in text.chars() {
        width += character.width().unwrap_or(0);
        if width >= most {
            return most;
        }
    }
    width
}

/// `text` cut to `room` columns; where something is missing, it ends with `…`.
pub(super) fn clipped(text: &str, room: usize) -> String {
    if width(text, room.saturating_add(1)) <= room {
        return text.to_owned();
    }
    let mut clipped = String::new();
    let mut left = room.saturating_sub(1);
    for character in text.chars() {
        let width = character.width().unwrap_or(0);
        if width > left {
            break;
        }
        left -= width;
        clipped.push(character);
    }
    if room > 0 {
        clipped.push('…');
    }
    clipped
}

/// A [`visible`] text in lines of at most `room` columns, broken at blanks where there are some.
fn wrapped(text: &str, room: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut rest = text.trim();
    while !rest.is_empty() {
        let (mut end, mut last_blank, mut taken) = (rest.len(), None, 0);
        for (place, character) in rest.char_indices() {
            if character == ' ' {
                last_blank = Some(place);
            }
            taken += character.width().unwrap_or(0);
            if taken > room && place > 0 {
                end = last_blank.unwrap_or(place);
                break;
            }
        }
        lines.push(rest[..end].trim_end().to_owned());
        rest = rest[end..].trim_start();
    }
    lines
}

/// `text` cut or filled up to `room` columns.
pub(super) fn padded(text: &str, room: usize) -> String {
    let text = clipped(text, room);
    let missing = room - width(&text, room);
    text + &" ".repeat(missing)
}

/// Columns that a [`visible`] text takes on a terminal.
pub(super) fn columns_of(text: &str) -> usize {
    width(text, usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [Column::new("NAME", 4), Column::new("AGE", 3), Column::new("TEXT", 5)];

    fn shown(screen: Screen, rows: &[[&str; 3]]) -> Vec<String> {
        shown_in(COLUMNS, screen, rows)
    }

    fn shown_in(columns: [Column; 3], screen: Screen, rows: &[[&str; 3]]) -> Vec<String> {
        let mut buffer = Vec::new();
        let mut out = Out::new(&mut buffer);
        let mut table = Table::new(columns, screen);
        for row in rows {
            table.row(&mut out, row.iter().map(Cell::new).collect()).unwrap();
        }
        table.flush(&mut out).unwrap();
        String::from_utf8(buffer).unwrap().lines().map(str::to_owned).collect()
    }

    fn terminal(width: usize) -> Screen {
        Screen { width: Some(width), colours: false }
    }

    const PIPE: Screen = Screen { width: None, colours: false };

    #[test]
    fn columns_stand_under_their_names() {
        let rows = [["Latex 1", "5m", "a text"], ["B", "", "another"], ["C", "12h", ""]];
        let expected = ["NAME     AGE  TEXT", "Latex 1  5m   a text", "B             another", "C        12h"];
        assert_eq!(shown(PIPE, &rows), expected);
        assert_eq!(shown(terminal(80), &rows), expected);
        assert!(shown(PIPE, &[]).is_empty());
    }

    #[test]
    fn no_line_is_wider_than_the_terminal() {
        let long = "x".repeat(300);
        let rows = [[long.as_str(), "5m", "日本語のテキスト"], ["Größe", "100d", &long]];
        for room in 1..120 {
            for line in shown(terminal(room), &rows) {
                assert!(width(&line, 500) <= room, "{room}: {line}");
            }
        }
        let fit = shown(terminal(24), &rows);
        assert_eq!(fit, ["NAME      AGE   TEXT", "xxxxxxx…  5m    日本語…", "Größe     100d  xxxxxxx…"]);
    }

    #[test]
    fn columns_beside_the_point_give_way_first_and_wholly() {
        let columns = [Column::beside("ROAD", 4), Column::new("REASON", 6), Column::beside("ROOM", 4)];
        let rows = [["a long road", "why it was so", "its room"]];
        let at = |room| shown_in(columns, terminal(room), &rows).remove(1);
        assert_eq!(at(36), "a long road  why it was so  its room");
        assert_eq!(at(30), "a long…  why it was so  its r…");
        assert_eq!(at(25), "a l…  why it was so  its…");
        assert_eq!(at(18), "a l…  why i…  its…");
        assert_eq!(at(17), "a l…  why it was…", "the last goes first");
        assert_eq!(at(12), "a l…  why i…");
        assert_eq!(at(11), "why it was…");
        assert_eq!(shown_in(columns, terminal(6), &rows), ["REASON", "why i…"]);
        assert_eq!(shown_in(columns, PIPE, &rows)[1], "a long road  why it was so  its room");
    }

    #[test]
    fn what_is_useless_when_cut_is_whole_or_left_out() {
        let columns = [Column::new("NAME", 4), Column::new("GUID", WHOLE), Column::beside("SHA1", WHOLE)];
        let rows = [["a long name", "0123456789", "abcdef"]];
        let at = |room| shown_in(columns, terminal(room), &rows).remove(1);
        assert_eq!(at(31), "a long name  0123456789  abcdef");
        assert_eq!(at(24), "a l…  0123456789  abcdef");
        assert_eq!(at(23), "a long name  0123456789");
        assert_eq!(at(16), "a l…  0123456789");
    }

    #[test]
    fn a_name_takes_no_room_from_texts() {
        let columns = [Column::new("APPLICATION", 4), Column::new("MESSAGE", 7), Column::new("TEXT", 4)];
        let rows = [["Rip 12", "", "a long text"]];
        assert_eq!(shown_in(columns, terminal(33), &rows)[0], "APPLICATION  MESSAGE  TEXT");
        assert_eq!(shown_in(columns, terminal(32), &rows), ["APPLICATION  TEXT", "Rip 12       a long text"]);
        assert_eq!(shown_in(columns, terminal(19), &rows), ["APPLI…  TEXT", "Rip 12  a long text"]);
        assert_eq!(shown_in(columns, terminal(18), &rows)[1], "Rip 12  a long te…");
    }

    #[test]
    fn long_texts_stand_whole_below_their_rows_on_a_terminal() {
        let columns = [Column::new("NAME", 4), Column::new("AGE", 3), Column::below("TEXT")];
        let rows = [["a", "5m", "one text of some words"], ["b", "6m", ""], ["c", "7m", "short"]];
        let expected = ["NAME  AGE", "a     5m", "  one text of", "  some words", "b     6m", "c     7m", "  short"];
        assert_eq!(shown_in(columns, terminal(14), &rows), expected);
        assert_eq!(shown_in(columns, PIPE, &rows)[1], "a     5m   one text of some words");
        for room in 1..20 {
            assert!(shown_in(columns, terminal(room), &rows).iter().all(|line| width(line, 500) <= room));
        }
    }

    #[test]
    fn a_text_is_wrapped_at_its_blanks_where_it_has_some() {
        assert_eq!(wrapped("sent is 17, stored is 18", 12), ["sent is 17,", "stored is 18"]);
        assert_eq!(wrapped("0123456789 ab", 4), ["0123", "4567", "89", "ab"]);
        assert_eq!(wrapped("日本語", 4), ["日本", "語"]);
        assert_eq!(wrapped("ab", 0), ["a", "b"]);
        assert!(wrapped(" ", 4).is_empty());
    }

    #[test]
    fn who_reads_a_pipe_gets_every_text_whole() {
        let long = "x".repeat(300);
        let lines = shown(PIPE, &[[&long, "1s", "end"], ["a", "1s", &long]]);
        assert_eq!(lines[1], format!("{long}  1s   end"));
        assert_eq!(lines[2], format!("{}  1s   {long}", "a".to_owned() + &" ".repeat(WIDEST - 1)));
    }

    #[test]
    fn wide_and_combining_characters_are_counted_as_they_are_shown() {
        let lines = shown(PIPE, &[["日本", "1s", "x"], ["e\u{301}", "1s", "y"]]);
        assert_eq!(lines, ["NAME  AGE  TEXT", "日本  1s   x", "e\u{301}     1s   y"]);
        assert_eq!(clipped("日本語", 5), "日本…");
        assert_eq!(clipped("日本語", 4), "日…");
        assert_eq!(
            (clipped("abc", 1), clipped("abc", 0), clipped("abc", 3)),
            ("…".into(), String::new(), "abc".into())
        );
    }

    #[test]
    fn stored_text_gives_the_terminal_no_orders_and_stays_in_its_line() {
        for screen in [PIPE, terminal(60)] {
            let lines = shown(screen, &[["\x1b]0;pwned\x07", "\u{202e}x", "two\nlines\u{9b}2J"]]);
            assert_eq!(lines[1], "\\x1b]0;pwned\\x07  \\u{202e}x  two\\nlines\\u{9b}2J");
        }
    }

    #[test]
    fn colours_take_no_room() {
        let mut buffer = Vec::new();
        let mut out = Out::new(&mut buffer);
        let cells = |name| vec![Cell::new(name).tinted(Some(Tint::Red)), Cell::new("1s"), Cell::new("x")];
        for colours in [true, false] {
            let mut table = Table::new(COLUMNS, Screen { width: Some(40), colours });
            table.row(&mut out, cells("Printing")).unwrap();
            table.flush(&mut out).unwrap();
        }
        let lines = String::from_utf8(buffer).unwrap();
        assert_eq!(
            lines,
            "NAME      AGE  TEXT\n\x1b[31mPrinting\x1b[0m  1s   x\nNAME      AGE  TEXT\nPrinting  1s   x\n"
        );
    }

    #[test]
    fn rows_are_written_while_others_are_still_read() {
        let mut buffer = Vec::new();
        let mut table = Table::new(COLUMNS, PIPE);
        let row = || vec![Cell::new("a"), Cell::new("b"), Cell::new("c")];
        for _ in 0..SAMPLE - 1 {
            table.row(&mut Out::new(&mut buffer), row()).unwrap();
        }
        assert!(buffer.is_empty());
        table.row(&mut Out::new(&mut buffer), row()).unwrap();
        assert_eq!(String::from_utf8_lossy(&buffer).lines().count(), SAMPLE + 1);
        table.row(&mut Out::new(&mut buffer), row()).unwrap();
        assert_eq!(String::from_utf8_lossy(&buffer).lines().count(), SAMPLE + 2);
        let mut table = Table::new(COLUMNS, PIPE);
        let long = "x".repeat(SAMPLE_BYTES);
        table.row(&mut Out::new(&mut buffer), vec![Cell::new(long), Cell::new(""), Cell::new("")]).unwrap();
        assert!(table.waiting.is_empty(), "long rows don't wait for others");
    }
}
