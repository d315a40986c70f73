//! How a resource list is spelled in JSON (decisions R5, T19).

use super::*;
use crate::extract::json::parse;
use domain::resource::Domain;
use domain::text::Folded;
use serde_json::{Value, json};

fn list(body: &Value) -> Result<ListFilter, Failure> {
    ListFilter::try_from(parse::<ResourceFilterBody>(body.to_string().as_bytes()).unwrap())
}

fn refused(body: &Value) -> Reason {
    match list(body) {
        Err(Failure::Refused(refusal)) => refusal.reason,
        other => panic!("not refused: {body} {other:?}"),
    }
}

#[test]
fn resource_types_are_an_array_of_texts() {
    // Decision T19.
    let wrong = [
        json!({}),
        json!([]),
        json!(5),
        json!(null),
        json!({ "ResourceTypes": null }),
        json!({ "ResourceTypes": [] }),
        json!({ "ResourceTypes": [null] }),
        json!({ "ResourceTypes": "Label" }),
        json!({ "ResourceTypes": {} }),
        json!({ "ResourceTypes": ["Label", 5] }),
        json!({ "ResourceTypes": [["Label"]] }),
        json!([{ "ResourceTypes": ["Label"] }, {}]),
        json!(["*"]),
    ];
    for body in wrong {
        assert_eq!(refused(&body), Reason::ResourceTypesRequired, "{body}");
    }
    let filter = list(&json!([{ "resourcetypes": ["Äther", "äTHER", "Label", null, ""] }])).unwrap();
    assert_eq!(filter.types, Some(["", "label", "äther"].map(Folded::of).to_vec()));
    assert_eq!(list(&json!({ "ResourceTypes": ["Label", "*"] })).unwrap().types, None);
}

#[test]
fn a_domain_is_a_text() {
    // Decisions R5, T19: a number is no word of the interface.
    let with = |domain: Value| json!({ "ResourceTypes": ["*"], "domain": domain });
    assert_eq!(list(&with(json!(null))).unwrap().domain, Domain::Private);
    assert_eq!(list(&with(json!("PUBLIC"))).unwrap().domain, Domain::Public);
    for wrong in [json!(""), json!("All"), json!(1), json!([]), json!({}), json!(true), json!(["Public"])] {
        assert_eq!(refused(&with(wrong.clone())), Reason::DomainInvalid, "{wrong}");
    }
}
