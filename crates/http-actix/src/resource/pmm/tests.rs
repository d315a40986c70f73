//! How a PMM lookup is spelled in JSON (decisions R5, T20).

use super::*;
use crate::extract::json::parse;
use domain::testing::pmm_key;
use serde_json::{Value, json};

fn pmm() -> Value {
    json!({ "ProfileGroup": "Latex", "Media": "Vinyl", "Mode": "6 Pass" })
}

fn read(body: &Value) -> Result<PmmKey, Failure> {
    PmmKey::try_from(parse::<PmmQueryBody>(body.to_string().as_bytes()).unwrap())
}

fn is_required(body: &Value) -> bool {
    matches!(read(body), Err(Failure::Refused(refusal)) if refusal.reason == Reason::PmmValuesRequired)
}

#[test]
fn a_pmm_lookup_is_bare_or_wrapped_in_an_array_of_one() {
    // Interface 4.6, decision T20.
    let key = pmm_key("LATEX", "vinyl", "6 pass");
    assert_eq!(read(&pmm()).unwrap(), key);
    assert_eq!(read(&json!([pmm()])).unwrap(), key);
    let wrong = [json!(null), json!(5), json!("Latex"), json!([]), json!([5]), json!([null]), json!([{}, {}])];
    for body in wrong.into_iter().chain([json!([[{}]]), json!([[pmm()]])]) {
        assert!(is_required(&body), "{body}");
    }
}

#[test]
fn each_value_of_a_pmm_lookup_is_a_text() {
    // Decisions R5, T20.
    for name in ["ProfileGroup", "Media", "Mode"] {
        for value in [json!(null), json!(""), json!(" "), json!([]), json!({}), json!(false), json!(["Latex"])] {
            let mut body = pmm();
            body[name] = value;
            assert!(is_required(&body), "{body}");
        }
    }
    let number: PmmQueryBody = parse(br#"{"ProfileGroup":"Latex","Media":"Vinyl","Mode":1.50}"#).unwrap();
    assert_eq!(PmmKey::try_from(number).unwrap(), pmm_key("Latex", "Vinyl", "1.50"));
}
