//! Which part of a crash report takes which place (decision C1).

use super::Place;
use crate::body::PartHead;

/// A place, the name of its part and its content types.
const PLACES: [(Place, &str, &[&str]); 3] = [
    (Place::CallStack, "CallStack", &["text/plain"]),
    (Place::Xml, "Xml", &["application/xml", "text/xml"]),
    (Place::Dump, "dump", &["application/octet-stream"]),
];

/// The place of each part. Three rounds over all parts: name and content type agree; the name alone;
/// the content type alone. The first in the body wins; what gets no place is an attachment.
pub(super) fn assign<'a>(heads: &(impl Iterator<Item = &'a PartHead> + Clone)) -> Vec<Place> {
    let mut places: Vec<Option<Place>> = heads.clone().map(|_| None).collect();
    let rounds: [fn(bool, bool) -> bool; 3] = [|name, kind| name && kind, |name, _| name, |_, kind| kind];
    for agrees in rounds {
        for (place, name, kinds) in PLACES {
            if places.contains(&Some(place)) {
                continue;
            }
            let fits = |head: &PartHead| {
                let name = head.name.as_deref().is_some_and(|sent| sent.eq_ignore_ascii_case(name));
                let kind = head.content_type.as_deref().is_some_and(|sent| kinds.contains(&sent));
                agrees(name, kind)
            };
            let first = heads.clone().zip(&places).position(|(head, taken)| taken.is_none() && fits(head));
            if let Some(part) = first {
                places[part] = Some(place);
            }
        }
    }
    places.into_iter().map(|place| place.unwrap_or(Place::Attachment)).collect()
}
