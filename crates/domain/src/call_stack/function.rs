//! The name of a function, reduced to what is the same in every build and crash (decision I4).

mod groups;
mod managed;
#[cfg(test)]
mod tests;

use super::module::without_numbers;
use std::fmt::{self, Write};

/// Longest name that is looked at, in bytes.
const MAX_NAME: usize = 1024;

/// What compilers append to a function that they split or copied.
const SUFFIXES: [&str; 7] = [".cold", ".part", ".isra", ".constprop", ".lto_priv", ".llvm", ".localalias"];

/// A name without parameters, template arguments, offsets and parts that a compiler made. `None` for what is no name.
pub(super) fn reduce(function: &str) -> Option<String> {
    let name = function.trim();
    let name = &name[..floor_char_boundary(name, MAX_NAME)];
    if is_objective_c(name) {
        return Some(objective_c(name));
    }
    let name = without_offset(name);
    let name = demangled(name).unwrap_or_else(|| name.to_owned());
    let name = without_hash(&name);
    let name = before_marks(name);
    let name = managed::reduce(name);
    let name = groups::remove(&name);
    let name = last_word(name.split(" -> ").next().unwrap_or_default());
    let name = without_suffixes(name);
    let name = joined(name);
    let name = without_numbers(name.trim_matches([':', '.', ' ', ',']));
    let is_name =
        name.contains(|c: char| c.is_alphabetic() || c == '_') && !is_address(&name) && !name.starts_with('?');
    is_name.then_some(name)
}

fn floor_char_boundary(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|index| text.is_char_boundary(*index)).unwrap_or(0)
}

fn is_address(name: &str) -> bool {
    let digits = name.strip_prefix("0x").or_else(|| name.strip_prefix("0X")).unwrap_or(name);
    digits.len() >= 4
        && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
        && digits.bytes().any(|b| b.is_ascii_digit())
}

fn is_objective_c(name: &str) -> bool {
    let name = name.trim_start_matches('_').trim_start_matches(|character: char| character.is_ascii_digit());
    (name.starts_with("-[") || name.starts_with("+[")) && name.contains(']')
}

/// `-[Class method:]`, also of a block in it.
fn objective_c(name: &str) -> String {
    let start = name.find(['-', '+']).unwrap_or(0);
    let end = name.find(']').map_or(name.len(), |end| end + 1);
    without_numbers(name.get(start..end).unwrap_or(name))
}

/// Without `+0x1c`, `+ 29` or `+012h` at its end.
fn without_offset(name: &str) -> &str {
    let Some((before, offset)) = name.rsplit_once('+') else { return name };
    let offset = offset.trim();
    let digits = offset.strip_prefix("0x").unwrap_or(offset).trim_end_matches('h');
    let is_offset = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_operator = before.trim_end().ends_with("operator") || before.ends_with("operator+");
    if is_offset && !is_operator { before.trim_end() } else { name }
}

fn demangled(name: &str) -> Option<String> {
    let mut text = Bounded(String::new());
    if name.starts_with("_R") || name.starts_with("_ZN") || name.starts_with("__ZN") {
        let symbol = rustc_demangle::try_demangle(name).ok();
        if let Some(symbol) = symbol {
            // What doesn't fit is cut.
            let _ = write!(text, "{symbol:#}");
            return Some(text.0);
        }
    }
    let itanium = name.strip_prefix("__Z").map(|rest| format!("_Z{rest}"));
    let itanium = itanium.as_deref().or_else(|| name.starts_with("_Z").then_some(name))?;
    let itanium = itanium.split(['.', '@']).next().unwrap_or_default();
    let symbol = cpp_demangle::Symbol::new(itanium).ok()?;
    let options = cpp_demangle::DemangleOptions::new().no_params().recursion_limit(96);
    let _ = symbol.structured_demangle(&mut text, &options);
    (!text.0.is_empty()).then_some(text.0)
}

/// A demangled name may be far longer than the mangled one, so it is cut.
struct Bounded(String);

impl Write for Bounded {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        let room = MAX_NAME.saturating_sub(self.0.len());
        self.0.push_str(&text[..floor_char_boundary(text, room)]);
        if text.len() > room { Err(fmt::Error) } else { Ok(()) }
    }
}

/// Without the hash that ends names of Rust.
fn without_hash(name: &str) -> &str {
    match name.rsplit_once("::h") {
        Some((before, hash)) if hash.len() == 16 && hash.bytes().all(|byte| byte.is_ascii_hexdigit()) => before,
        _ => name,
    }
}

/// Without `@plt`, `@@GLIBC_2.2.5`, `[clone .cold]` and what follows them.
fn before_marks(name: &str) -> &str {
    let mut end = name.len();
    for mark in ["@plt", "@@", "@GLIBC", " [clone", "_block_invoke"] {
        end = end.min(name.find(mark).filter(|start| *start > 0).unwrap_or(end));
    }
    &name[..end]
}

/// The name without a return type before it: the last word, or all from `operator` on.
fn last_word(name: &str) -> &str {
    let name = name.trim();
    let name = ["const", "volatile", "noexcept", "&&", "&"].iter().fold(name, |name, qualifier| {
        name.strip_suffix(qualifier).filter(|rest| rest.ends_with([' ', ':'])).map_or(name, str::trim_end)
    });
    let end = name.find("operator").unwrap_or(name.len());
    let last = name[..end].rsplit(char::is_whitespace).next().unwrap_or_default();
    name[end - last.len()..].trim_start_matches(['*', '&'])
}

fn without_suffixes(name: &str) -> &str {
    let is_whole = |end: usize| name[end..].is_empty() || name[end..].starts_with('.');
    let cut = SUFFIXES
        .iter()
        .filter_map(|suffix| name.find(suffix).filter(|start| *start > 0 && is_whole(start + suffix.len())));
    &name[..cut.min().unwrap_or(name.len())]
}

/// Closes the gaps that removed parts have left between `::` or `.`, and drops `operator()` of a lambda.
fn joined(name: &str) -> String {
    let mut name = name.to_owned();
    while name.contains("::::") {
        name = name.replace("::::operator()", "").replace("::::", "::");
    }
    name
}
