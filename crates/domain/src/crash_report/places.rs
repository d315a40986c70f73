//! Which part of a crash report takes which place (decision C1).

#[cfg(test)]
mod tests;

use super::PartRole;
use crate::body::PartHead;

/// A place, the name of its part and its content types.
const PLACES: [(PartRole, &str, &[&str]); 3] = [
    (PartRole::CallStack, "CallStack", &["text/plain"]),
    (PartRole::Xml, "Xml", &["application/xml", "text/xml"]),
    (PartRole::Dump, "dump", &["application/octet-stream"]),
];

/// The place of each part. Three rounds over all parts: name and content type agree; the name alone;
/// the content type alone. The first in the body wins; what gets no place is an attachment.
pub(super) fn assign<'a>(heads: &(impl Iterator<Item = &'a PartHead> + Clone)) -> Vec<PartRole> {
    let mut places: Vec<Option<PartRole>> = heads.clone().map(|_| None).collect();
    let rounds: [fn(bool, bool) -> bool; 3] = [|name, kind| name && kind, |name, _| name, |_, kind| kind];
    for agrees in rounds {
        for (place, name, kinds) in PLACES {
            if places.contains(&Some(place)) {
                continue;
            }
            let fits = |head: &PartHead| agrees(has_name(head, name), has_kind(head, kinds));
            let first = heads.clone().zip(&places).position(|(head, taken)| taken.is_none() && fits(head));
            if let Some(part) = first {
                places[part] = Some(place);
            }
        }
    }
    places.into_iter().map(|place| place.unwrap_or(PartRole::Attachment)).collect()
}

/// Whether a report is refused rather than stored without a part in this place (decision C6).
pub(super) fn is_required(place: PartRole) -> bool {
    matches!(place, PartRole::CallStack | PartRole::Xml)
}

/// Whether a part with this head can take such a place, whatever other parts there are.
pub(super) fn may_be_required(head: &PartHead) -> bool {
    PLACES.iter().any(|(place, name, kinds)| is_required(*place) && (has_name(head, name) || has_kind(head, kinds)))
}

fn has_name(head: &PartHead, name: &str) -> bool {
    head.name.as_deref().is_some_and(|sent| sent.eq_ignore_ascii_case(name))
}

fn has_kind(head: &PartHead, kinds: &[&str]) -> bool {
    head.content_type.as_deref().is_some_and(|sent| kinds.contains(&sent))
}
