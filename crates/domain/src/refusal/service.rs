//! The use cases of refusals that operators look at.

use super::model::{Owner, ReasonCount, RefusalCursor, Refused, RefusedComputer};
use super::repository::{RefusalFilter, RefusalRepository};
use crate::caller::OrganizationId;
use crate::clock::Clock;
use crate::guid::ComputerGuid;
use crate::operator::{Actor, OperatorError, Scope};
use crate::page::{Page, PageRequest};
use crate::text::Folded;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

/// A refusal and the computer that it concerns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OperatorRefusal {
    pub refused: Refused,
    /// The computer that called or was named, if it is still registered.
    pub computer: Option<RefusedComputer>,
    /// The computer whose SerialNumber was sent by a caller that is known by nothing else: after its main board was swapped,
    /// a computer sends another HardwareHash.
    pub probable_computer: Option<RefusedComputer>,
}

/// Lists and counts refusals.
pub struct RefusalService {
    refusals: Arc<dyn RefusalRepository>,
    clock: Arc<dyn Clock>,
}

impl RefusalService {
    #[must_use]
    pub fn new(refusals: Arc<dyn RefusalRepository>, clock: Arc<dyn Clock>) -> Self {
        Self { refusals, clock }
    }

    /// The refusals that match, the newest first. An operator of one organization sees those of its callers and of
    /// callers that named one of its computers, whatever the filter says (decision P8).
    ///
    /// # Errors
    /// A store failure.
    pub async fn list(
        &self,
        actor: &Actor,
        filter: RefusalFilter,
        asked: PageRequest<RefusalCursor>,
    ) -> Result<Page<OperatorRefusal, RefusalCursor>, OperatorError> {
        let filter = RefusalFilter { organization: actor.scope.organization().or(filter.organization), ..filter };
        let rows = self.refusals.page(&filter, asked.after, asked.rows()).await?;
        let Page { items, next } = asked.page(rows, Refused::cursor);
        Ok(Page { items: self.with_computers(actor, items).await?, next })
    }

    /// How many refusals of each reason there were within the last `period`, the most frequent first.
    ///
    /// # Errors
    /// A store failure.
    pub async fn count(
        &self,
        actor: &Actor,
        organization: Option<OrganizationId>,
        period: Duration,
    ) -> Result<Vec<ReasonCount>, OperatorError> {
        let (organization, since) = (actor.scope.organization().or(organization), self.clock.now().minus(period));
        Ok(self.refusals.count(organization, since).await?)
    }

    async fn with_computers(
        &self,
        actor: &Actor,
        refusals: Vec<Refused>,
    ) -> Result<Vec<OperatorRefusal>, OperatorError> {
        let guids: HashSet<ComputerGuid> = refusals.iter().filter_map(|one| one.refusal.computer).collect();
        let serial_numbers: HashSet<Folded> = refusals.iter().filter_map(claimed_serial_number).collect();
        if guids.is_empty() && serial_numbers.is_empty() {
            let alone = |refused| OperatorRefusal { refused, computer: None, probable_computer: None };
            return Ok(refusals.into_iter().map(alone).collect());
        }
        let (guids, serial_numbers) = (Vec::from_iter(guids), Vec::from_iter(serial_numbers));
        let mut found = self.refusals.computers(&guids, &serial_numbers).await?;
        found.retain(|computer| actor.scope.covers(Scope::Organization(computer.organization)));
        let by_guid: HashMap<ComputerGuid, &RefusedComputer> =
            found.iter().map(|computer| (computer.guid, computer)).collect();
        let with_computers = |refused: Refused| {
            let computer = refused.refusal.computer.and_then(|guid| by_guid.get(&guid)).copied().cloned();
            let probable_computer =
                claimed_serial_number(&refused).and_then(|serial_number| only_one(&found, &serial_number));
            OperatorRefusal { refused, computer, probable_computer }
        };
        Ok(refusals.into_iter().map(with_computers).collect())
    }
}

