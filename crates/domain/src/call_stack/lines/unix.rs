//! Frames of gdb, lldb, macOS crash reports, `backtrace_symbols`, Qt's log and Rust.

use super::{hex_number, is_decimal, is_hex_with_mark, word};
use crate::call_stack::Frame;

pub(super) fn frame(line: &str) -> Option<Frame> {
    lldb(line).or_else(|| gdb(line)).or_else(|| numbered(line)).or_else(|| macos(line)).or_else(|| symbols(line))
}

/// ``frame #0: 0x0000000100003f50 rip`Spooler::render(this=0x1, page=3) at spooler.cpp:120:5``
fn lldb(line: &str) -> Option<Frame> {
    let line = line.strip_prefix("* ").unwrap_or(line).trim_start();
    let (number, rest) = line.strip_prefix("frame #")?.split_once(':')?;
    if !is_decimal(number) {
        return None;
    }
    let (address, rest) = word(rest)?;
    let rest = if is_hex_with_mark(address) { rest } else { return Frame::new(None, Some(address), None) };
    match rest.split_once('`') {
        Some((module, symbol)) => {
            let function = symbol.split(" at ").next().unwrap_or_default();
            Frame::new(Some(module), Some(function), None)
        }
        None => Frame::new(None, Some(rest), None),
    }
}

/// `#1  0x00007f in Spooler::render (this=0x1, page=3) at spooler.cpp:120`, also of sanitizers.
fn gdb(line: &str) -> Option<Frame> {
    let (number, rest) = word(line.strip_prefix('#')?)?;
    if !is_decimal(number) {
        return None;
    }
    let (address, after) = word(rest)?;
    let rest = if is_hex_with_mark(address) { after.strip_prefix("in ").unwrap_or(after) } else { rest };
    if rest.starts_with("<signal handler called>") {
        return Some(Frame { function: Some("<signal handler called>".to_owned()), ..Frame::default() });
    }
    let module = rest.rsplit_once(" from ").map(|(_, module)| module);
    let function = rest.split(" from ").next().unwrap_or_default();
    let function = function.split(" at ").next().unwrap_or_default();
    // A sanitizer writes the module in brackets where it knows no line: `(/usr/bin/rip+0x1234)`.
    if let Some((module, offset)) = function.trim().strip_prefix('(').and_then(bracketed) {
        return Frame::new(Some(module), None, Some(offset));
    }
    Frame::new(module, Some(without_path(function)), None)
}

/// `/usr/bin/rip+0x1234)`
fn bracketed(text: &str) -> Option<(&str, u64)> {
    let (module, offset) = text.split(')').next()?.rsplit_once('+')?;
    Some((module, hex_number(offset)?))
}

/// Without the path that a sanitizer writes after the function.
fn without_path(function: &str) -> &str {
    match function.find(" /") {
        Some(start) if !function[..start].trim_end().ends_with("operator") => &function[..start],
        _ => function,
    }
}

/// `3: rip::spooler::render` of Rust, perhaps with `0x55d1 -` before the name.
fn numbered(line: &str) -> Option<Frame> {
    let (number, rest) = line.split_once(':')?;
    if !is_decimal(number) || number.len() > 4 || !rest.starts_with(' ') {
        return None;
    }
    let rest = rest.trim_start();
    let rest = match word(rest) {
        Some((address, after)) if is_hex_with_mark(address) => after.strip_prefix('-')?.trim_start(),
        _ => rest,
    };
    // A sentence is no symbol.
    let is_symbol = !rest.is_empty() && !is_sentence(rest);
    is_symbol.then(|| Frame::new(None, Some(rest), None)).flatten()
}

/// Whether a text is several words, other than those between brackets.
fn is_sentence(text: &str) -> bool {
    let outside = text.split(['<', '(', '{']).next().unwrap_or_default();
    outside.split_whitespace().count() > 1
}

/// `1   com.acme.rip   0x000000010a1b2c3d Spooler::render(int) + 29 (spooler.cpp:120)`
fn macos(line: &str) -> Option<Frame> {
    let (number, rest) = word(line)?;
    if !is_decimal(number) {
        return None;
    }
    let address = rest.match_indices("0x").find(|(start, _)| rest[..*start].ends_with(char::is_whitespace))?.0;
    let (address, module) = (&rest[address..], rest[..address].trim());
    let (address, symbol) = word(address)?;
    if !is_hex_with_mark(address) || module.is_empty() {
        return None;
    }
    let symbol = match symbol.rsplit_once(" (") {
        Some((symbol, place)) if place.contains(':') => symbol,
        _ => symbol,
    };
    // Without a symbol the address of the module stands there: `0x10a1b000 + 12345`.
    if let Some((base, offset)) = symbol.split_once(" + ")
        && (is_hex_with_mark(base) || base == module)
    {
        return Frame::new(Some(module), None, offset.trim().parse().ok());
    }
    Frame::new(Some(module), Some(symbol), None)
}

/// `/usr/bin/rip(_ZN7Spooler6renderEi+0x1d) [0x55d1c2]` of glibc, and of Qt.
fn symbols(line: &str) -> Option<Frame> {
    let (place, address) = line.rsplit_once('[')?;
    if !is_hex_with_mark(address.strip_suffix(']')?) {
        return None;
    }
    let place = place.trim_end();
    let Some((module, symbol)) = place.strip_suffix(')').and_then(|place| place.split_once('(')) else {
        return Frame::new(Some(place), None, None);
    };
    match symbol.strip_prefix('+') {
        Some(offset) => Frame::new(Some(module), None, hex_number(offset)),
        None => Frame::new(Some(module), Some(symbol), None),
    }
}

/// Frames of `%{backtrace}` in Qt's message pattern: `[Spooler::render|Page::draw|?libc.so.6?|main]`.
pub(in crate::call_stack) fn qt_backtrace(line: &str) -> Option<Vec<Frame>> {
    let inner = line.strip_suffix(']')?.rsplit_once('[')?.1;
    if !inner.contains('|') || !inner.contains("::") {
        return None;
    }
    let frame = |part: &str| match part.strip_prefix('?') {
        Some(module) => Frame::new(Some(module.trim_end_matches('?')), None, None),
        None => Frame::new(None, Some(part), None),
    };
    let frames: Vec<Frame> = inner.split('|').filter_map(frame).collect();
    (!frames.is_empty()).then_some(frames)
}
