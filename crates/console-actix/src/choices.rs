//! Choices of filter forms.

use domain::operator::{OperatorError, OrganizationList, Scope};
use domain::page::PageRequest;
use operator_actix::authenticate::Caller;

/// Organizations in a choice, at most.
const MAX_ORGANIZATIONS: u64 = 500;

/// Pairs of value and word for all organizations; none where the operator sees one only.
pub(crate) async fn organizations(
    caller: &Caller,
    list: &OrganizationList,
) -> Result<Vec<(String, String)>, OperatorError> {
    if caller.actor.scope != Scope::All {
        return Ok(Vec::new());
    }
    let asked = PageRequest { after: None, limit: MAX_ORGANIZATIONS };
    let names = list.list(&caller.actor, asked).await?.items.into_iter().map(|one| (one.name.clone(), one.name));
    Ok(std::iter::once((String::new(), "All".to_owned())).chain(names).collect())
}

/// A choice whose first word means all.
pub(crate) fn words<const N: usize>(words: [(&str, &str); N]) -> Vec<(String, String)> {
    words.into_iter().map(|(value, word)| (value.to_owned(), word.to_owned())).collect()
}
