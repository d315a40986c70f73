//! How to test a use case over fakes (docs/testing.md): `cargo test -p domain --example log_over_mocks`.

fn main() {}

#[cfg(test)]
mod tests {
    use domain::caller::OrganizationId;
    use domain::error::{Failure, Reason, StoreError};
    use domain::fleet::MockFleetDirectory;
    use domain::log_entry::{AddLog, AddLogInput, LogService, MockLogRepository};
    use domain::testing::{FixedClock, a_caller, at};
    use std::sync::Arc;

    const ACME: OrganizationId = OrganizationId(1);

    fn a_command() -> AddLog {
        AddLog::new(AddLogInput {
            computer: Some("6f9619ff-8b86-d011-b42d-00c04fc964ff".to_owned()),
            log_type: Some("log".to_owned()),
            description: Some("Job printed".to_owned()),
            ..AddLogInput::default()
        })
        .unwrap()
    }

    #[tokio::test]
    async fn an_entry_gets_the_name_of_its_computer_and_the_time_of_receipt() {
        let mut fleet = MockFleetDirectory::new();
        fleet.expect_find_computer().returning(|_, _| Ok(Some("RIP-01".to_owned())));
        let mut logs = MockLogRepository::new();
        logs.expect_add()
            .withf(|organization, entry| *organization == ACME && entry.computer == "RIP-01" && entry.received == at(5))
            .times(1)
            .returning(|_, _| Ok(()));
        let service = LogService::new(Arc::new(logs), Arc::new(fleet), Arc::new(FixedClock::new(at(5))));

        service.add(&a_caller(ACME), a_command()).await.unwrap();
    }

    #[tokio::test]
    async fn an_unknown_computer_is_refused_and_nothing_is_stored() {
        // Decision L2. A mock without expectations panics if it is called.
        let mut fleet = MockFleetDirectory::new();
        fleet.expect_find_computer().returning(|_, _| Ok(None));
        let service =
            LogService::new(Arc::new(MockLogRepository::new()), Arc::new(fleet), Arc::new(FixedClock::new(at(5))));

        let failure = service.add(&a_caller(ACME), a_command()).await.unwrap_err();

        assert!(matches!(failure, Failure::Refused(refusal) if refusal.reason == Reason::ComputerNotFound));
    }

    #[tokio::test]
    async fn a_failing_store_is_no_refusal() {
        let mut fleet = MockFleetDirectory::new();
        fleet.expect_find_computer().returning(|_, _| Ok(Some("RIP-01".to_owned())));
        let mut logs = MockLogRepository::new();
        logs.expect_add().returning(|_, _| Err(StoreError::unavailable("the disk is full")));
        let service = LogService::new(Arc::new(logs), Arc::new(fleet), Arc::new(FixedClock::new(at(5))));

        let failure = service.add(&a_caller(ACME), a_command()).await.unwrap_err();

        assert!(matches!(failure, Failure::Store(StoreError::Unavailable(_))));
    }
}
