//! The use cases and the settings of the operator API.

use crate::logs::LiveLog;
use actix_web::web::{Data, ServiceConfig};
use domain::audit::AuditService;
use domain::computer::ComputerService;
use domain::crash_group::CrashGroupService;
use domain::crash_report::CrashReportReader;
use domain::device_board::DeviceBoardService;
use domain::operator::{OperatorService, OrganizationList};
use domain::operator_log::OperatorLogService;
use domain::overview::OverviewService;
use domain::refusal::RefusalService;
use domain::resource_catalog::ResourceCatalogService;
use domain::search::SearchService;
use domain::session::SessionService;
use domain::token::TokenService;
use std::sync::Arc;

/// The use cases that the handlers call.
#[derive(Clone)]
pub struct Services {
    pub sessions: Arc<SessionService>,
    pub tokens: Arc<TokenService>,
    pub operators: Arc<OperatorService>,
    pub organizations: Arc<OrganizationList>,
    pub audit: Arc<AuditService>,
    pub crash_groups: Arc<CrashGroupService>,
    pub crash_reports: Arc<CrashReportReader>,
    pub computers: Arc<ComputerService>,
    pub search: Arc<SearchService>,
    pub resources: Arc<ResourceCatalogService>,
    pub logs: Arc<OperatorLogService>,
    pub live: Arc<LiveLog>,
    pub refusals: Arc<RefusalService>,
    pub overview: Arc<OverviewService>,
    pub devices: Arc<DeviceBoardService>,
}

impl Services {
    /// Makes the use cases known to handlers.
    pub(crate) fn register(&self, config: &mut ServiceConfig) {
        config
            .app_data(Data::from(Arc::clone(&self.sessions)))
            .app_data(Data::from(Arc::clone(&self.tokens)))
            .app_data(Data::from(Arc::clone(&self.operators)))
            .app_data(Data::from(Arc::clone(&self.organizations)))
            .app_data(Data::from(Arc::clone(&self.audit)))
            .app_data(Data::from(Arc::clone(&self.crash_groups)))
            .app_data(Data::from(Arc::clone(&self.crash_reports)))
            .app_data(Data::from(Arc::clone(&self.computers)))
            .app_data(Data::from(Arc::clone(&self.search)))
            .app_data(Data::from(Arc::clone(&self.resources)))
            .app_data(Data::from(Arc::clone(&self.logs)))
            .app_data(Data::from(Arc::clone(&self.live)))
            .app_data(Data::from(Arc::clone(&self.refusals)))
            .app_data(Data::from(Arc::clone(&self.overview)))
            .app_data(Data::from(Arc::clone(&self.devices)));
    }
}

/// Where the operator API is.
#[derive(Debug, Clone)]
pub struct Settings {
    /// Prefix before `/api/operator/v1`: empty, or `/` and segments.
    pub base_path: String,
}
