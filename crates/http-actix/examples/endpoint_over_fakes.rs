//! How to test an endpoint over fakes (docs/testing.md): `cargo test -p http-actix --example endpoint_over_fakes`.

fn main() {}

#[cfg(test)]
mod tests {
    use actix_web::App;
    use actix_web::http::StatusCode;
    use actix_web::test::{TestRequest, call_service, init_service, read_body};
    use async_trait::async_trait;
    use domain::access::{AccessService, Throttle};
    use domain::blob::Uploads;
    use domain::contract::Stores;
    use domain::crash_report::CrashReportService;
    use domain::device_status::DeviceStatusService;
    use domain::error::StoreError;
    use domain::limits::Limits;
    use domain::log_entry::{LogService, MockLogRepository};
    use domain::resource::ResourceService;
    use domain::testing::{ANN_KEY, CountingIds, FixedClock, InMemoryBlobs, InMemoryStore, a_fleet, acme_records, at};
    use http_actix::{Readiness, Services, Settings, UploadBounds, UploadLimit, configure};
    use serde_json::json;
    use std::sync::Arc;
    use std::time::Duration;

    /// The interface over stores in memory that hold the fleet of [`a_fleet`], and over this log.
    async fn api(logs: MockLogRepository) -> (Services, Arc<Settings>) {
        let (clock, ids) = (Arc::new(FixedClock::new(at(0))), Arc::new(CountingIds::default()));
        let stores = Stores::in_memory(&InMemoryStore::new());
        stores.fleet_registry.apply(&a_fleet(), &[], at(0)).await.unwrap();
        let Stores { resources, crash_reports, device_statuses, fleet_directory: fleet, credentials, ledger, .. } =
            stores;
        let uploads = Uploads::new(Arc::new(InMemoryBlobs::default()), ledger, clock.clone(), ids.clone());
        let limits = Limits::default();
        let services = Services {
            access: Arc::new(AccessService::new(credentials)),
            resources: Arc::new(ResourceService::new(resources, uploads.clone(), limits)),
            logs: Arc::new(LogService::new(Arc::new(logs), fleet.clone(), clock.clone())),
            crash_reports: Arc::new(CrashReportService::new(crash_reports, uploads, limits)),
            device_statuses: Arc::new(DeviceStatusService::new(device_statuses, fleet, clock.clone())),
            readiness: Arc::new(AlwaysReady),
        };
        let settings = Settings {
            base_path: String::new(),
            read_timeout: Duration::from_secs(5),
            limits,
            trusted_proxies: Vec::new(),
            throttle: Throttle::new(0, Duration::from_mins(1)),
            uploads: UploadLimit::new(UploadBounds::default()),
            ids,
            clock,
            refusals: None,
            activity: Arc::default(),
        };
        (services, Arc::new(settings))
    }

    struct AlwaysReady;

    #[async_trait]
    impl Readiness for AlwaysReady {
        async fn check(&self) -> Result<(), String> {
            Ok(())
        }
    }

    fn a_request() -> TestRequest {
        let entry = json!({ "ComputerGUID": acme_records().computer.to_string(), "Type": "log", "Description": "Hi" });
        TestRequest::post()
            .uri("/api/v2/log")
            .insert_header(("MisKey", ANN_KEY))
            .insert_header(("SerialNumber", "SN-1000"))
            .insert_header(("ApplicationVersion", "1.0"))
            .set_json(entry)
    }

    #[actix_web::test]
    async fn an_entry_is_stored_and_confirmed() {
        let mut logs = MockLogRepository::new();
        logs.expect_add().withf(|_, entry| entry.description == "Hi").times(1).returning(|_, _| Ok(()));
        let (services, settings) = api(logs).await;
        let app = init_service(App::new().configure(|config| configure(config, &services, &settings))).await;

        let response = call_service(&app, a_request().to_request()).await;

        assert_eq!(response.status(), StatusCode::OK);
        assert_eq!(read_body(response).await, "\"Log successfully added\"");
    }

    #[actix_web::test]
    async fn a_failing_store_is_500_without_its_cause() {
        // Decision R4.
        let mut logs = MockLogRepository::new();
        logs.expect_add().returning(|_, _| Err(StoreError::other("the table is gone")));
        let (services, settings) = api(logs).await;
        let app = init_service(App::new().configure(|config| configure(config, &services, &settings))).await;

        let response = call_service(&app, a_request().to_request()).await;

        assert_eq!(response.status(), StatusCode::INTERNAL_SERVER_ERROR);
        assert_eq!(read_body(response).await, r#"{"Message":"Internal Server Error"}"#);
    }
}
