//! The clauses of [`crate::operator::OperatorRepository`].

use super::operator_scene::{a_new_operator, a_record, add, begin, found, issue};
use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::operator::{AddOutcome, NewOperator, OperatorName, PasswordHash, Role, Scope};
use crate::testing::{ACME, at};
use crate::text::Folded;
use futures_util::future::try_join_all;

/// Decision P1.
pub async fn an_operator_is_found_by_name_without_case(stores: &Stores) -> Kept {
    let new = NewOperator { role: Role::Viewer, created: at(7), ..a_new_operator("Ann Üzer") };
    let added = add(stores, &new).await?;
    assert_eq!((added.name.as_str(), added.role, added.scope), ("Ann Üzer", Role::Viewer, Scope::All));
    assert_eq!((added.organization.as_deref(), added.created, added.last_sign_in), (None, at(7), None));
    let one = stores.operators.find(&Folded::of("ANN üZER")).await?.ok_or("not found")?;
    assert_eq!((one.operator, one.password), (added, new.password));
    assert_eq!(stores.operators.find(&Folded::of("Ann")).await?, None);
    Ok(())
}

/// Decision P1.
pub async fn a_name_is_taken_without_case(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let taken = stores.operators.add(&a_new_operator("aNN"), &a_record("second")).await?;
    assert_eq!(taken, AddOutcome::NameTaken);
    assert_eq!(found(stores, "Ann").await?, Some(ann));
    Ok(())
}

/// One statement decides, also where several processes add at the same time.
pub async fn of_concurrent_operators_of_one_name_one_is_added(stores: &Stores) -> Kept {
    let (new, record) = (a_new_operator("Ann"), a_record("one of many"));
    let outcomes = try_join_all((0..8).map(|_| stores.operators.add(&new, &record))).await?;
    let added = outcomes.iter().filter(|outcome| matches!(outcome, AddOutcome::Added(_))).count();
    assert_eq!(added, 1, "{outcomes:?}");
    Ok(())
}

/// Decision P8.
pub async fn an_operator_of_an_organization_belongs_to_it(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let of_acme = NewOperator { organization: Some(ACME.to_owned()), ..a_new_operator("Ann") };
    let ann = add(stores, &of_acme).await?;
    assert_eq!((ann.scope, ann.organization.as_deref()), (Scope::Organization(acme), Some(ACME)));
    add(stores, &a_new_operator("Root")).await?;
    let unknown = NewOperator { organization: Some("Acme".to_owned()), ..a_new_operator("Eve") };
    assert_eq!(stores.operators.add(&unknown, &a_record("Eve")).await?, AddOutcome::UnknownOrganization);
    assert_eq!(stores.operators.page(Scope::Organization(acme), None, 9).await?, std::slice::from_ref(&ann));
    assert!(stores.operators.page(Scope::Organization(zenith), None, 9).await?.is_empty());
    assert_eq!(stores.operators.page(Scope::All, None, 9).await?.len(), 2);
    stores.records.rename_organization(ACME, "Acme & Sons").await?;
    let renamed = found(stores, "Ann").await?.ok_or("not found")?;
    assert_eq!(renamed.organization.as_deref(), Some("Acme & Sons"));
    Ok(())
}

/// By folded name: a page begins after a name, whether or not that is still there.
pub async fn operators_are_listed_by_name_in_pages(stores: &Stores) -> Kept {
    for name in ["bob", "Ann", "Zoe", "ann-2", "Carl"] {
        add(stores, &a_new_operator(name)).await?;
    }
    let names = async |after: Option<&str>, limit| {
        let page = stores.operators.page(Scope::All, after.map(Folded::of), limit).await?;
        Ok::<_, crate::error::StoreError>(page.into_iter().map(|one| one.name).collect::<Vec<_>>())
    };
    assert_eq!(names(None, 2).await?, ["Ann", "ann-2"]);
    let ann_2 = found(stores, "ann-2").await?.ok_or("not found")?;
    stores.operators.remove(ann_2.id, &a_record("gone")).await?;
    assert_eq!(names(Some("ANN-2"), 2).await?, ["bob", "Carl"]);
    assert_eq!(names(Some("carl"), 9).await?, ["Zoe"]);
    Ok(())
}

/// Decision P3.
pub async fn a_new_password_ends_all_sessions(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let bob = add(stores, &a_new_operator("Bob")).await?;
    let sessions = [begin(stores, &ann, "one").await?, begin(stores, &ann, "two").await?];
    let other = begin(stores, &bob, "three").await?;
    let password = PasswordHash::new("another".to_owned());
    assert!(stores.operators.set_password(ann.id, &password, &a_record("set")).await?);
    for session in sessions {
        assert!(stores.sessions.find(session).await?.is_none());
    }
    assert!(stores.sessions.find(other).await?.is_some());
    let changed = stores.operators.find(&Folded::of("Ann")).await?.ok_or("not found")?;
    assert_eq!(changed.password, password);
    stores.operators.remove(ann.id, &a_record("gone")).await?;
    assert!(!stores.operators.set_password(ann.id, &password, &a_record("late")).await?);
    Ok(())
}

/// Decisions P3, P6.
pub async fn a_removed_operator_is_gone_with_sessions_and_tokens(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    let session = begin(stores, &ann, "one").await?;
    let (token, id) = issue(stores, &ann, "ci", at(0)).await?;
    assert!(stores.operators.remove(ann.id, &a_record("gone")).await?);
    assert!(!stores.operators.remove(ann.id, &a_record("again")).await?);
    assert_eq!(found(stores, "Ann").await?, None);
    assert!(stores.sessions.find(session).await?.is_none());
    assert!(stores.tokens.find(token.digest).await?.is_none() && stores.tokens.find_by_id(id).await?.is_none());
    let again = add(stores, &a_new_operator("Ann")).await?;
    assert_ne!(again.id, ann.id);
    Ok(())
}

/// Decision R9.
pub async fn names_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    for text in TEXTS.iter().filter_map(|text| OperatorName::parse(text).ok()) {
        let added = add(stores, &NewOperator { name: text.clone(), ..a_new_operator("") }).await?;
        assert_eq!(added.name, text.as_str());
        assert_eq!(found(stores, text.as_str()).await?, Some(added));
    }
    Ok(())
}
