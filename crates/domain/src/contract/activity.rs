//! [`crate::activity::ActivityRepository`]: decisions I8 and I9.

use super::scene::{register, two_organizations};
use super::{Kept, Stores};
use crate::activity::{
    ComputerFetch, Currency, Fetch, Holder, LastRequest, OutdatedResource, ResourceKey, SERIAL_NUMBERS_PER_USER,
    Sender, UserActivity, UserFetch,
};
use crate::caller::OrganizationId;
use crate::checksum::Sha1Checksum;
use crate::error::StoreError;
use crate::fleet::{Computer, FleetOrganization};
use crate::guid::ComputerGuid;
use crate::resource::{Domain, NewResource, Preconditions, StoredContent};
use crate::testing::{ZENITH, a_blob_key, a_resource, acme_records, at, numbered, resource_guid, zenith_records};
use crate::timeline::{EventId, Subject, TimelineDetails, TimelineEvent};
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;

fn request(seconds: i64, version: &str) -> LastRequest {
    LastRequest {
        at: at(seconds),
        address: Some("192.0.2.1".to_owned()),
        serial_number: "SN-1000".to_owned(),
        application_version: version.to_owned(),
    }
}

fn fetch(seconds: i64, content: u8) -> Fetch {
    Fetch { checksum: Sha1Checksum::of(&[content]), at: at(seconds) }
}

fn of_user(organization: OrganizationId, serial_number: &str) -> Holder {
    Holder::User { organization, name: "Ann".to_owned(), serial_number: serial_number.to_owned() }
}

async fn last_of_computer(stores: &Stores, organization: OrganizationId) -> Result<Option<LastRequest>, StoreError> {
    let computers: Vec<_> = stores.inspection.computers(organization).try_collect().await?;
    let found = computers.into_iter().find(|computer| computer.guid == acme_records().computer);
    Ok(found.and_then(|computer| computer.last_request))
}

/// Decision I8, for a computer and for a user.
pub async fn the_last_request_is_shown_with_computer_and_user(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    assert_eq!(last_of_computer(stores, acme).await?, None);
    let bare = LastRequest { address: None, ..request(5, "") };
    let ann = Sender::User(acme, "Ann".to_owned());
    let computer = Sender::Computer(acme, acme_records().computer);
    stores.activity.store_requests(&[(computer, request(4, "9.0")), (ann, bare.clone())]).await?;
    assert_eq!(last_of_computer(stores, acme).await?, Some(request(4, "9.0")));
    let users: Vec<_> = stores.activity.users(acme).try_collect().await?;
    let found = |name: &str| users.iter().find(|user| user.name == name);
    assert_eq!(found("Ann"), Some(&UserActivity { name: "Ann".to_owned(), last_request: Some(bare) }));
    assert!(users.is_sorted_by(|one, other| one.name < other.name), "{users:?}");
    let others: Vec<_> = stores.activity.users(zenith).try_collect().await?;
    assert!(!others.is_empty() && others.iter().all(|user| user.last_request.is_none()), "{others:?}");
    Ok(())
}

/// Decision I8: several processes store their requests in any order.
pub async fn the_latest_request_wins(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let computer = || Sender::Computer(acme, acme_records().computer);
    let ann = || Sender::User(acme, "Ann".to_owned());
    for seconds in [3, 9, 5] {
        let requests = [(computer(), request(seconds, &seconds.to_string())), (ann(), request(seconds, "1"))];
        stores.activity.store_requests(&requests).await?;
    }
    assert_eq!(last_of_computer(stores, acme).await?, Some(request(9, "9")));
    let batches: Vec<_> = (10..40)
        .map(|seconds| [(computer(), request(seconds, &seconds.to_string())), (ann(), request(seconds, "1"))])
        .collect();
    try_join_all(batches.iter().map(|requests| stores.activity.store_requests(requests))).await?;
    assert_eq!(last_of_computer(stores, acme).await?, Some(request(39, "39")));
    Ok(())
}

/// A user may be removed between the request and the write; the other requests are stored.
pub async fn requests_of_unknown_users_are_left_out(stores: &Stores) -> Kept {
    let (acme, _) = two_organizations(stores).await?;
    let unknown = Sender::User(acme, "Unknown".to_owned());
    let computer = Sender::Computer(acme, acme_records().computer);
    stores.activity.store_requests(&[(unknown, request(1, "1")), (computer, request(2, "2"))]).await?;
    assert_eq!(last_of_computer(stores, acme).await?, Some(request(2, "2")));
    let users: Vec<_> = stores.activity.users(acme).try_collect().await?;
    assert!(users.iter().all(|user| user.name != "Unknown"), "{users:?}");
    Ok(())
}

