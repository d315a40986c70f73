//! The lists of words by which frames are judged.

use crate::call_stack::Frame;
use std::collections::{BTreeSet, HashMap};
use std::sync::LazyLock;

/// The role of a frame in a signature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is left out.
    Skipped,
    /// It belongs to the signature, and so does a frame after it.
    Prefix,
}

static DISPATCHERS: LazyLock<List> = LazyLock::new(|| List::read(include_str!("lists/dispatchers.txt")));
static SKIPPED: LazyLock<List> = LazyLock::new(|| List::read(include_str!("lists/skipped.txt")));
static PREFIXES: LazyLock<List> = LazyLock::new(|| List::read(include_str!("lists/prefixes.txt")));
static MODULES: LazyLock<List> = LazyLock::new(|| List::read(include_str!("lists/modules.txt")));

/// Whether what is above this frame only handles the exception.
pub(super) fn is_dispatcher(frame: &Frame) -> bool {
    frame.function.as_deref().is_some_and(|function| DISPATCHERS.rule(function).is_some())
}

/// The verdict and its rule; `None` for a frame of the program itself.
pub(super) fn judge(frame: &Frame) -> Option<(Verdict, &'static str)> {
    if let Some(function) = frame.function.as_deref() {
        if let Some(rule) = DISPATCHERS.rule(function).or_else(|| SKIPPED.rule(function)) {
            return Some((Verdict::Skipped, rule));
        }
        if let Some(rule) = PREFIXES.rule(function) {
            return Some((Verdict::Prefix, rule));
        }
    }
    let rule = frame.module.as_deref().and_then(|module| MODULES.rule(module))?;
    // Without a function only the offset is left, which differs between versions of the system.
    let verdict = if frame.function.is_some() { Verdict::Prefix } else { Verdict::Skipped };
    Some((verdict, rule))
}

/// Words, each with the rule that it belongs to.
struct List {
    exact: HashMap<&'static str, &'static str>,
    /// Beginnings of words.
    beginnings: HashMap<&'static str, &'static str>,
    /// Lengths in bytes that beginnings have.
    lengths: BTreeSet<usize>,
}

impl List {
    fn read(text: &'static str) -> Self {
        let (mut exact, mut beginnings) = (HashMap::new(), HashMap::new());
        let mut rule = "";
        for line in text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with("# ")) {
            // A heading; names of Objective-C begin with a sign.
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                rule = name;
            } else if let Some(beginning) = line.strip_suffix('*') {
                beginnings.insert(beginning, rule);
            } else {
                exact.insert(line, rule);
            }
        }
        let lengths = beginnings.keys().map(|beginning: &&str| beginning.len()).collect();
        Self { exact, beginnings, lengths }
    }

    fn rule(&self, word: &str) -> Option<&'static str> {
        let begins = |length: &usize| self.beginnings.get(word.get(..*length)?).copied();
        self.exact.get(word).copied().or_else(|| self.lengths.iter().find_map(begins))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_list_has_words_and_each_word_a_rule() {
        for list in [&*DISPATCHERS, &*SKIPPED, &*PREFIXES, &*MODULES] {
            assert!(!list.exact.is_empty());
            assert!(list.exact.iter().chain(&list.beginnings).all(|(word, rule)| !word.is_empty() && !rule.is_empty()));
        }
    }

    /// Decision I4.
    #[test]
    fn the_rule_of_a_frame_is_known() {
        let frame = |module: &str, function: &str| Frame {
            module: Some(module.to_owned()),
            function: Some(function.to_owned()),
            offset: None,
        };
        assert_eq!(judge(&frame("ucrtbase", "abort")), Some((Verdict::Skipped, "abort and terminate")));
        assert_eq!(judge(&frame("ntdll", "RtlFreeHeap")), Some((Verdict::Prefix, "memory")));
        assert_eq!(judge(&frame("ntdll", "LdrpInitialize")), Some((Verdict::Prefix, "module of the system")));
        assert_eq!(judge(&frame("rip", "Spooler::render")), None);
        assert!(is_dispatcher(&frame("ntdll", "KiUserExceptionDispatch")));
    }
}
