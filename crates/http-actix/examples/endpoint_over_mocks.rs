//! How to test an endpoint over fakes (docs/testing.md): `cargo test -p http-actix --example endpoint_over_mocks`.

fn main() {}

#[cfg(test)]
mod tests {
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use actix_web::{App, http::StatusCode};
    use async_trait::async_trait;
    use domain::access::{AccessService, KeyHolder, MockCredentialDirectory, Throttle};
    use domain::blob::{MockBlobLedger, MockBlobStore};
    use domain::caller::OrganizationId;
    use domain::crash_report::{CrashReportService, MockCrashReportRepository};
    use domain::device_status::{DeviceStatusService, MockDeviceStatusRepository};
    use domain::error::StoreError;
    use domain::fleet::MockFleetDirectory;
    use domain::limits::Limits;
    use domain::log_entry::{LogService, MockLogRepository};
    use domain::resource::{MockResourceRepository, ResourceService};
    use domain::testing::{CountingIds, FixedClock, at};
    use http_actix::{Api, Readiness, Services, Settings, UploadBounds, configure};
    use std::sync::Arc;
    use std::time::Duration;

    const ENTRY: &str =
        r#"{"ComputerGUID":"6f9619ff-8b86-d011-b42d-00c04fc964ff","Type":"log","Description":"Job printed"}"#;

    /// The interface over `logs`. Every key is valid, every computer is known; other ports must not be called.
    fn api(logs: MockLogRepository) -> Api {
        let clock = Arc::new(FixedClock::new(at(0)));
        let ids = Arc::new(CountingIds::default());
        let limits = Limits::default();
        let mut credentials = MockCredentialDirectory::new();
        credentials.expect_find_key_holder().returning(|_| Ok(Some(ann())));
        let mut fleet = MockFleetDirectory::new();
        fleet.expect_find_computer().returning(|_, _| Ok(Some("RIP-01".to_owned())));
        let fleet = Arc::new(fleet);
        let (blobs, ledger) = (Arc::new(MockBlobStore::new()), Arc::new(MockBlobLedger::new()));
        let resources = Arc::new(MockResourceRepository::new());
        let crash_reports = Arc::new(MockCrashReportRepository::new());
        let statuses = Arc::new(MockDeviceStatusRepository::new());
        let services = Services {
            access: Arc::new(AccessService::new(Arc::new(credentials))),
            resources: Arc::new(ResourceService::new(
                resources,
                blobs.clone(),
                ledger.clone(),
                clock.clone(),
                ids.clone(),
                limits,
            )),
            logs: Arc::new(LogService::new(Arc::new(logs), fleet.clone(), clock.clone())),
            crash_reports: Arc::new(CrashReportService::new(
                crash_reports,
                blobs,
                ledger,
                clock.clone(),
                ids.clone(),
                limits,
            )),
            device_statuses: Arc::new(DeviceStatusService::new(statuses, fleet, clock.clone())),
            readiness: Arc::new(AlwaysReady),
        };
        let settings = Settings {
            base_path: String::new(),
            read_timeout: Duration::from_secs(1),
            limits,
            trusted_proxies: Vec::new(),
            throttle: Throttle::new(0, Duration::from_mins(1)),
            uploads: UploadBounds::default(),
            ids,
            clock,
            refusals: None,
        };
        Api::new(services, settings)
    }

    fn ann() -> KeyHolder {
        KeyHolder {
            organization: OrganizationId(1),
            organization_name: "Acme Print".to_owned(),
            user: "Ann".to_owned(),
        }
    }

    struct AlwaysReady;

    #[async_trait]
    impl Readiness for AlwaysReady {
        async fn check(&self) -> Result<(), String> {
            Ok(())
        }
    }

    /// Sends a log entry; status and body of the answer.
    async fn add_log(api: &Api, entry: &'static str) -> (StatusCode, String) {
        let app = init_service(App::new().configure(|config| configure(config, api))).await;
        let request = TestRequest::post()
            .uri("/api/v2/log")
            .insert_header(("MisKey", "a-key-of-sixteen-characters"))
            .insert_header(("SerialNumber", "SN-7"))
            .insert_header(("ApplicationVersion", "9.1"))
            .insert_header(("Content-Type", "application/json"))
            .set_payload(entry);
        let answer = call_service(&app, request.to_request()).await;
        let status = answer.status();
        (status, String::from_utf8(read_body(answer).await.to_vec()).unwrap())
    }

    #[actix_web::test]
    async fn an_entry_is_stored_and_confirmed() {
        let mut logs = MockLogRepository::new();
        logs.expect_add().withf(|_, entry| entry.computer == "RIP-01").times(1).returning(|_, _| Ok(()));
        let answer = add_log(&api(logs), ENTRY).await;
        assert_eq!(answer, (StatusCode::OK, "\"Log successfully added\"".to_owned()));
    }

    #[actix_web::test]
    async fn an_entry_that_lacks_a_value_is_refused_and_nothing_is_stored() {
        // A mock without expectations panics if it is called.
        let (status, body) = add_log(&api(MockLogRepository::new()), "{}").await;
        assert_eq!(status, StatusCode::BAD_REQUEST);
        assert_eq!(body, r#"{"Message":"“ComputerGUID”, “Type” and “Description” values are required"}"#);
    }

    #[actix_web::test]
    async fn a_failing_store_is_answered_500_without_its_cause() {
        let mut logs = MockLogRepository::new();
        logs.expect_add().returning(|_, _| Err(StoreError::other("the disk is full")));
        let answer = add_log(&api(logs), ENTRY).await;
        assert_eq!(answer, (StatusCode::INTERNAL_SERVER_ERROR, r#"{"Message":"Internal Server Error"}"#.to_owned()));
    }
}
