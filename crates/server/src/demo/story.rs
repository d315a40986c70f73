//! The ten days of the demo, made by calls of the use cases.

use super::clock::{SeededIds, StoryClock};
use super::computers::{Station, stations};
use super::devices::Printer;
use super::fleet::{COMPANIES, Registered, fleet};
use super::live::Live;
use super::parts::Parts;
use super::resources::{Upload, uploads};
use super::{Plan, crashes, logs, refusals};
use crate::wiring;
use adapters_db::Database;
use adapters_minidump::ChildProcessReader;
use anyhow::{Context, Result};
use domain::activity::{ActivityRecorder, Fetch, ResourceKey};
use domain::blob::{BlobStore, Uploads};
use domain::checksum::Sha1Checksum;
use domain::clock::Clock;
use domain::crash_analysis::CrashAnalysisService;
use domain::crash_report::CrashReportService;
use domain::device_status::DeviceStatusService;
use domain::fleet::{Fleet, FleetAuthor, FleetDirectory, FleetService};
use domain::inspection::InspectionRepository;
use domain::log_entry::LogService;
use domain::refusal::RefusalRepository;
use domain::resource::ResourceService;
use domain::timestamp::Timestamp;
use fastrand::Rng;
use futures_util::future::try_join_all;
use std::sync::Arc;
use std::time::Duration;

/// How long the story lasts.
const DAYS: u64 = 10;

/// Time between two statuses of a printer, and that of the last hours.
const STEP: Duration = Duration::from_mins(30);
const LAST_STEP: Duration = Duration::from_mins(5);
const LAST_HOURS: Duration = Duration::from_hours(3);

/// How many of the reports wait for their analysis at most; a round takes some of them.
const MAX_ROUNDS: usize = 1_000;

/// When some of the resources are replaced: a part of the story, from 0 to 1.
const REPLACED_AT: f64 = 0.6;

/// The use cases, and what happens.
pub(super) struct Story {
    plan: Plan,
    rng: Rng,
    clock: Arc<StoryClock>,
    fleet_service: FleetService,
    resources: ResourceService,
    logs: LogService,
    crash_reports: CrashReportService,
    statuses: DeviceStatusService,
    analysis: CrashAnalysisService,
    database: Database,
    requests: ActivityRecorder,
}

/// A company while the story goes on.
pub(super) struct Scene {
    pub(super) registered: Registered,
    pub(super) stations: Vec<Station>,
    pub(super) printers: Vec<Printer>,
    uploads: Vec<Upload>,
}

impl Story {
    pub(super) fn new(database: &Database, blobs: &Arc<dyn BlobStore>, plan: Plan) -> Result<Self> {
        let clock = Arc::new(StoryClock::new(start(plan)));
        let time: Arc<dyn Clock> = clock.clone();
        let ids = Arc::new(SeededIds::new(plan.seed.wrapping_add(1)));
        let registry = database.fleet_registry().by(FleetAuthor { author: wiring::actor().author, at: time.now() });
        let contents = Uploads::new(Arc::clone(blobs), Arc::new(database.ledger()), time.clone(), ids.clone());
        let directory: Arc<dyn FleetDirectory> = Arc::new(database.fleet_directory());
        let program = std::env::current_exe().context("cannot find the program itself, which reads minidumps")?;
        let dumps = Arc::new(ChildProcessReader::new(program, plan.max_dump));
        Ok(Self {
            plan,
            rng: Rng::with_seed(plan.seed),
            fleet_service: FleetService::new(Arc::new(registry), time.clone(), ids),
            resources: ResourceService::new(Arc::new(database.resources()), contents.clone(), plan.limits),
            logs: LogService::new(Arc::new(database.logs()), Arc::clone(&directory), time.clone()),
            crash_reports: CrashReportService::new(Arc::new(database.crash_reports()), contents, plan.limits),
            statuses: DeviceStatusService::new(Arc::new(database.device_statuses()), directory, time.clone()),
            analysis: CrashAnalysisService::new(Arc::new(database.crash_analyses()), Arc::clone(blobs), dumps, time),
            clock,
            database: database.clone(),
            requests: ActivityRecorder::default(),
        })
    }

    /// Lets everything happen; how it goes on.
    pub(super) async fn tell(mut self) -> Result<Live> {
        let (fleet, registered) = fleet(&mut self.rng);
        self.fleet_service.apply(&fleet).await?;
        let mut scenes = self.scenes(&fleet, registered).await?;
        let times = times(self.plan);
        for (place, window) in times.windows(2).enumerate() {
            let [before, now] = [window[0], window[1]];
            let [was, progress] = [before, now].map(|time| self.progress(time));
            self.clock.set(now);
            for scene in &mut scenes {
                if place == 0 || (was < REPLACED_AT && progress >= REPLACED_AT) {
                    self.upload(scene, place == 0).await?;
                }
                self.work(scene, before, now).await?;
            }
            self.requests.store(&self.database.activity()).await?;
        }
        self.clock.set(self.plan.now);
        for _ in 0..MAX_ROUNDS {
            if !self.analysis.round().await?.has_more {
                break;
            }
        }
        Ok(Live::new(scenes, self.rng))
    }

    async fn scenes(&mut self, fleet: &Fleet, registered: Vec<Registered>) -> Result<Vec<Scene>> {
        let mut scenes = Vec::new();
        let mut place = 0;
        for ((company, named), registered) in COMPANIES.iter().zip(&fleet.organizations).zip(registered) {
            let found = self.database.inspection().organizations(Some(company.name.to_owned())).await?;
            let organization = found.first().context("an organization is missing that was registered")?.id;
            let stations = stations(company, organization, named, &registered);
            let mut printers = Vec::new();
            for (guid, name) in registered.devices.iter().zip(company.devices) {
                printers.push(Printer::new(*guid, name, place, &mut self.rng));
                place += 1;
            }
            let uploads = uploads(&registered.resources, named.publisher == Some(true));
            scenes.push(Scene { registered, stations, printers, uploads });
        }
        Ok(scenes)
    }

