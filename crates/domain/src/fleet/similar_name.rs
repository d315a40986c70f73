//! Names that differ from others by case only: they are different names (decision O2), and mostly a mistake.

use crate::text::Folded;
use std::collections::{BTreeSet, HashMap};
use std::fmt;

/// A new name that differs from a registered one by case only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SimilarName {
    pub name: String,
    pub other: String,
    /// The organization of users; `None` for organizations themselves.
    pub organization: Option<String>,
}

impl SimilarName {
    /// Those of the names `added` that differ from another of `all` by case only, each pair once. `all` are the
    /// names of one scope, those that were added among them.
    #[must_use]
    pub fn among(added: &BTreeSet<&str>, all: &[String], organization: Option<&str>) -> Vec<Self> {
        let mut groups: HashMap<Folded, Vec<&str>> = HashMap::new();
        for name in all {
            groups.entry(Folded::of(name)).or_default().push(name);
        }
        let mut found = Vec::new();
        for &name in added {
            let others = groups.get(&Folded::of(name)).into_iter().flatten();
            let is_other = |other: &&&str| **other != name && !(added.contains(**other) && **other > name);
            found.extend(others.filter(is_other).map(|other| Self {
                name: name.to_owned(),
                other: (*other).to_owned(),
                organization: organization.map(str::to_owned),
            }));
        }
        found
    }
}

impl fmt::Display for SimilarName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, other, organization } = self;
        match organization {
            Some(organization) => write!(out, "user \"{name}\" of \"{organization}\"")?,
            None => write!(out, "organization \"{name}\"")?,
        }
        write!(out, " differs from \"{other}\" by case only: they are two")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_pair_is_reported_once_and_only_of_what_was_added() {
        let all = ["Ann", "ann", "ANN", "Bob", "bob", "Zoe"].map(str::to_owned);
        let output = |added: &[&str]| -> Vec<String> {
            let found = SimilarName::among(&added.iter().copied().collect(), &all, Some("Acme Print"));
            found.iter().map(|pair| format!("{} {}", pair.name, pair.other)).collect()
        };
        assert_eq!(output(&["ann", "Zoe"]), ["ann Ann", "ann ANN"]);
        assert_eq!(output(&["Bob", "bob"]), ["bob Bob"]);
        assert!(output(&[]).is_empty());
        let shown = SimilarName { name: "ann".into(), other: "Ann".into(), organization: Some("Acme Print".into()) };
        assert_eq!(shown.to_string(), "user \"ann\" of \"Acme Print\" differs from \"Ann\" by case only: they are two");
    }
}
