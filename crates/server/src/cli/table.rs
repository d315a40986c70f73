//! Tables on stdout: fit to the width of a terminal, whole where stdout is a file or a pipe.

mod escape;
mod layout;
mod screen;

pub(super) use comfy_table::Color;
pub(super) use escape::{escape, escape_json, push_escaped};
pub(super) use screen::Screen;

use super::output::Out;
use anyhow::Result;
use comfy_table::{ColumnConstraint, ContentArrangement, Width, presets};
use layout::GAP;
use unicode_width::{UnicodeWidthChar, UnicodeWidthStr};

/// Rows, and bytes of them, that are laid out together. A longer table is written page by page, so that memory doesn't
/// grow with it.
const PAGE_ROWS: usize = 200;
const PAGE_BYTES: usize = 256 * 1024;

/// Characters of a text that stand in one line at most: the library counts columns in 16 bits.
const LONGEST_LINE: usize = 10_000;

/// A column of a table. A table whose columns have no names has no header.
#[derive(Debug, Clone, Copy)]
pub(super) struct Column {
    name: &'static str,
    kind: Kind,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Wide,
    Cut,
    Whole,
    Optional,
    /// An optional column that the first page had no room for.
    LeftOut,
}

impl Column {
    /// A column of names: they may be wrapped on a terminal.
    pub(super) const fn text(name: &'static str) -> Self {
        Self { name, kind: Kind::Text }
    }

    /// A column of sentences: they take the room that the others leave, and are wrapped.
    pub(super) const fn wide(name: &'static str) -> Self {
        Self { name, kind: Kind::Wide }
    }

    /// The same, but a text that doesn't fit into one line of a terminal is cut and ends with `…`.
    pub(super) const fn cut(name: &'static str) -> Self {
        Self { name, kind: Kind::Cut }
    }

    /// A column whose texts are never wrapped, such as GUIDs.
    pub(super) const fn whole(name: &'static str) -> Self {
        Self { name, kind: Kind::Whole }
    }

    /// A column that is left out where the terminal has no room for it.
    pub(super) const fn optional(name: &'static str) -> Self {
        Self { name, kind: Kind::Optional }
    }
}

/// A text in a table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Cell {
    text: String,
    color: Option<Color>,
}

impl Cell {
    /// Takes a text of any origin; characters that would control a terminal are escaped.
    pub(super) fn new(text: impl AsRef<str>) -> Self {
        Self { text: escape(text.as_ref()).into_owned(), color: None }
    }

    /// The name of a record, marked where the record was removed.
    pub(super) fn named(name: &str, is_removed: bool) -> Self {
        Self::new(format!("{name}{}", if is_removed { " (removed)" } else { "" }))
    }

    /// A cell of several lines, each escaped by itself.
    pub(super) fn lines(lines: impl IntoIterator<Item = String>) -> Self {
        let lines: Vec<String> = lines.into_iter().map(|line| escape(&line).into_owned()).collect();
        Self { text: lines.join("\n"), color: None }
    }

    pub(super) fn colored(self, color: Option<Color>) -> Self {
        Self { color, ..self }
    }

    /// The escaped text.
    pub(super) fn into_text(self) -> String {
        self.text
    }

    /// The cell as it is laid out, cut to a width if one is given.
    fn styled(&self, width: Option<usize>) -> comfy_table::Cell {
        let cell = if let Some(width) = width.filter(|width| self.text.width() > *width) {
            comfy_table::Cell::new(cut(&self.text, width))
        } else if self.text.len() <= LONGEST_LINE {
            comfy_table::Cell::new(&self.text)
        } else {
            let characters: Vec<char> = self.text.chars().collect();
            let lines: Vec<String> = characters.chunks(LONGEST_LINE).map(String::from_iter).collect();
            comfy_table::Cell::new(lines.join("\n"))
        };
        match self.color {
            Some(color) => cell.fg(color),
            None => cell,
        }
    }
}

/// The beginning of a text of one line, with `…` at its end.
fn cut(text: &str, width: usize) -> String {
    let mut room = width.saturating_sub(1);
    let fits = |character: &char| {
        let rest = room.checked_sub(character.width().unwrap_or_default());
        room = rest.unwrap_or_default();
        rest.is_some()
    };
    let begin: String = text.chars().take_while(fits).collect();
    format!("{}…", begin.trim_end())
}

