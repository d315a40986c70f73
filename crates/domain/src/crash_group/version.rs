//! Compares versions of an application.

/// Whether `one` is later than `other`. Numeric parts are compared one by one; a missing part is 0. `None` if a part
/// isn't a number (decision I5).
#[must_use]
pub fn is_later(one: &str, other: &str) -> Option<bool> {
    let (one, other) = (parts(one)?, parts(other)?);
    let length = one.len().max(other.len());
    let part = |parts: &[u64], index: usize| parts.get(index).copied().unwrap_or(0);
    let mut pairs = (0..length).map(|index| (part(&one, index), part(&other, index)));
    Some(pairs.find(|(one, other)| one != other).is_some_and(|(one, other)| one > other))
}

/// The numeric parts of a version such as `9.2.1.4711` or `v9.2`.
fn parts(version: &str) -> Option<Vec<u64>> {
    let version = version.trim();
    let version = version.strip_prefix(['v', 'V']).unwrap_or(version);
    version.split('.').map(|part| part.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::is_later;

    /// Decision I5.
    #[test]
    fn versions_are_compared_by_their_numeric_parts() {
        for (one, other, expected) in [
            ("9.10", "9.9", Some(true)),
            ("9.2", "9.2.0.0", Some(false)),
            ("9.2.0.1", "9.2", Some(true)),
            ("v10", " 9.9.9 ", Some(true)),
            ("9.1", "9.2", Some(false)),
            ("9.2-beta", "9.2", None),
            ("", "9.2", None),
            ("9.2", "Lincoln", None),
            ("99999999999999999999", "1", None),
        ] {
            assert_eq!(is_later(one, other), expected, "{one:?} after {other:?}");
        }
    }
}
