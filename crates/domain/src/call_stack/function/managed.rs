//! Names that the compilers of .NET, Java and Delphi make.

/// `Type.<Method>d__12.MoveNext` is `Type.Method`; `Type.lambda$method$0` is `Type.method`.
pub(super) fn reduce(name: &str) -> String {
    let name = dotnet(name);
    if name.contains('$') { java(&name) } else { name }
}

/// State machines, lambdas and local functions.
fn dotnet(name: &str) -> String {
    let (mut kept, mut rest, mut is_made) = (String::with_capacity(name.len()), name, false);
    while let Some(open) = rest.find('<') {
        kept.push_str(&rest[..open]);
        let inner = &rest[open + 1..];
        let made = inner.find('>').and_then(|close| made_name(&inner[..close], &inner[close + 1..]));
        if let Some((method, following)) = made {
            is_made = true;
            kept.push_str(method);
            rest = following;
        } else if inner.starts_with('<') && inner.contains(">b__") {
            // The state machine of a lambda: the inner name is looked at next.
            rest = inner;
        } else {
            kept.push('<');
            rest = inner;
        }
    }
    kept.push_str(rest);
    if !is_made {
        return without_arity(&kept);
    }
    let kept = kept.replace(">d", "");
    let kept = kept.split('(').next().unwrap_or_default();
    let kept = kept.strip_suffix(".MoveNext").unwrap_or(kept);
    let parts: Vec<&str> = kept.split('.').filter(|part| !part.is_empty()).collect();
    without_arity(&parts.join("."))
}

/// The method in `<Method>d__12`, and what follows.
fn made_name<'a>(inner: &'a str, following: &'a str) -> Option<(&'a str, &'a str)> {
    let is_name = inner.chars().all(|character| character.is_alphanumeric() || "_.$".contains(character));
    let mut characters = following.chars();
    let kind = characters.next()?;
    let is_made = following.starts_with('$')
        || (kind.is_ascii_lowercase() && characters.as_str().starts_with("__"))
        || (inner.is_empty() && kind == 'c');
    if !is_name || !is_made {
        return None;
    }
    let end = following.find(|character: char| !(character.is_alphanumeric() || "_|$`".contains(character)));
    let method = inner.rsplit('.').next().unwrap_or_default();
    Some((method, &following[end.unwrap_or(following.len())..]))
}

/// ``List`1`` is `List`.
fn without_arity(name: &str) -> String {
    let mut kept = String::with_capacity(name.len());
    let mut parts = name.split('`');
    kept.push_str(parts.next().unwrap_or_default());
    for part in parts {
        let without = part.trim_start_matches(|character: char| character.is_ascii_digit());
        if without.len() == part.len() {
            kept.push('`');
        }
        kept.push_str(without);
    }
    kept
}

/// Lambdas, anonymous classes and proxies of Java, and anonymous methods of Delphi.
fn java(name: &str) -> String {
    let part = |part: &str| -> String {
        if let Some(lambda) = part.strip_prefix("lambda$") {
            return lambda.split('$').next().unwrap_or_default().to_owned();
        }
        let part = part.split("$$").next().unwrap_or_default();
        let is_kept = |piece: &&str| {
            !piece.is_empty() && !piece.bytes().all(|byte| byte.is_ascii_digit()) && !["ActRec", "Body"].contains(piece)
        };
        let first = if part.starts_with('$') { "$" } else { "" };
        format!("{first}{}", part.split('$').filter(is_kept).collect::<Vec<_>>().join("$"))
    };
    let (path, parameters) = name.split_at(name.find('(').unwrap_or(name.len()));
    let parts: Vec<String> = path.split('.').map(part).collect();
    let parts: Vec<&str> = parts.iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
    format!("{}{parameters}", parts.join("."))
}