/// A table that is written page by page. Nothing is written of a table without rows.
pub(super) struct Table {
    columns: Vec<Column>,
    screen: Screen,
    rows: Vec<Vec<Cell>>,
    bytes: usize,
    /// Widths of the columns of the pages before, where stdout is no terminal.
    widths: Vec<u16>,
}

impl Table {
    pub(super) fn new(columns: impl IntoIterator<Item = Column>, screen: Screen) -> Self {
        let columns = columns.into_iter().collect();
        Self { columns, screen, rows: Vec::new(), bytes: 0, widths: Vec::new() }
    }

    /// Adds a row, which has a cell for each column.
    pub(super) fn row(&mut self, out: &mut Out<'_>, cells: Vec<Cell>) -> Result<()> {
        self.bytes += cells.iter().map(|cell| cell.text.len()).sum::<usize>();
        self.rows.push(cells);
        if self.rows.len() >= PAGE_ROWS || self.bytes >= PAGE_BYTES { self.flush(out) } else { Ok(()) }
    }

    /// Writes the rows that wait. A terminal shows the names of the columns above each page, other readers get them once.
    pub(super) fn flush(&mut self, out: &mut Out<'_>) -> Result<()> {
        if self.rows.is_empty() {
            return Ok(());
        }
        let mut is_headed = true;
        let page = if let Some(room) = self.screen.width {
            self.fitted_page(usize::from(room))
        } else {
            let mut page = self.page(&[]);
            is_headed = self.widths.is_empty();
            self.widths.resize(self.columns.len(), 0);
            for (width, found) in self.widths.iter_mut().zip(page.column_max_content_widths()) {
                *width = found.max(*width);
            }
            page.set_constraints(
                self.widths.iter().map(|width| ColumnConstraint::LowerBoundary(padded((*width).into()))),
            );
            page
        };
        self.rows.clear();
        self.bytes = 0;
        page.lines().skip(usize::from(!is_headed)).try_for_each(|line| out.line(line.trim_end()))
    }

    /// A page that fits a terminal of `room` columns.
    fn fitted_page(&mut self, room: usize) -> comfy_table::Table {
        let kinds: Vec<Kind> = self.columns.iter().map(|column| column.kind).collect();
        let contents = self.page(&[]).column_max_content_widths();
        let contents: Vec<usize> = contents.into_iter().map(usize::from).collect();
        let widths = layout::widths(&kinds, &contents, room);
        // The following pages have the same columns.
        for (column, width) in self.columns.iter_mut().zip(&widths) {
            match (column.kind, width) {
                (Kind::Optional, Some(_)) => column.kind = Kind::Text,
                (Kind::Optional, None) => column.kind = Kind::LeftOut,
                _ => {}
            }
        }
        let mut page = self.page(&widths);
        page.set_content_arrangement(ContentArrangement::Dynamic).set_width(u16::MAX);
        page.set_constraints(widths.into_iter().flatten().map(|width| ColumnConstraint::Absolute(padded(width))));
        page
    }

    /// The rows that wait, in columns of these widths without those that have none; all columns if no width is given.
    fn page(&self, widths: &[Option<usize>]) -> comfy_table::Table {
        let is_shown = |place: usize| widths.get(place).is_none_or(Option::is_some);
        let columns = || (0..).zip(&self.columns).filter(|(place, _)| is_shown(*place));
        let mut page = comfy_table::Table::new();
        page.load_preset(presets::NOTHING);
        if self.columns.iter().any(|column| !column.name.is_empty()) {
            page.set_header(columns().map(|(_, column)| column.name));
        }
        for row in &self.rows {
            let cell = |(place, column): (usize, &Column)| {
                let width = widths.get(place).copied().flatten();
                row[place].styled(width.filter(|_| column.kind == Kind::Cut))
            };
            page.add_row(columns().map(cell));
        }
        page.column_iter_mut().for_each(|column| {
            column.set_padding((0, GAP));
        });
        page.force_no_tty();
        if self.screen.colors {
            page.enforce_styling().style_text_only();
        }
        page
    }
}

