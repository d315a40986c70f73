//! Frames of .NET and Java, and of Python.

use super::word;
use crate::call_stack::Frame;

/// The word before a frame of .NET in the languages of its run time; Java uses the first.
const AT: [&str; 12] = ["at", "bei", "à", "en", "in", "em", "в", "w", "v", "在", "場所", "위치:"];

/// `at Acme.Spooler.Render(Page page) in C:\src\Spooler.cs:line 120`, `at com.acme.Spooler.render(Spooler.java:120)`
pub(super) fn frame(line: &str) -> Option<Frame> {
    let (at, symbol) = word(line)?;
    if !AT.contains(&at) {
        return None;
    }
    let name = symbol.split('(').next().unwrap_or_default().trim_end();
    // A sentence may begin with the same word, and Rust writes a path there.
    let is_path = name.starts_with(['/', '.', '\\']) || name.get(1..3) == Some(":\\");
    let is_symbol = symbol.contains('(') && !name.contains(char::is_whitespace) && !is_path && !name.is_empty();
    if !is_symbol {
        return None;
    }
    // Java may write a loader and a module first: `app//com.acme.Spooler`, `java.base/java.lang.Thread`.
    let name = match name.rsplit_once('/') {
        Some((before, after)) if !before.contains('$') && !before.contains('<') => after,
        _ => name,
    };
    Frame::new(None, Some(name), None)
}

/// `File "spooler.py", line 8, in render`, and without the second comma from faulthandler.
pub(in crate::call_stack) fn python(line: &str) -> Option<Frame> {
    let (path, rest) = line.strip_prefix("File \"")?.split_once("\", line ")?;
    let function = rest.split_once(" in ").map(|(_, function)| function.trim())?;
    let file = path.rsplit(['/', '\\']).next().unwrap_or_default();
    let module = file.strip_suffix(".py").or_else(|| file.strip_suffix(".pyc")).unwrap_or(file);
    // The parts of a name in brackets are no template arguments: `<module>`, `Spooler.render.<locals>.<lambda>`.
    let function = function.replace(".<locals>", "").replace(['<', '>'], "");
    Some(Frame { module: None, function: Some(crate::text::cut(&format!("{module}.{function}"), 200)), offset: None })
}
