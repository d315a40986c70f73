//! The forms of one line: which frame it is, or which thread begins there.

pub(super) mod delphi;
pub(super) mod managed;
pub(super) mod unix;
pub(super) mod windows;

use super::Frame;

/// Reads a line, blanks at its ends removed, as a frame of any form that needs no context.
pub(super) fn frame(line: &str) -> Option<Frame> {
    unix::frame(line).or_else(|| managed::frame(line)).or_else(|| delphi::frame(line)).or_else(|| windows::frame(line))
}

/// The word at the beginning, and what follows it without blanks.
pub(super) fn word(line: &str) -> Option<(&str, &str)> {
    let line = line.trim_start();
    let end = line.find(char::is_whitespace).unwrap_or(line.len());
    (end > 0).then(|| (&line[..end], line[end..].trim_start()))
}

pub(super) fn is_decimal(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit())
}

pub(super) fn is_hex(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// `0x7fff2034e92e`
pub(super) fn is_hex_with_mark(text: &str) -> bool {
    text.strip_prefix("0x").or_else(|| text.strip_prefix("0X")).is_some_and(is_hex)
}

/// Eight or sixteen digits, those of 64 bits perhaps with a backtick in the middle: an address of Windows.
pub(super) fn is_address(text: &str) -> bool {
    let digits = text.strip_prefix("0x").or_else(|| text.strip_prefix('$')).unwrap_or(text);
    match digits.split_once('`') {
        Some((high, low)) => high.len() == 8 && low.len() == 8 && is_hex(high) && is_hex(low),
        None => (digits.len() == 8 || digits.len() == 12 || digits.len() == 16) && is_hex(digits),
    }
}

/// A number after `0x`.
pub(super) fn hex_number(text: &str) -> Option<u64> {
    u64::from_str_radix(text.strip_prefix("0x").unwrap_or(text), 16).ok()
}
