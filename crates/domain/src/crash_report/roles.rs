//! Which part of a crash report has which role (decision C1).

#[cfg(test)]
mod tests;

use super::PartRole;
use crate::body::PartHead;

/// A role, the name of its part and its content types.
const ROLES: [(PartRole, &str, &[&str]); 3] = [
    (PartRole::CallStack, "CallStack", &["text/plain"]),
    (PartRole::Xml, "Xml", &["application/xml", "text/xml"]),
    (PartRole::Dump, "dump", &["application/octet-stream"]),
];

/// Assigns a role to each part, in three rounds over all parts: name and content type agree; the name alone; the
/// content type alone. The first part in the body wins. A part without a role of its own is an attachment.
pub(super) fn assign<'a>(heads: &(impl Iterator<Item = &'a PartHead> + Clone)) -> Vec<PartRole> {
    let mut roles: Vec<Option<PartRole>> = heads.clone().map(|_| None).collect();
    let rounds: [fn(bool, bool) -> bool; 3] = [|name, kind| name && kind, |name, _| name, |_, kind| kind];
    for agrees in rounds {
        for (role, name, kinds) in ROLES {
            if roles.contains(&Some(role)) {
                continue;
            }
            let fits = |head: &PartHead| agrees(has_name(head, name), has_kind(head, kinds));
            let first = heads.clone().zip(&roles).position(|(head, assigned)| assigned.is_none() && fits(head));
            if let Some(part) = first {
                roles[part] = Some(role);
            }
        }
    }
    roles.into_iter().map(|role| role.unwrap_or(PartRole::Attachment)).collect()
}

/// Whether a report is refused rather than stored without its part of this role (decision C6).
pub(super) fn is_required(role: PartRole) -> bool {
    matches!(role, PartRole::CallStack | PartRole::Xml)
}

/// Whether a part with this head can have such a role, whatever other parts there are.
pub(super) fn may_be_required(head: &PartHead) -> bool {
    ROLES.iter().any(|(role, name, kinds)| is_required(*role) && (has_name(head, name) || has_kind(head, kinds)))
}

fn has_name(head: &PartHead, name: &str) -> bool {
    head.name.as_deref().is_some_and(|sent| sent.eq_ignore_ascii_case(name))
}

fn has_kind(head: &PartHead, kinds: &[&str]) -> bool {
    head.content_type.as_deref().is_some_and(|sent| kinds.contains(&sent))
}
