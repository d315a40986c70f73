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

/// A column: its name, and the width to which a narrow terminal may bring it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column(pub(super) &'static str, pub(super) usize);

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
    widths: Option<Vec<usize>>,
    waiting: Vec<Line>,
    waiting_bytes: usize,
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, screen: Screen) -> Self {
        let columns = columns.into_iter().collect();
        Self { columns, screen, widths: None, waiting: Vec::new(), waiting_bytes: 0 }
    }

    /// Adds a row, which has a cell for each column.
    pub(super) fn row(&mut self, out: &mut Out<'_>, cells: Vec<Cell>) -> Result<()> {
        self.add(out, Line::Cells(cells))
    }

    /// Adds a line of its own under the last row. It must be [`visible`] but for its tints.
    pub(super) fn note(&mut self, out: &mut Out<'_>, text: String) -> Result<()> {
        self.add(out, Line::Text(text))
    }

    /// Writes what waits.
    pub(super) fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        if self.widths.is_none() && !self.waiting.is_empty() {
            let widths = self.settle();
            let names: Vec<Cell> = self.columns.iter().map(|column| Cell::new(column.0)).collect();
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

    fn settle(&self) -> Vec<usize> {
        let most = self.screen.width.unwrap_or(WIDEST);
        let mut widths: Vec<usize> = self.columns.iter().map(|column| width(column.0, most)).collect();
        for waiting in &self.waiting {
            if let Line::Cells(cells) = waiting {
                for (found, cell) in widths.iter_mut().zip(cells) {
                    *found = (*found).max(width(&cell.text, most));
                }
            }
        }
        if let Some(room) = self.screen.width {
            let least: Vec<usize> = self.columns.iter().map(|column| column.1).collect();
            let gaps = GAP * (widths.len() - 1);
            narrow(&mut widths, &least, room.saturating_sub(gaps));
        }
        widths
    }
}

/// Takes width away until the columns fit into `room`, each time from the widest that still has some to give.
fn narrow(widths: &mut [usize], least: &[usize], room: usize) {
    while widths.iter().sum::<usize>() > room {
        let givers = widths.iter_mut().zip(least).filter(|(width, least)| **width > **least);
        // Of equally wide ones the last: it is the one that says least about which row it is.
        let Some((widest, _)) = givers.max_by_key(|(width, _)| **width) else {
            return;
        };
        *widest -= 1;
    }
}

fn line(cells: &[Cell], widths: &[usize], screen: Screen) -> String {
    let mut line = String::new();
    // Where the column begins, and blanks that are due before it if it isn't empty.
    let (mut start, mut blanks) = (0, 0);
    for (cell, &width) in cells.iter().zip(widths) {
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

    const COLUMNS: [Column; 3] = [Column("NAME", 4), Column("AGE", 3), Column("TEXT", 5)];

    fn shown(screen: Screen, rows: &[[&str; 3]]) -> Vec<String> {
        let mut buffer = Vec::new();
        let mut out = Out::new(&mut buffer);
        let mut table = Table::new(COLUMNS, screen);
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