/// The width of a column with the gap after it.
fn padded(width: usize) -> Width {
    Width::Fixed(u16::try_from(width).unwrap_or(u16::MAX).saturating_add(GAP))
}

#[cfg(test)]
mod tests {
    use super::*;

    const COLUMNS: [Column; 3] = [Column::text("NAME"), Column::text("AGE"), Column::text("TEXT")];

    fn shown_in(columns: [Column; 3], screen: Screen, rows: &[[&str; 3]]) -> Vec<String> {
        let mut buffer = Vec::new();
        let mut out = Out::new(&mut buffer, screen);
        let mut table = Table::new(columns, screen);
        for row in rows {
            table.row(&mut out, row.iter().map(Cell::new).collect()).unwrap();
        }
        table.flush(&mut out).unwrap();
        String::from_utf8(buffer).unwrap().lines().map(str::to_owned).collect()
    }

    fn shown(screen: Screen, rows: &[[&str; 3]]) -> Vec<String> {
        shown_in(COLUMNS, screen, rows)
    }

    fn terminal(width: u16) -> Screen {
        Screen { width: Some(width), colors: false }
    }

    const PIPE: Screen = Screen::PIPE;

    #[test]
    fn columns_stand_under_their_names() {
        let rows = [["Latex 1", "5m", "a text"], ["B", "", "another"], ["C", "12h", ""]];
        let expected = ["NAME     AGE  TEXT", "Latex 1  5m   a text", "B             another", "C        12h"];
        assert_eq!(shown(PIPE, &rows), expected);
        assert_eq!(shown(terminal(80), &rows), expected);
        assert!(shown(PIPE, &[]).is_empty());
    }

    #[test]
    fn no_line_is_wider_than_the_terminal_and_no_text_is_lost() {
        let long = "words and words ".repeat(20);
        let rows = [[long.trim(), "5m", "日本語のテキスト"], ["Größe", "100d", long.trim()]];
        for room in [12, 24, 40, 80, 119] {
            let lines = shown(terminal(room), &rows);
            assert!(lines.iter().all(|line| line.chars().count() <= usize::from(room)), "{room}: {lines:?}");
        }
        let rows = [["a", "5m", long.trim()]];
        let lines = shown(terminal(40), &rows);
        let texts: Vec<&str> = lines[1..].iter().map(|line| line.trim_start_matches("a     5m").trim()).collect();
        assert_eq!(texts.join(" "), long.trim());
    }

    #[test]
    fn a_narrow_terminal_leaves_optional_columns_out_and_keeps_whole_ones_whole() {
        let columns = [Column::text("NAME"), Column::whole("GUID"), Column::optional("SHA1")];
        let rows = [["a long name of words", "0123456789", "abcdef"]];
        assert_eq!(shown_in(columns, terminal(80), &rows)[1], "a long name of words  0123456789  abcdef");
        assert_eq!(shown_in(columns, PIPE, &rows)[1], "a long name of words  0123456789  abcdef");
        let narrow = shown_in(columns, terminal(24), &rows);
        assert!(narrow[1].ends_with("  0123456789") && !narrow[0].contains("SHA1"), "{narrow:?}");
    }

    #[test]
    fn a_text_that_is_cut_ends_with_a_mark_and_a_pipe_gets_all_of_it() {
        let columns = [Column::whole("ID"), Column::text("NAME"), Column::cut("STACK")];
        let stack = "Größe 日本語のテキスト of many words ".repeat(5);
        let rows = [["0123456789", "RIP-01", stack.trim()]; 2];
        let lines = shown_in(columns, terminal(40), &rows);
        assert_eq!(lines[1], "0123456789  RIP-01  Größe 日本語のテキ…");
        assert_eq!(lines.len(), 3);
        assert!(shown_in(columns, PIPE, &rows)[1].ends_with(stack.trim()));
    }

    #[test]
    fn all_pages_have_the_columns_of_the_first() {
        let columns = [Column::text("NAME"), Column::optional("ROOM"), Column::wide("TEXT")];
        let long = "words ".repeat(30);
        let mut rows = vec![["a", "b", "c"]; PAGE_ROWS];
        rows.push(["a", "b", long.trim()]);
        let lines = shown_in(columns, terminal(42), &rows);
        assert_eq!(lines.iter().filter(|line| line.starts_with("NAME  ROOM  TEXT")).count(), 2, "{lines:?}");
        rows.rotate_left(1);
        rows.insert(0, ["a", "b", long.trim()]);
        let lines = shown_in(columns, terminal(39), &rows);
        assert_eq!(lines.iter().filter(|line| line.starts_with("NAME  TEXT")).count(), 2, "{lines:?}");
    }