/// Decision I9: all computers of the organization are listed.
pub async fn a_resource_shows_who_has_which_content(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let (one, other) = (acme_records().computer, ComputerGuid::from(numbered(77)));
    let computer =
        Computer { guid: other, name: Some("RIP-99".to_owned()), serial_number: None, hardware_hash: None, user: None };
    let more =
        FleetOrganization { name: "Acme Print".to_owned(), computers: vec![computer], ..FleetOrganization::default() };
    register(stores, more).await?;
    let key = ResourceKey { organization: zenith, guid: resource_guid(1) };
    let elsewhere = ResourceKey { organization: acme, ..key };
    let all = [
        ((Holder::Computer(acme, one), key), fetch(3, 2)),
        ((Holder::Computer(zenith, zenith_records().computer), key), fetch(4, 3)),
        ((Holder::Computer(acme, other), elsewhere), fetch(5, 4)),
        ((of_user(acme, "SN-7"), key), fetch(6, 5)),
    ];
    stores.activity.store_fetches(&all).await?;
    stores.activity.store_fetches(&[((Holder::Computer(acme, one), key), fetch(2, 1))]).await?;
    stores.activity.store_fetches(&[((of_user(acme, "sn-7"), key), fetch(7, 6))]).await?;
    let computers: Vec<_> = stores.activity.computers_of_resource(acme, key).try_collect().await?;
    let found = |guid, name: &str, fetch| ComputerFetch { guid, name: name.to_owned(), fetch };
    assert_eq!(computers, [found(one, "RIP-01", Some(fetch(3, 2))), found(other, "RIP-99", None)]);
    let users: Vec<_> = stores.activity.users_of_resource(acme, key).try_collect().await?;
    let ann = UserFetch { name: "Ann".to_owned(), serial_number: "sn-7".to_owned(), fetch: fetch(7, 6) };
    assert_eq!(users, [ann], "decision A7: a SerialNumber is compared without case");
    let currencies = computers.iter().map(|computer| Currency::of(computer.fetch, fetch(0, 2).checksum));
    assert_eq!(currencies.collect::<Vec<_>>(), [Currency::Current, Currency::NeverFetched]);
    Ok(())
}

/// Decision I9: resources whose content has changed since the fetch.
pub async fn a_computer_shows_its_outdated_resources(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for number in 1..=3 {
        stores.resources.store(acme, a_resource(number), at(0)).await?;
    }
    stores.resources.store(zenith, a_resource(1), at(0)).await?;
    let key = |organization, number| ResourceKey { organization, guid: resource_guid(number) };
    let computer = acme_records().computer;
    let has = |organization, number: u128| {
        let fetch = Fetch { checksum: a_resource(number).checksum, at: at(5) };
        ((Holder::Computer(acme, computer), key(organization, number)), fetch)
    };
    stores.activity.store_fetches(&[has(acme, 1), has(acme, 2), has(acme, 3), has(zenith, 1)]).await?;
    let outdated = async || -> Result<Vec<OutdatedResource>, StoreError> {
        stores.activity.outdated_resources(acme, computer).try_collect().await
    };
    assert_eq!(outdated().await?, []);
    let newer = |number: u128| NewResource {
        checksum: Sha1Checksum::of(b"newer"),
        modified: at(60),
        content: StoredContent { key: a_blob_key(number + 100), size: 5 },
        ..a_resource(number)
    };
    stores.resources.store(acme, newer(2), at(60)).await?;
    stores.resources.store(acme, newer(3), at(60)).await?;
    stores.resources.delete(acme, resource_guid(3), Preconditions::None, at(61)).await?;
    let expected = OutdatedResource {
        resource: key(acme, 2),
        name: "Resource 2".to_owned(),
        fetch: has(acme, 2).1,
        checksum: Sha1Checksum::of(b"newer"),
        modified: at(60),
    };
    assert_eq!(outdated().await?, [expected]);
    Ok(())
}

/// Decisions P8 and T15: a resource that is no longer published isn't shown to other organizations.
pub async fn an_unpublished_resource_is_hidden_from_other_organizations(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    for withdrawal in Withdrawal::ALL {
        let number = withdrawal.number();
        let public = NewResource { domain: Some(Domain::Public), ..a_resource(number) };
        stores.resources.store(zenith, public, at(0)).await?;
        let key = ResourceKey { organization: zenith, guid: resource_guid(number) };
        let (of_acme, of_zenith) = (acme_records().computer, zenith_records().computer);
        let fetches = [(Holder::Computer(acme, of_acme), key), (Holder::Computer(zenith, of_zenith), key)]
            .map(|of| (of, fetch(5, 1)));
        stores.activity.store_fetches(&fetches).await?;
        let seen = async |organization, computer| -> Result<(bool, bool), StoreError> {
            let outdated = stores.activity.outdated_resources(organization, computer);
            let outdated: Vec<_> = outdated.try_collect().await?;
            let events = stores.timeline.page(organization, Subject::Computer(computer), None, 100).await?;
            let is_named =
                |event: &TimelineEvent| matches!(&event.details, TimelineDetails::Fetch { name: Some(_), .. });
            let mut of_resource = events.iter().filter(|event| event.cursor.id == EventId::Fetch(key));
            Ok((outdated.iter().any(|one| one.resource == key), of_resource.any(is_named)))
        };
        assert_eq!(seen(acme, of_acme).await?, (true, true), "{withdrawal:?}");
        withdrawal.apply(stores, zenith).await?;
        assert_eq!(seen(acme, of_acme).await?, (false, false), "{withdrawal:?}");
        assert_eq!(seen(zenith, of_zenith).await?, (true, true), "its own, {withdrawal:?}");
        let events = stores.timeline.page(acme, Subject::Computer(of_acme), None, 100).await?;
        assert!(events.iter().any(|event| event.cursor.id == EventId::Fetch(key)), "the fetch stays");
    }
    Ok(())
}

