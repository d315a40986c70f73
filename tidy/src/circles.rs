//! Circles of files: files of one crate that use each other, directly or over others.
//!
//! A file uses another if it names a path into it: `crate::…` or `super::…`, in `use` or elsewhere. A
//! name that a module re-exports counts for the file that it comes from. A module and its parent are
//! one unit: the parent declares the child.

use crate::product::ProductFile;
use std::collections::{BTreeMap, BTreeSet};

type Module = Vec<String>;

/// The circles among files of one crate, each as the paths of its files.
pub fn circles(files: &[ProductFile]) -> Vec<Vec<String>> {
    let paths: BTreeMap<&Module, &str> = files.iter().map(|file| (&file.module, file.path.as_str())).collect();
    let uses = uses(files);
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        uses.keys().map(|module| (module, reachable(module, &uses))).collect();
    let mut found = BTreeSet::new();
    for (module, others) in &reached {
        if others.contains(module) {
            let circle = others.iter().filter(|other| reached[**other].contains(module));
            found.insert(circle.map(|member| paths[*member].to_owned()).collect::<Vec<_>>());
        }
    }
    found.into_iter().collect()
}

/// Which modules each module uses, without its parents and children.
fn uses(files: &[ProductFile]) -> BTreeMap<Module, BTreeSet<Module>> {
    let known: BTreeSet<&Module> = files.iter().map(|file| &file.module).collect();
    let exports: BTreeMap<(Module, String), Module> = files.iter().flat_map(|file| exports(file, &known)).collect();
    let used_by = |file: &ProductFile| -> BTreeSet<Module> {
        let resolved = paths(&code(&file.text)).into_iter().filter_map(|path| {
            let target = resolve(&absolute(&file.module, &path)?, &known, &exports);
            (!target.starts_with(&file.module) && !file.module.starts_with(&target)).then_some(target)
        });
        resolved.collect()
    };
    files.iter().map(|file| (file.module.clone(), used_by(file))).collect()
}

fn reachable<'a>(start: &Module, uses: &'a BTreeMap<Module, BTreeSet<Module>>) -> BTreeSet<&'a Module> {
    let mut seen = BTreeSet::new();
    let mut open: Vec<&Module> = uses[start].iter().collect();
    while let Some(next) = open.pop() {
        if seen.insert(next) {
            open.extend(&uses[next]);
        }
    }
    seen
}

/// The names that a file re-exports, with the path that each stands for.
fn exports(file: &ProductFile, known: &BTreeSet<&Module>) -> Vec<((Module, String), Module)> {
    let text = code(&file.text);
    let mut exports = Vec::new();
    for statement in text.split("pub").skip(1).filter_map(|rest| {
        let rest = rest.strip_prefix('(').and_then(|rest| rest.split_once(')')).map_or(rest, |(_, rest)| rest);
        rest.strip_prefix(" use ")?.split(';').next()
    }) {
        for path in tree(&mut tokens(statement).into_iter().peekable()) {
            let mut inside = file.module.clone();
            inside.push(path[0].clone());
            let path = if known.contains(&inside) { [file.module.clone(), path].concat() } else { path };
            let target = absolute(&file.module, &path).unwrap_or(path);
            if let Some(name) = target.last() {
                exports.push(((file.module.clone(), name.clone()), target.clone()));
            }
        }
    }
    exports
}

/// A path from the crate's root; nothing for paths into other crates.
fn absolute(module: &Module, path: &[String]) -> Option<Module> {
    let first = path.first()?;
    match first.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "self" => Some([module.clone(), path[1..].to_vec()].concat()),
        "super" => {
            let parent = module[..module.len().checked_sub(1)?].to_vec();
            match path.get(1).map(String::as_str) {
                Some("super") => absolute(&parent, &path[1..]),
                _ => Some([parent, path[1..].to_vec()].concat()),
            }
        }
        _ => None,
    }
}