    /// The part of the story that has passed, from 0 to 1.
    fn progress(&self, time: Timestamp) -> f64 {
        let begun = start(self.plan);
        hours(begun, time) / hours(begun, self.plan.now)
    }

    /// Stores all resources, or newer versions of every third one.
    async fn upload(&mut self, scene: &mut Scene, is_first: bool) -> Result<()> {
        let caller = scene.stations[0].at(self.progress(self.clock.now()));
        for (place, upload) in scene.uploads.iter_mut().enumerate() {
            if !is_first {
                if !place.is_multiple_of(3) {
                    continue;
                }
                *upload = upload.clone().newer();
            }
            let description = upload.description();
            let read = move |_: &[u8]| Ok(description.clone());
            let mut parts = Parts::default().with("JsonString", "", "application/json", "{}").with(
                "File",
                "content",
                "application/octet-stream",
                upload.content.clone(),
            );
            self.resources.store(&caller, None, &mut parts, &read).await?;
        }
        Ok(())
    }

    /// What happens between two moments.
    async fn work(&mut self, scene: &mut Scene, before: Timestamp, now: Timestamp) -> Result<()> {
        let passed = hours(before, now);
        let (hour, left, progress) = (hour_of(now), hours(now, self.plan.now), self.progress(now));
        let is_day = (6..19).contains(&hour);
        let mut statuses = Vec::new();
        for printer in &mut scene.printers {
            if let Some(status) = printer.next(&mut self.rng, passed, hour, left) {
                statuses.push(status?);
            }
        }
        let caller = scene.stations[0].at(progress);
        try_join_all(statuses.into_iter().map(|status| self.statuses.update(&caller, status))).await?;

        let entries = if is_day { self.rng.usize(..8) } else { self.rng.usize(..2) };
        let mut added = Vec::new();
        for _ in 0..entries {
            let station = &scene.stations[self.rng.usize(..scene.stations.len())];
            added.push((station.at(progress), logs::entry(&mut self.rng, station, &scene.registered)?));
            self.requests.admitted(&station.at(progress), Some(station.address.clone()), now);
        }
        let logs = &self.logs;
        try_join_all(added.into_iter().map(|(caller, entry)| async move { logs.add(&caller, entry).await })).await?;

        let chance = if is_day { 0.16 } else { 0.02 };
        if self.rng.f64() < chance * passed * 2.0 {
            let caller = scene.stations[self.rng.usize(..scene.stations.len())].at(progress);
            let (command, mut parts) = crashes::report(&mut self.rng, progress, &caller.application_version);
            self.crash_reports.add(&caller, command, &mut parts).await?;
        }
        self.fetch(scene, now, is_day);
        self.refuse(scene, now, is_day).await
    }

    /// Computers fetch resources. Some stay with what they have.
    fn fetch(&mut self, scene: &Scene, now: Timestamp, is_day: bool) {
        let progress = self.progress(now);
        for (place, station) in scene.stations.iter().enumerate() {
            let is_stuck = place % 5 == 3 && progress > 0.5;
            if !is_day || is_stuck || self.rng.f64() > 0.25 {
                continue;
            }
            let caller = station.at(progress);
            self.requests.admitted(&caller, Some(station.address.clone()), now);
            // Not every computer needs every resource.
            let wanted = self.rng.usize(..scene.uploads.len());
            if !(wanted + place).is_multiple_of(4) {
                let upload = &scene.uploads[wanted];
                let fetch = Fetch { checksum: Sha1Checksum::of(&upload.content), at: now };
                let key = ResourceKey { organization: caller.organization, guid: upload.guid };
                self.requests.fetched(&caller, key, fetch);
            }
        }
    }

    async fn refuse(&mut self, scene: &Scene, now: Timestamp, is_day: bool) -> Result<()> {
        let mut refused = Vec::new();
        if is_day && self.rng.f64() < 0.22 {
            // The same few computers are set up wrongly.
            let station = &scene.stations[self.rng.usize(..scene.stations.len()) / 6 * 6];
            let version = station.at(self.progress(now)).application_version;
            refused.push(refusals::of_station(&mut self.rng, now, station, &version));
        }
        if self.rng.f64() < 0.06 {
            refused.push(refusals::of_stranger(&mut self.rng, now));
        }
        if refused.is_empty() { Ok(()) } else { Ok(self.database.refusals().add(&refused).await?) }
    }
}

fn start(plan: Plan) -> Timestamp {
    plan.now.minus(Duration::from_hours(24 * DAYS))
}

/// The moments at which something happens.
fn times(plan: Plan) -> Vec<Timestamp> {
    let (mut time, dense) = (start(plan), plan.now.minus(LAST_HOURS));
    let mut times = Vec::new();
    while time < plan.now {
        times.push(time);
        time = time.plus(if time < dense { STEP } else { LAST_STEP });
    }
    times.push(plan.now);
    times
}

/// Hours between two moments.
fn hours(from: Timestamp, to: Timestamp) -> f64 {
    let seconds = to.whole_seconds() - from.whole_seconds();
    f64::from(i32::try_from(seconds).unwrap_or(i32::MAX)) / 3_600.0
}

/// The hour of the day in UTC.
fn hour_of(time: Timestamp) -> u32 {
    u32::try_from(time.whole_seconds().div_euclid(3_600).rem_euclid(24)).unwrap_or_default()
}