/// How a resource of a publisher ceases to be published.
#[derive(Debug, Clone, Copy)]
pub(super) enum Withdrawal {
    Private,
    DeletedAndAdded,
    NoPublisher,
}

impl Withdrawal {
    /// The last one concerns all resources of the organization.
    pub(super) const ALL: [Self; 3] = [Self::Private, Self::DeletedAndAdded, Self::NoPublisher];

    /// The number of its resource.
    pub(super) fn number(self) -> u128 {
        match self {
            Self::Private => 1,
            Self::DeletedAndAdded => 2,
            Self::NoPublisher => 3,
        }
    }

    pub(super) async fn apply(self, stores: &Stores, owner: OrganizationId) -> Kept {
        let private = NewResource {
            domain: Some(Domain::Private),
            modified: at(61),
            content: StoredContent { key: a_blob_key(self.number() + 100), size: 16 },
            ..a_resource(self.number())
        };
        match self {
            Self::Private => stores.resources.store(owner, private, at(61)).await.map(drop)?,
            Self::DeletedAndAdded => {
                stores.resources.delete(owner, private.guid, Preconditions::None, at(61)).await?;
                stores.resources.store(owner, private, at(61)).await?;
            }
            Self::NoPublisher => {
                let withdrawn = FleetOrganization {
                    name: ZENITH.to_owned(),
                    publisher: Some(false),
                    ..FleetOrganization::default()
                };
                register(stores, withdrawn).await?;
            }
        }
        Ok(())
    }
}

/// A client may send any SerialNumber, so the fetches of a user are bounded for each resource.
pub async fn of_each_user_and_resource_the_latest_fetches_stay(stores: &Stores) -> Kept {
    let (acme, zenith) = two_organizations(stores).await?;
    let [key, other] = [1, 2].map(|number| ResourceKey { organization: acme, guid: resource_guid(number) });
    let ann = |number: i64, key| ((of_user(acme, &format!("SN-{number:04}")), key), fetch(number, 1));
    let zoe = Holder::User { organization: zenith, name: "Zoe".to_owned(), serial_number: "SN".to_owned() };
    stores.activity.store_fetches(&[ann(0, other), ((zoe, key), fetch(0, 1))]).await?;
    let many: Vec<_> = (0..350).map(|number| ann(number, key)).collect();
    // The earliest ones are stored last.
    for fetches in [&many[300..], &many[200..300], &many[..200]] {
        stores.activity.store_fetches(fetches).await?;
    }
    let kept = async |organization, key| -> Result<Vec<String>, StoreError> {
        let users: Vec<_> = stores.activity.users_of_resource(organization, key).try_collect().await?;
        Ok(users.into_iter().map(|user| user.serial_number).collect())
    };
    let expected: Vec<_> = (250..350).map(|number| format!("SN-{number:04}")).collect();
    assert_eq!(expected.len(), SERIAL_NUMBERS_PER_USER as usize);
    assert_eq!(kept(acme, key).await?, expected);
    assert_eq!((kept(acme, other).await?.len(), kept(zenith, key).await?.len()), (1, 1));
    stores.activity.store_fetches(&[ann(400, key)]).await?;
    assert_eq!(kept(acme, key).await?, [&expected[1..], &["SN-0400".to_owned()]].concat());
    Ok(())
}

/// More than a page holds, and more than one statement stores.
pub async fn fetches_of_thousands_of_computers_are_whole_and_in_order(stores: &Stores) -> Kept {
    // The test fleet has lower numbers.
    let guid = |number: u128| ComputerGuid::from(numbered(0x1_0000 + number));
    let computer = |number| Computer {
        guid: guid(number),
        name: Some(format!("RIP {:04}", 3_000 - number)),
        serial_number: None,
        hardware_hash: None,
        user: None,
    };
    let (acme, _) = two_organizations(stores).await?;
    let many = FleetOrganization {
        name: "Acme Print".to_owned(),
        computers: (1..3_000).map(computer).collect(),
        ..FleetOrganization::default()
    };
    register(stores, many).await?;
    let key = ResourceKey { organization: acme, guid: resource_guid(1) };
    let all: Vec<_> = (1..3_000).map(|number| ((Holder::Computer(acme, guid(number)), key), fetch(1, 1))).collect();
    stores.activity.store_fetches(&all).await?;
    let found: Vec<_> = stores.activity.computers_of_resource(acme, key).try_collect().await?;
    assert_eq!(found.iter().filter(|found| found.fetch.is_some()).count(), 2_999);
    assert!(found.is_sorted_by(|one, other| (&one.name, one.guid) < (&other.name, other.guid)));
    Ok(())
}
