//! Frames of madExcept and EurekaLog.

use super::{is_address, is_decimal, is_hex, word};
use crate::call_stack::{Frame, module};

/// `004a1b2c +01c Rip.exe Spooler 120 +3 TSpooler.Render` of madExcept; unit, lines and function may be missing.
pub(super) fn frame(line: &str) -> Option<Frame> {
    let (address, mut rest) = word(line)?;
    if !is_address(address) || address.contains('`') || address.starts_with("0x") {
        return None;
    }
    if let Some((_, after)) = word(rest).filter(|(offset, _)| offset.strip_prefix('+').is_some_and(is_hex)) {
        rest = after;
    }
    let (name, rest) = module_name(rest)?;
    let words: Vec<&str> = rest.split_whitespace().collect();
    let is_line = |word: &&str| is_decimal(word) || word.strip_prefix('+').is_some_and(is_decimal);
    // The unit comes first where a line or a function follows it.
    let function = words.last().filter(|word| !is_line(word));
    Frame::new(Some(name), function.copied(), None)
}

/// A module, whose name may contain blanks, and what follows it.
fn module_name(rest: &str) -> Option<(&str, &str)> {
    let mut end = 0;
    for _ in 0..4 {
        let following = &rest[end..];
        let start = end + (following.len() - following.trim_start().len());
        let length = rest[start..].find(char::is_whitespace).unwrap_or(rest.len() - start);
        end = start + length;
        if module::has_extension(&rest[..end]) {
            return Some((&rest[..end], rest[end..].trim_start()));
        }
    }
    None
}

/// Which columns of EurekaLog's table hold what.
#[derive(Debug, Clone, Copy)]
pub(in crate::call_stack) struct Columns {
    module: usize,
    class: Option<usize>,
    procedure: usize,
    unit: Option<usize>,
    offset: Option<usize>,
}

impl Columns {
    /// Reads the heading: `|Address |Module |Unit |Class |Procedure/Method |Line |`.
    pub(in crate::call_stack) fn read(line: &str) -> Option<Self> {
        let cells = cells(line)?;
        let column = |name: &str| cells.iter().position(|cell| cell.eq_ignore_ascii_case(name));
        let procedure = cells.iter().position(|cell| cell.starts_with("Procedure"))?;
        Some(Self {
            module: column("Module")?,
            class: column("Class"),
            procedure,
            unit: column("Unit"),
            offset: column("Offset"),
        })
    }

    /// Reads a row.
    pub(in crate::call_stack) fn frame(&self, line: &str) -> Option<Frame> {
        let cells = cells(line)?;
        let cell = |column: usize| cells.get(column).copied().filter(|cell| !cell.is_empty());
        let module = cell(self.module)?;
        let procedure = cell(self.procedure);
        let class = self.class.and_then(cell).filter(|_| procedure.is_some());
        let function = match (class, procedure) {
            (Some(class), Some(procedure)) => Some(format!("{class}.{procedure}")),
            (_, procedure) => procedure.map(str::to_owned),
        };
        let offset = self.offset.and_then(cell).and_then(super::hex_number);
        let is_heading = self.unit.and_then(cell) == Some("Unit");
        if is_heading { None } else { Frame::new(Some(module), function.as_deref(), offset) }
    }
}

fn cells(line: &str) -> Option<Vec<&str>> {
    let line = line.strip_prefix('|')?.strip_suffix('|')?;
    let cells: Vec<&str> = line.split('|').take(32).map(str::trim).collect();
    (cells.len() > 2).then_some(cells)
}
