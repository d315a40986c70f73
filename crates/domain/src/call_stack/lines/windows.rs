//! Frames of cdb, WinDbg, Visual Studio and StackWalker.

use super::{hex_number, is_address, is_decimal, is_hex, word};
use crate::call_stack::{Frame, module};

pub(super) fn frame(line: &str) -> Option<Frame> {
    debugger(line).or_else(|| stack_walker(line))
}

/// `01 000000d1`0f8fe770 00007ff6`1a2b3c4d rip!Spooler::render+0x1a [C:\src\spooler.cpp @ 120]` of cdb,
/// `rip.exe!Spooler::render(int page=3) Line 120 C++` of Visual Studio.
fn debugger(line: &str) -> Option<Frame> {
    let (symbol, has_address) = symbol(line);
    let symbol = symbol.trim_start_matches("[Inline Frame]").trim_start();
    let symbol = symbol.split(" [").next().unwrap_or_default().trim_end();
    // A symbol with a colon heads the present instruction.
    if symbol.is_empty() || symbol.ends_with(':') {
        return None;
    }
    if let Some((name, function)) = symbol.split_once('!') {
        // Only a name stands before the mark, and only a symbol after it.
        let is_module =
            !name.is_empty() && name.len() <= 100 && name.chars().all(|c| c.is_alphanumeric() || "_-.+ ".contains(c));
        let is_symbol = function.starts_with(|c: char| c.is_alphanumeric() || "_?<~`@$:*[".contains(c));
        let is_frame = has_address || module::has_extension(name) || (!name.contains(' ') && !function.contains(' '));
        if !is_module || !is_symbol || !is_frame {
            return None;
        }
        return Frame::new(Some(name), Some(without_line(function)), None);
    }
    if let Some((name, offset)) = symbol.rsplit_once('+').filter(|(name, _)| !name.contains(char::is_whitespace)) {
        let number = hex_number(offset.trim_end_matches('h'));
        if number.is_some() && (has_address || (module::has_extension(name) && offset.starts_with("0x"))) {
            return Frame::new(Some(name), None, number);
        }
    }
    None
}

/// What follows frame number, addresses and arguments, and whether there was an address.
fn symbol(line: &str) -> (&str, bool) {
    let mut rest = line.strip_prefix('>').unwrap_or(line).trim_start();
    let (mut has_address, mut is_first) = (false, true);
    while let Some((first, after)) = word(rest) {
        let is_number = is_first && first.len() <= 3 && is_hex(first);
        let is_mark = ["(Inline", "Function)", "Function", ")", ":", "(Inline)", "--------`--------", "--------"]
            .contains(&first);
        if is_address(first) || first == "(Inline" {
            has_address = true;
        } else if !is_number && !is_mark {
            break;
        }
        if after.is_empty() {
            return ("", has_address);
        }
        (rest, is_first) = (after, false);
    }
    (rest, has_address)
}

/// Without what Visual Studio appends: ` Line 120` and the language, or the same word in another language.
fn without_line(function: &str) -> &str {
    let function = function.split('\t').next().unwrap_or_default();
    match function.rfind(')') {
        Some(end) if function[end + 1..].split_whitespace().any(is_decimal) => &function[..=end],
        _ => function,
    }
}

/// `c:\src\spooler.cpp (120): Spooler::render`, `77A11B2C (ntdll): (filename not available): RtlUserThreadStart`
fn stack_walker(line: &str) -> Option<Frame> {
    let (place, function) = line.rsplit_once("): ")?;
    let (place, inner) = place.split_once(" (")?;
    if let Some((name, _)) = inner.split_once("): (") {
        return (is_address(place) || is_hex(place)).then(|| Frame::new(Some(name), Some(function), None)).flatten();
    }
    let is_path = place.contains(['\\', '/']) && is_decimal(inner);
    is_path.then(|| Frame::new(None, Some(function), None)).flatten()
}