/// The SerialNumber of a caller that is known by nothing else.
fn claimed_serial_number(refused: &Refused) -> Option<Folded> {
    let refusal = &refused.refusal;
    let is_unknown = matches!(refusal.owner, Owner::Address(_)) && refusal.computer.is_none();
    (is_unknown && !refusal.serial_number.is_empty()).then(|| Folded::of(&refusal.serial_number))
}

/// The one computer that has a SerialNumber; retired ones count only where no other has it.
fn only_one(computers: &[RefusedComputer], serial_number: &Folded) -> Option<RefusedComputer> {
    let mut found: Vec<&RefusedComputer> =
        computers.iter().filter(|computer| computer.serial_number.as_ref() == Some(serial_number)).collect();
    if found.len() > 1 {
        found.retain(|computer| !computer.is_retired);
    }
    if let [one] = found[..] { Some(one.clone()) } else { None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::refusal::{MockRefusalRepository, NewRefusal};
    use crate::testing::{FixedClock, a_refusal, numbered};

    fn actor(scope: Scope) -> Actor {
        Actor { scope, ..Actor::command("root") }
    }

    fn refused(number: i64, refusal: NewRefusal) -> Refused {
        Refused { number, organization: None, refusal }
    }

    fn computer(number: u128, organization: i64, serial_number: &str, is_retired: bool) -> RefusedComputer {
        RefusedComputer {
            guid: numbered(number).into(),
            organization: OrganizationId(organization),
            organization_name: format!("Organization {organization}"),
            name: format!("RIP-{number}"),
            serial_number: Some(Folded::of(serial_number)),
            is_retired,
        }
    }

    fn asked() -> PageRequest<RefusalCursor> {
        PageRequest { after: None, limit: 2 }
    }

    /// Decision P8.
    #[tokio::test]
    async fn an_operator_of_one_organization_sees_and_counts_its_refusals_only() {
        let mut refusals = MockRefusalRepository::new();
        let own = Some(OrganizationId(7));
        refusals
            .expect_page()
            .withf(move |filter, _, _| filter.organization == own)
            .returning(|_, _, _| Ok(Vec::new()));
        refusals.expect_count().withf(move |organization, _| *organization == own).returning(|_, _| Ok(Vec::new()));
        let service = RefusalService::new(Arc::new(refusals), Arc::new(FixedClock::default()));
        let actor = actor(Scope::Organization(OrganizationId(7)));
        for organization in [None, Some(OrganizationId(8))] {
            let filter = RefusalFilter { organization, ..RefusalFilter::default() };
            assert!(service.list(&actor, filter, asked()).await.unwrap().items.is_empty());
            assert!(service.count(&actor, organization, Duration::from_hours(24)).await.unwrap().is_empty());
        }
    }

    #[tokio::test]
    async fn a_caller_without_a_known_computer_has_a_probable_one_by_its_serial_number() {
        let stranger = |number, serial_number: &str| {
            let owner = Owner::Address("192.0.2.1".to_owned());
            refused(number, NewRefusal { serial_number: serial_number.to_owned(), ..a_refusal(owner) })
        };
        let mut refusals = MockRefusalRepository::new();
        refusals.expect_page().returning(move |_, _, limit| {
            assert_eq!(limit, 3, "one more shows whether another page follows");
            Ok(vec![stranger(3, "sn-1"), stranger(2, "SN-2"), stranger(1, "SN-3")])
        });
        let known = [
            computer(1, 7, "SN-1", true),
            computer(2, 8, "sn-1", false),
            computer(3, 7, "SN-2", false),
            computer(4, 8, "SN-2", false),
        ];
        refusals.expect_computers().returning(move |_, _| Ok(known.to_vec()));
        let service = RefusalService::new(Arc::new(refusals), Arc::new(FixedClock::default()));
        let page = service.list(&actor(Scope::All), RefusalFilter::default(), asked()).await.unwrap();
        let probable: Vec<_> =
            page.items.iter().map(|one| one.probable_computer.as_ref().map(|one| &*one.name)).collect();
        assert_eq!(probable, [Some("RIP-2"), None], "of two with one number none is probable");
        assert_eq!(page.next.map(|next| next.number), Some(2));
    }
}
