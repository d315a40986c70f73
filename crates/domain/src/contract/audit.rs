//! The clauses of [`crate::audit::AuditRepository`], and of the ports whose changes are recorded (decision P9).

use super::operator_scene::{a_new_operator, a_record, add, begin, issue};
use super::scene::{TEXTS, two_organizations};
use super::{Kept, Stores};
use crate::audit::{
    AuditAction, AuditFilter, AuditRecord, AuditedScope, AuditedValue, Author, AuthorCredential, NewAuditRecord,
};
use crate::error::StoreError;
use crate::fleet::{FleetRecord, KeyId, NewKey, Secret};
use crate::testing::{ACME, ANN_KEY, ZENITH, a_fleet, acme_records, at};
use crate::text::Folded;
use futures_util::future::try_join_all;

async fn list(stores: &Stores, filter: &AuditFilter) -> Result<Vec<AuditRecord>, StoreError> {
    stores.audit.page(filter, None, 10_000).await
}

async fn targets(stores: &Stores, filter: &AuditFilter) -> Result<Vec<String>, StoreError> {
    Ok(list(stores, filter).await?.into_iter().map(|one| one.record.target).collect())
}

/// Every member is kept, with every credential and every action.
pub async fn a_record_is_listed_as_it_was_stored(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let credentials = [
        AuthorCredential::Session,
        AuthorCredential::Token("ci".to_owned()),
        AuthorCredential::Command,
        AuthorCredential::Password,
        AuthorCredential::SetupCode,
    ];
    for (second, action) in (0..).zip(AuditAction::ALL) {
        let place = usize::try_from(second)? % credentials.len();
        let author = Author {
            name: "Ann".to_owned(),
            credential: credentials[place].clone(),
            address: (place > 0).then(|| "2001:db8::7".to_owned()),
        };
        let scope = if place == 0 { AuditedScope::Organization(acme) } else { AuditedScope::All };
        let values =
            vec![AuditedValue::changed("a", "1", "2"), AuditedValue::added("b", "3"), AuditedValue::removed("c", "4")];
        let new = NewAuditRecord { at: at(second), author, scope, action: *action, values, ..a_record("target") };
        stores.audit.add(&new).await?;
        let found = list(stores, &AuditFilter::default()).await?.remove(0);
        assert_eq!(found.record, new);
        assert_eq!(found.organization.as_deref(), (place == 0).then_some(ACME));
    }
    Ok(())
}

/// Decision R9.
pub async fn texts_of_records_are_kept_byte_for_byte(stores: &Stores) -> Kept {
    for (second, text) in (0..).zip(TEXTS) {
        let author = Author { name: (*text).to_owned(), ..Author::command("") };
        let values = vec![AuditedValue::changed(*text, *text, *text)];
        let new = NewAuditRecord { at: at(second), author, values, ..a_record(text) };
        stores.audit.add(&new).await?;
        assert_eq!(list(stores, &AuditFilter::default()).await?.remove(0).record, new);
    }
    Ok(())
}

/// By time; of equal times the record that was stored later comes first. New records don't change later pages.
pub async fn records_are_listed_newest_first_in_pages(stores: &Stores) -> Kept {
    for (second, target) in [(5, "a"), (7, "b"), (5, "c"), (6, "d"), (5, "e")] {
        stores.audit.add(&NewAuditRecord { at: at(second), ..a_record(target) }).await?;
    }
    let page = async |after, limit| stores.audit.page(&AuditFilter::default(), after, limit).await;
    let first = page(None, 3).await?;
    let targets = |page: &[AuditRecord]| page.iter().map(|one| one.record.target.clone()).collect::<Vec<_>>();
    assert_eq!(targets(&first), ["b", "d", "e"]);
    stores.audit.add(&NewAuditRecord { at: at(8), ..a_record("later") }).await?;
    assert_eq!(targets(&page(Some(first[2].cursor()), 9).await?), ["c", "a"]);
    Ok(())
}

/// Decision P8: the organization is one of them.
pub async fn filters_of_records_combine(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for (second, scope, who, action) in [
        (1, AuditedScope::All, "Ann", AuditAction::SignedIn),
        (2, AuditedScope::Organization(acme), "ann", AuditAction::SignedOut),
        (3, AuditedScope::Named(ACME.to_owned()), "Bob", AuditAction::SignedIn),
        (4, AuditedScope::Organization(zenith), "Ann", AuditAction::SignedIn),
    ] {
        let author = Author::command(who);
        stores
            .audit
            .add(&NewAuditRecord { at: at(second), scope, author, action, ..a_record(&second.to_string()) })
            .await?;
    }
    let all = AuditFilter::default();
    assert_eq!(targets(stores, &all).await?, ["4", "3", "2", "1"]);
    assert_eq!(targets(stores, &AuditFilter { organization: Some(acme), ..all.clone() }).await?, ["3", "2"]);
    let of_ann = AuditFilter { who: Some(Folded::of("ANN")), ..all.clone() };
    assert_eq!(targets(stores, &of_ann).await?, ["4", "2", "1"]);
    let sign_ins = AuditFilter { what: Some(AuditAction::SignedIn), ..of_ann };
    assert_eq!(targets(stores, &sign_ins).await?, ["4", "1"]);
    assert_eq!(targets(stores, &AuditFilter { to: Some(at(3)), ..sign_ins }).await?, ["1"]);
    assert_eq!(targets(stores, &AuditFilter { from: Some(at(2)), to: Some(at(3)), ..all }).await?, ["3", "2"]);
    Ok(())
}

