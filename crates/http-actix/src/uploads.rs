//! How many uploads are under way at once, of one organization and in all, and the line of those that wait for
//! their turn (ADR 43).

use domain::caller::OrganizationId;
use metering::{Counted, GaugeHandle, catalog};
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Longest wait for a turn: half of what a client waits for an answer at most.
const PATIENCE: Duration = Duration::from_secs(2);

/// So many times as many uploads may wait as may be under way.
const LINE: usize = 2;

/// The bounds; 0 for none.
#[derive(Debug, Clone, Copy, Default)]
pub struct UploadBounds {
    pub of_organization: u32,
    pub in_all: u32,
}

/// The turns of all uploads.
pub(crate) struct Uploads {
    bounds: UploadBounds,
    all: Turns,
    /// Of those organizations that have an upload under way or in the line.
    organizations: Mutex<HashMap<OrganizationId, Arc<Turns>>>,
    waiting: GaugeHandle,
    patience: Duration,
}

/// The turns that are left, and the places in the line.
struct Turns {
    running: Arc<Semaphore>,
    line: Arc<Semaphore>,
}

/// An upload that is under way, until it is dropped.
pub(crate) struct Upload {
    _of_all: OwnedSemaphorePermit,
    // Before the organization is left: who leaves last forgets it.
    _of_organization: OwnedSemaphorePermit,
    _member: Member,
}

/// One upload of an organization, under way or in the line.
struct Member {
    uploads: Arc<Uploads>,
    organization: OrganizationId,
    turns: Option<Arc<Turns>>,
}

/// Whose turns are used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Full {
    Organization,
    All,
}

impl Turns {
    fn new(bound: u32) -> Self {
        let bound = if bound == 0 { Semaphore::MAX_PERMITS / LINE } else { bound as usize };
        Self { running: Arc::new(Semaphore::new(bound)), line: Arc::new(Semaphore::new(bound * LINE)) }
    }
}

impl Uploads {
    pub(crate) fn new(bounds: UploadBounds) -> Arc<Self> {
        Self::with_patience(bounds, PATIENCE)
    }

    fn with_patience(bounds: UploadBounds, patience: Duration) -> Arc<Self> {
        let waiting = catalog::QUEUE_DEPTH.with(["upload_line"]);
        let organizations = Mutex::default();
        Arc::new(Self { bounds, all: Turns::new(bounds.in_all), organizations, waiting, patience })
    }

    /// A turn for an upload of the organization: at once where there is one, after a bounded wait in a bounded line, or
    /// not at all. Who waits for the organization's turn is in nobody else's way.
    pub(crate) async fn begin(self: &Arc<Self>, organization: OrganizationId) -> Result<Upload, Full> {
        let member = self.enter(organization);
        let end = Instant::now() + self.patience;
        let own = self.turn(member.turns(), end).await.ok_or(Full::Organization)?;
        let of_all = self.turn(&self.all, end).await.ok_or(Full::All)?;
        Ok(Upload { _of_all: of_all, _of_organization: own, _member: member })
    }

    async fn turn(&self, turns: &Turns, end: Instant) -> Option<OwnedSemaphorePermit> {
        if let Ok(turn) = turns.running.clone().try_acquire_owned() {
            return Some(turn);
        }
        let _place = turns.line.clone().try_acquire_owned().ok()?;
        let _waiting = Counted::by(&self.waiting);
        // Never closed.
        timeout_at(end, turns.running.clone().acquire_owned()).await.ok()?.ok()
    }

    fn enter(self: &Arc<Self>, organization: OrganizationId) -> Member {
        let mut organizations = self.organizations();
        let turns =
            organizations.entry(organization).or_insert_with(|| Arc::new(Turns::new(self.bounds.of_organization)));
        Member { uploads: Arc::clone(self), organization, turns: Some(Arc::clone(turns)) }
    }

