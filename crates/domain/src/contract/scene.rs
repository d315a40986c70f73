//! What clauses have in common: organizations to work in, many records at once, waiting.

use super::Stores;
use crate::access::CredentialDigest;
use crate::caller::OrganizationId;
use crate::error::StoreError;
use crate::fleet::{Fleet, FleetOrganization, RegistryError, Secret, User};
use crate::resource::{NewResource, StoreOutcome};
use crate::testing::{ANN_KEY, ZOE_KEY, a_fleet, at};
use futures_util::stream::{self, StreamExt, TryStreamExt};
use std::error::Error;
use std::time::{Duration, Instant};

/// Records that are written at once where a clause needs many.
const AT_ONCE: usize = 64;

/// Within this time what was promised "at last" has to be seen; decision A6 allows 5 seconds.
const PATIENCE: Duration = Duration::from_secs(8);

type Built<T> = Result<T, Box<dyn Error + Send + Sync>>;

/// Texts that stores have been known to change: quotes, escapes, blanks at the ends, composed and
/// decomposed letters, characters beyond 16 bits, the replacement of U+0000.
pub(super) const TEXTS: &[&str] = &[
    "it's \"quoted\" \\ `so` “so”",
    " blanks \t around\r\n",
    "é e\u{301} ß İ Ω",
    "🖨️ 👩‍🎨 𝔘",
    "\u{FFFD} \u{FEFF} \u{200B} \u{7F} \u{1}",
    "100%_[a-z]*?;--",
];

/// Acme Print and Zenith Media of the test fleet; Zenith Media is a publisher.
pub(super) async fn two_organizations(stores: &Stores) -> Built<(OrganizationId, OrganizationId)> {
    stores.fleet_registry.apply(&a_fleet(), &[], at(0)).await?;
    Ok((organization_of(stores, ANN_KEY).await?, organization_of(stores, ZOE_KEY).await?))
}

/// As many organizations as `publishers` has items, each a publisher or not, without any records.
pub(super) async fn organizations(stores: &Stores, publishers: &[bool]) -> Built<Vec<OrganizationId>> {
    let key = |number: usize| format!("key-of-organization-{number}");
    let organization = |(number, publisher): (usize, &bool)| FleetOrganization {
        name: format!("Organization {number}"),
        publisher: Some(*publisher),
        users: vec![User { name: "User".to_owned(), mis_key: Some(Secret::new(key(number))) }],
        ..FleetOrganization::default()
    };
    let fleet = Fleet { organizations: publishers.iter().enumerate().map(organization).collect() };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await?;
    let mut ids = Vec::new();
    for number in 0..publishers.len() {
        ids.push(organization_of(stores, &key(number)).await?);
    }
    Ok(ids)
}

/// The organization of the user who holds this key.
pub(super) async fn organization_of(stores: &Stores, mis_key: &str) -> Built<OrganizationId> {
    let holder = stores.credentials.find_key_holder(CredentialDigest::of(mis_key)).await?;
    Ok(holder.ok_or("a key that was registered is not found")?.organization)
}

/// Applies a fleet of one organization.
pub(super) async fn register(stores: &Stores, organization: FleetOrganization) -> Result<(), RegistryError> {
    let fleet = Fleet { organizations: vec![organization] };
    stores.fleet_registry.apply(&fleet, &[], at(0)).await.map(|_| ())
}

/// Stores resources of one organization, many at once; none is refused.
pub(super) async fn store_all(
    stores: &Stores,
    organization: OrganizationId,
    resources: Vec<NewResource>,
) -> Result<(), StoreError> {
    let calls = resources.into_iter().map(|resource| stores.resources.store(organization, resource, at(0)));
    let outcomes: Vec<StoreOutcome> = stream::iter(calls).buffer_unordered(AT_ONCE).try_collect().await?;
    assert!(outcomes.iter().all(|outcome| *outcome == StoreOutcome::Stored), "a new resource was refused");
    Ok(())
}

/// Asks until the answer is yes; no if it isn't within 8 seconds.
pub(super) async fn at_last(ask: impl AsyncFn() -> Result<bool, StoreError>) -> Result<bool, StoreError> {
    let started = Instant::now();
    while !ask().await? {
        if started.elapsed() > PATIENCE {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The numbers below 101 in an order that is neither rising nor falling.
pub(super) fn shuffled() -> impl Iterator<Item = i64> {
    (0..101).map(|place| place * 37 % 101)
}