/// A change that isn't made is not recorded.
pub async fn a_change_and_its_record_are_stored_together(stores: &Stores) -> Kept {
    let ann = add(stores, &a_new_operator("Ann")).await?;
    stores.operators.add(&a_new_operator("ann"), &a_record("taken")).await?;
    let session = begin(stores, &ann, "secret").await?;
    let (_, token) = issue(stores, &ann, "ci", at(0)).await?;
    for _ in 0..2 {
        stores.sessions.remove(session, &a_record("end")).await?;
        stores.tokens.revoke(token, at(1), &a_record("revoked")).await?;
        stores.operators.set_password(ann.id, &a_new_operator("Ann").password, &a_record("password")).await?;
    }
    for _ in 0..2 {
        stores.operators.remove(ann.id, &a_record("gone")).await?;
    }
    let expected = ["gone", "password", "password", "revoked", "end", "ci", "session", "Ann"];
    assert_eq!(targets(stores, &AuditFilter::default()).await?, expected);
    Ok(())
}

/// None is lost, and each has a number of its own.
pub async fn concurrent_records_are_all_stored(stores: &Stores) -> Kept {
    let records: Vec<_> = (0..50).map(|number| a_record(&number.to_string())).collect();
    try_join_all(records.iter().map(|record| stores.audit.add(record))).await?;
    assert_eq!(list(stores, &AuditFilter::default()).await?.len(), 50);
    Ok(())
}

/// Each with its organization, what changed, and no key.
pub async fn changes_of_the_fleet_are_recorded(stores: &Stores) -> Kept {
    let by = &stores.authored_fleet;
    by.registry.apply(&a_fleet(), &[], at(0)).await?;
    by.registry.apply(&a_fleet(), &[], at(0)).await?;
    let recorded = async || list(stores, &AuditFilter::default()).await;
    let applied = recorded().await?;
    let named: Vec<_> = applied.iter().map(|one| one.organization.as_deref()).collect();
    assert_eq!(named, [Some(ZENITH), Some(ACME)], "the second time nothing changes");
    let values = &applied[1].record.values;
    let added = |record: String| values.contains(&AuditedValue::added(record, "added"));
    assert!(added(format!("organization \"{ACME}\"")), "{values:?}");
    assert!(added(format!("computer {} of \"{ACME}\"", acme_records().computer)), "{values:?}");

    let device = FleetRecord::Device(acme_records().device);
    let key = NewKey { organization: ACME.to_owned(), user: "Ann".to_owned(), mis_key: Secret::new("k".repeat(20)) };
    let id = KeyId::of(&Secret::new(ANN_KEY.to_owned()).digest());
    by.registry.add_key(&key, at(1)).await?;
    for _ in 0..2 {
        by.keys.revoke(id, at(1)).await?;
        by.registry.revoke_keys(ACME, "Bob", at(1)).await?;
        by.records.set_retired(ACME, &device, Some(at(1))).await?;
    }
    by.records.set_retired(ACME, &device, None).await?;
    by.records.rename_user(ACME, "Ann", "Anna").await?;
    by.records.rename_organization(ACME, "Acme & Sons").await?;
    let all = recorded().await?;
    let what: Vec<_> = all.iter().rev().skip(2).map(|one| one.record.action.code()).collect();
    let expected = [
        "key.issued",
        "key.revoked",
        "key.revoked",
        "record.removed",
        "record.restored",
        "user.renamed",
        "organization.renamed",
    ];
    assert_eq!(what, expected);
    assert!(all.iter().take(7).all(|one| one.organization.as_deref() == Some("Acme & Sons")), "{all:?}");
    assert!(all.iter().all(|one| one.record.author.name == "root" && one.record.at == at(0)));
    let text = format!("{all:?}");
    assert!(!text.contains(ANN_KEY) && !text.contains(&"k".repeat(20)), "{text}");
    Ok(())
}

/// Without an author, as tests and previews use it, nothing is recorded.
pub async fn a_preview_and_a_refused_change_are_not_recorded(stores: &Stores) -> Kept {
    let by = &stores.authored_fleet;
    by.registry.preview(&a_fleet(), &[], at(0)).await?;
    by.records.rename_user(ACME, "Unknown", "Somebody").await.expect_err("no such user");
    assert!(list(stores, &AuditFilter::default()).await?.is_empty());
    Ok(())
}