/// The file that defines a path: the module that holds it, through re-exports.
fn resolve(path: &Module, known: &BTreeSet<&Module>, exports: &BTreeMap<(Module, String), Module>) -> Module {
    let length = (0..=path.len()).rev().find(|length| known.contains(&path[..*length].to_vec())).unwrap_or(0);
    let module = path[..length].to_vec();
    let exported = path.get(length).and_then(|name| exports.get(&(module.clone(), name.clone())));
    match exported {
        Some(target) if target != path && target.len() > length => resolve(target, known, exports),
        _ => module,
    }
}

/// The text without comments and without the contents of texts.
fn code(text: &str) -> String {
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<_>>().join("\n")
}

/// All paths of a text that begin with `crate` or `super`.
fn paths(text: &str) -> Vec<Module> {
    let mut found = Vec::new();
    let mut tokens = tokens(text).into_iter().peekable();
    while let Some(token) = tokens.peek() {
        if token == "crate" || token == "super" {
            found.extend(tree(&mut tokens).into_iter().filter(|path| path.len() > 1));
        } else {
            tokens.next();
        }
    }
    found
}

/// Identifiers, `::`, and single other characters.
fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut inside = false;
    for character in text.chars() {
        let in_word = character.is_alphanumeric() || character == '_';
        match tokens.last_mut() {
            Some(last) if in_word && inside => last.push(character),
            Some(last) if character == ':' && last == ":" => last.push(':'),
            _ if character.is_whitespace() => {}
            _ => tokens.push(character.to_string()),
        }
        inside = in_word;
    }
    tokens
}

/// The paths of a use tree, such as `a::{b, c::d}`. What follows `as` is left out.
fn tree(tokens: &mut std::iter::Peekable<std::vec::IntoIter<String>>) -> Vec<Module> {
    let mut path = Vec::new();
    while let Some(token) = tokens.next_if(|token| token.starts_with(|c: char| c.is_alphanumeric() || c == '_')) {
        path.push(token);
        if tokens.next_if(|token| token == "::").is_none() {
            return vec![path];
        }
    }
    if tokens.next_if(|token| token == "{").is_none() {
        return vec![path];
    }
    let mut found = Vec::new();
    while let Some(token) = tokens.peek() {
        if token == "}" {
            tokens.next();
            break;
        }
        let before = tokens.len();
        found.extend(
            tree(tokens)
                .into_iter()
                .filter(|rest| !rest.is_empty() && rest[0] != "as")
                .map(|rest| [path.clone(), rest].concat()),
        );
        if tokens.len() == before {
            tokens.next();
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(module: &str, text: &str) -> ProductFile {
        ProductFile {
            path: format!("{module}.rs"),
            crate_name: "a".to_owned(),
            module: module.split('/').filter(|segment| *segment != "lib").map(str::to_owned).collect(),
            text: text.to_owned(),
        }
    }

    #[test]
    fn two_files_that_use_each_other_are_a_circle() {
        let files = [file("lib", "mod a;"), file("a", "use crate::b::B;"), file("b", "fn f(a: &crate::a::A) {}")];
        assert_eq!(circles(&files), [["a.rs", "b.rs"]]);
    }

    #[test]
    fn a_module_and_its_parent_are_one() {
        let files = [file("a", "mod b;\nuse b::B;"), file("a/b", "use super::A;")];
        assert_eq!(circles(&files), Vec::<Vec<String>>::new());
    }

    #[test]
    fn a_circle_through_a_re_exported_name_and_a_group_is_found() {
        let files = [
            file("a", "pub use model::{A, Other};\nmod model;\nmod service;"),
            file("a/model", "use crate::b::{\n    C, // a comment\n    B,\n};"),
            file("a/service", ""),
            file("b", "use crate::{c::C, a::A};"),
            file("c", "// crate::a::A"),
        ];
        assert_eq!(circles(&files), [["a/model.rs", "b.rs"]]);
    }

    #[test]
    fn siblings_that_use_each_other_over_their_parent_are_a_circle() {
        let files = [file("a", ""), file("a/b", "use super::c::C;"), file("a/c", "use super::b;")];
        assert_eq!(circles(&files), [["a/b.rs", "a/c.rs"]]);
    }
}
