//! Removes what stands in brackets: parameters, template arguments, lambdas, anonymous namespaces.

/// Characters that the name of an operator may consist of.
const OPERATOR: &str = "<>=!+-*/%^&|~,";

/// The name without its groups. A group that isn't closed ends the name.
pub(super) fn remove(name: &str) -> String {
    let name = rust_implementation(name);
    let characters: Vec<char> = name.chars().collect();
    let (mut kept, mut open) = (String::with_capacity(name.len()), Vec::new());
    let mut index = 0;
    while let Some(&character) = characters.get(index) {
        if open.is_empty() && is_operator(&kept) {
            let symbol = operator(&characters[index..]);
            if !symbol.is_empty() {
                index += symbol.chars().count();
                kept.push_str(&symbol);
                continue;
            }
        }
        match character {
            '<' | '(' | '[' | '{' | '`' => open.push(closing(character)),
            // The arrow of a return type closes nothing.
            '>' if index > 0 && characters[index - 1] == '-' => kept.extend(open.is_empty().then_some('>')),
            _ if open.last() == Some(&character) => drop(open.pop()),
            // Brackets that don't match: the outer group ends.
            '>' | ')' | ']' | '}' | '\'' if open.contains(&character) => {
                let opened = open.iter().rposition(|expected| *expected == character);
                open.truncate(opened.unwrap_or(0));
            }
            '>' | ')' | ']' | '}' | '\'' => {}
            _ if open.is_empty() => kept.push(character),
            _ => {}
        }
        index += 1;
    }
    kept
}

fn closing(opening: char) -> char {
    match opening {
        '<' => '>',
        '(' => ')',
        '[' => ']',
        '{' => '}',
        _ => '\'',
    }
}

/// `<Type as Trait>::method` of Rust is `Type::method`.
fn rust_implementation(name: &str) -> String {
    if !name.starts_with('<') || name.starts_with("<lambda") {
        return name.to_owned();
    }
    let (mut depth, mut end) = (0_usize, None);
    for (index, character) in name.char_indices() {
        match character {
            '<' => depth += 1,
            '>' if !name[..index].ends_with('-') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            end = Some(index);
            break;
        }
    }
    match end {
        Some(end) if name[end + 1..].starts_with("::") => {
            let inner = &name[1..end];
            let subject = inner.split(" as ").next().unwrap_or_default().trim_start_matches(['&', '*']);
            format!("{subject}{}", &name[end + 1..])
        }
        _ => name.to_owned(),
    }
}

/// Whether the name of an operator follows.
fn is_operator(kept: &str) -> bool {
    kept.trim_end()
        .strip_suffix("operator")
        .is_some_and(|before| !before.ends_with(|character: char| character.is_alphanumeric() || character == '_'))
}

/// The symbol of an operator at the beginning of `rest`.
fn operator(rest: &[char]) -> String {
    match rest {
        ['(', ')', ..] => "()".to_owned(),
        ['[', ']', ..] => "[]".to_owned(),
        _ => {
            let mut symbol: String =
                rest.iter().take(3).take_while(|character| OPERATOR.contains(**character)).collect();
            let is_template = rest.get(symbol.len()).is_some_and(|character| character.is_alphabetic());
            // `operator<<int>` is the operator < with a template argument.
            if is_template && symbol.len() > 1 && symbol.ends_with('<') {
                symbol.pop();
            }
            symbol
        }
    }
}
