//! Links with a query.

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use std::fmt::Write;

/// All but what stands for itself everywhere in a URL (RFC 3986, 2.3).
const ESCAPED: &AsciiSet = &NON_ALPHANUMERIC.remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// A text as one segment of a path, or one value of a query.
pub(crate) fn encoded(text: &str) -> String {
    utf8_percent_encode(text, ESCAPED).to_string()
}

/// A path with those members of a query that aren't empty.
pub(crate) fn link(path: &str, members: &[(&str, &str)]) -> String {
    let mut link = path.to_owned();
    for (name, value) in members.iter().filter(|(_, value)| !value.is_empty()) {
        let separator = if link.contains('?') { '&' } else { '?' };
        // Writing to a text can't fail.
        let _ = write!(link, "{separator}{name}={}", encoded(value));
    }
    link
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_holds_what_is_given_and_nothing_else() {
        assert_eq!(link("/console/resources", &[("q", ""), ("type", "")]), "/console/resources");
        let hostile = [("q", "a&b=c#d\"<é"), ("cursor", "7.x y/.."), ("type", "")];
        let expected = "/console/resources?q=a%26b%3Dc%23d%22%3C%C3%A9&cursor=7.x%20y%2F..";
        assert_eq!(link("/console/resources", &hostile), expected);
    }
}