    #[test]
    fn a_pipe_gets_every_text_in_one_line_and_the_header_once() {
        let long = "x".repeat(300);
        let lines = shown(PIPE, &[[&long, "1s", "end"], ["a", "1s", &long]]);
        assert_eq!(lines[1], format!("{long}  1s   end"));
        assert_eq!(lines[2], format!("a{}  1s   {long}", " ".repeat(299)));
        let rows = vec![["a longer name", "1s", "x"]; PAGE_ROWS + 1];
        assert_eq!(shown(PIPE, &rows).len(), PAGE_ROWS + 2);
        assert_eq!(shown(terminal(80), &rows).len(), PAGE_ROWS + 3, "a terminal shows it above each page");
        let last = ["b", "2s", "y"];
        let lines = shown(PIPE, &[&rows[..PAGE_ROWS], &[last]].concat());
        assert_eq!(lines.last().unwrap(), "b              2s   y", "the columns of the next page are as wide");
    }

    #[test]
    fn wide_and_combining_characters_are_counted_as_they_are_shown() {
        let lines = shown(PIPE, &[["日本", "1s", "x"], ["e\u{301}", "1s", "y"]]);
        assert_eq!(lines, ["NAME  AGE  TEXT", "日本  1s   x", "e\u{301}     1s   y"]);
    }

    #[test]
    fn stored_text_does_not_control_the_terminal_and_stays_in_its_line() {
        for screen in [PIPE, terminal(60)] {
            let lines = shown(screen, &[["\x1b]0;pwned\x07", "\u{202e}x", "two\nlines\u{9b}2J"]]);
            assert_eq!(lines[1], "\\x1b]0;pwned\\x07  \\u{202e}x  two\\nlines\\u{9b}2J");
        }
        assert_eq!(Cell::lines(["a\nb".to_owned(), "c".to_owned()]).into_text(), "a\\nb\nc");
    }

    #[test]
    fn colors_take_no_room() {
        let mut buffer = Vec::new();
        let cells = |name| vec![Cell::new(name).colored(Some(Color::Red)), Cell::new("1s"), Cell::new("x")];
        for colors in [true, false] {
            let mut table = Table::new(COLUMNS, Screen { width: Some(40), colors });
            table.row(&mut Out::new(&mut buffer, PIPE), cells("Printing")).unwrap();
            table.flush(&mut Out::new(&mut buffer, PIPE)).unwrap();
        }
        let lines = String::from_utf8(buffer).unwrap();
        let expected = "NAME      AGE  TEXT\n\x1b[38;5;9mPrinting\x1b[39m  1s   x\n\
                        NAME      AGE  TEXT\nPrinting  1s   x\n";
        assert_eq!(lines, expected);
    }

    #[test]
    fn rows_are_written_while_others_are_still_read() {
        let mut buffer = Vec::new();
        let mut table = Table::new(COLUMNS, PIPE);
        let row = || vec![Cell::new("a"), Cell::new("b"), Cell::new("c")];
        for _ in 0..PAGE_ROWS - 1 {
            table.row(&mut Out::new(&mut buffer, PIPE), row()).unwrap();
        }
        assert!(buffer.is_empty());
        table.row(&mut Out::new(&mut buffer, PIPE), row()).unwrap();
        assert_eq!(String::from_utf8_lossy(&buffer).lines().count(), PAGE_ROWS + 1);
        let long = "x".repeat(PAGE_BYTES);
        table.row(&mut Out::new(&mut buffer, PIPE), vec![Cell::new(long), Cell::new(""), Cell::new("")]).unwrap();
        assert!(table.rows.is_empty(), "long rows don't wait for others");
        let longest = String::from_utf8_lossy(&buffer).lines().map(str::len).max();
        assert_eq!(longest, Some(LONGEST_LINE), "a very long text stands in several lines");
    }
}