    fn organizations(&self) -> MutexGuard<'_, HashMap<OrganizationId, Arc<Turns>>> {
        self.organizations.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Member {
    fn turns(&self) -> &Turns {
        // It is there until the member leaves.
        self.turns.as_deref().unwrap_or(&self.uploads.all)
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let mut organizations = self.uploads.organizations();
        drop(self.turns.take());
        if let Entry::Occupied(entry) = organizations.entry(self.organization)
            && Arc::strong_count(entry.get()) == 1
        {
            entry.remove();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const ACME: OrganizationId = OrganizationId(1);
    const ZENITH: OrganizationId = OrganizationId(2);

    /// Of little patience.
    fn uploads(of_organization: u32, in_all: u32) -> Arc<Uploads> {
        Uploads::with_patience(UploadBounds { of_organization, in_all }, Duration::from_millis(10))
    }

    /// Of so much that a test that needs it to end would never end.
    fn patient_uploads(of_organization: u32, in_all: u32) -> Arc<Uploads> {
        Uploads::with_patience(UploadBounds { of_organization, in_all }, Duration::from_hours(1))
    }

    fn at_once(uploads: &Arc<Uploads>, organization: OrganizationId) -> Option<Upload> {
        uploads.begin(organization).now_or_never().and_then(Result::ok)
    }

    #[actix_rt::test]
    async fn each_organization_has_its_own_bound() {
        let uploads = uploads(2, 0);
        let [first, second] = [(); 2].map(|()| at_once(&uploads, ACME));
        assert!(first.is_some() && second.is_some());
        assert_eq!(uploads.begin(ACME).await.err(), Some(Full::Organization));
        assert!(at_once(&uploads, ZENITH).is_some());
        drop(first);
        assert!(at_once(&uploads, ACME).is_some());
        drop(second);
        assert!(uploads.organizations().is_empty(), "nothing is kept of organizations without uploads");
    }

    #[actix_rt::test]
    async fn all_together_have_a_bound_too() {
        let uploads = uploads(2, 3);
        let _running = [ACME, ACME, ZENITH].map(|organization| at_once(&uploads, organization).unwrap());
        assert_eq!(uploads.begin(ZENITH).await.err(), Some(Full::All));
    }

    #[actix_rt::test]
    async fn who_waits_gets_the_turn_that_becomes_free() {
        let uploads = patient_uploads(1, 1);
        let first = at_once(&uploads, ACME).unwrap();
        let mut second = Box::pin(uploads.begin(ACME));
        let mut other = Box::pin(uploads.begin(ZENITH));
        assert!((&mut second).now_or_never().is_none() && (&mut other).now_or_never().is_none());
        drop(first);
        // Zenith has its organization's turn already and comes first; nobody has to wait until patience ends.
        drop(other.await.unwrap());
        assert!(second.await.is_ok());
        assert!(uploads.organizations().is_empty());
    }

    #[actix_rt::test]
    async fn the_line_of_an_organization_is_bounded_and_another_has_its_own() {
        let uploads = patient_uploads(1, 0);
        let _running = at_once(&uploads, ACME).unwrap();
        let mut line: Vec<_> = (0..LINE).map(|_| Box::pin(uploads.begin(ACME))).collect();
        for waiting in &mut line {
            assert!(waiting.now_or_never().is_none());
        }
        assert_eq!(uploads.begin(ACME).now_or_never().unwrap().err(), Some(Full::Organization));
        assert!(at_once(&uploads, ZENITH).is_some());
        drop(line);
        assert!(uploads.begin(ACME).now_or_never().is_none(), "there is room in the line again");
    }

    #[actix_rt::test]
    async fn who_waits_for_his_organization_takes_no_place_from_others() {
        let uploads = patient_uploads(1, 1);
        let running = at_once(&uploads, ACME).unwrap();
        let mut own: Vec<_> = (0..LINE).map(|_| Box::pin(uploads.begin(ACME))).collect();
        let mut other = Box::pin(uploads.begin(ZENITH));
        for waiting in own.iter_mut().chain([&mut other]) {
            assert!(waiting.now_or_never().is_none());
        }
        drop(running);
        assert!(other.await.is_ok());
    }

    #[actix_rt::test]
    async fn zero_bounds_nobody() {
        let uploads = uploads(0, 0);
        let many: Vec<_> = (0..1000).map(|_| at_once(&uploads, ACME)).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
