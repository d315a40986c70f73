//! Concurrency limits of uploads, for each organization and in all (ADR 43).

use domain::caller::OrganizationId;
use metering::{Counted, GaugeHandle, catalog};
use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::{Instant, timeout_at};

/// Longest wait for a permit.
const MAX_WAIT: Duration = Duration::from_secs(2);

/// The limits; 0 means no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct UploadBounds {
    pub of_organization: u32,
    pub in_all: u32,
}

/// The concurrency limits of uploads.
pub struct UploadLimit {
    of_organization: u32,
    all: Arc<Semaphore>,
    /// One for each organization that has uploaded since the start.
    organizations: Mutex<HashMap<OrganizationId, Arc<Semaphore>>>,
    waiting: GaugeHandle,
    max_wait: Duration,
}

/// The permit of an upload, until it is dropped.
pub(crate) struct UploadPermit {
    _of_organization: OwnedSemaphorePermit,
    _of_all: OwnedSemaphorePermit,
}

/// The limit that is reached.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LimitReached {
    Organization,
    All,
}

impl UploadLimit {
    pub fn new(bounds: UploadBounds) -> Self {
        Self {
            of_organization: bounds.of_organization,
            all: semaphore(bounds.in_all),
            organizations: Mutex::default(),
            waiting: catalog::QUEUE_DEPTH.with(["upload"]),
            max_wait: MAX_WAIT,
        }
    }

    /// Waits for a permit of the organization, then for one of all uploads. So a busy organization doesn't block
    /// others.
    pub(crate) async fn acquire(&self, organization: OrganizationId) -> Result<UploadPermit, LimitReached> {
        let own = {
            let mut organizations = self.organizations.lock().unwrap_or_else(PoisonError::into_inner);
            Arc::clone(organizations.entry(organization).or_insert_with(|| semaphore(self.of_organization)))
        };
        let deadline = Instant::now() + self.max_wait;
        Ok(UploadPermit {
            _of_organization: self.permit(own, deadline).await.ok_or(LimitReached::Organization)?,
            _of_all: self.permit(Arc::clone(&self.all), deadline).await.ok_or(LimitReached::All)?,
        })
    }

    async fn permit(&self, semaphore: Arc<Semaphore>, deadline: Instant) -> Option<OwnedSemaphorePermit> {
        if let Ok(permit) = Arc::clone(&semaphore).try_acquire_owned() {
            return Some(permit);
        }
        let _waiting = Counted::by(&self.waiting);
        timeout_at(deadline, semaphore.acquire_owned()).await.ok()?.ok()
    }
}

fn semaphore(bound: u32) -> Arc<Semaphore> {
    Arc::new(Semaphore::new(if bound == 0 { Semaphore::MAX_PERMITS } else { bound as usize }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    const ACME: OrganizationId = OrganizationId(1);
    const ZENITH: OrganizationId = OrganizationId(2);

    fn limit(of_organization: u32, in_all: u32, max_wait: Duration) -> UploadLimit {
        UploadLimit { max_wait, ..UploadLimit::new(UploadBounds { of_organization, in_all }) }
    }

    fn at_once(limit: &UploadLimit, organization: OrganizationId) -> Option<UploadPermit> {
        limit.acquire(organization).now_or_never().and_then(Result::ok)
    }

    #[actix_web::test]
    async fn each_organization_has_its_own_limit() {
        let limit = limit(2, 0, Duration::from_millis(10));
        let [first, second] = [(); 2].map(|()| at_once(&limit, ACME));
        assert!(first.is_some() && second.is_some());
        assert_eq!(limit.acquire(ACME).await.err(), Some(LimitReached::Organization));
        assert!(at_once(&limit, ZENITH).is_some());
        drop(first);
        assert!(at_once(&limit, ACME).is_some());
    }

    #[actix_web::test]
    async fn all_together_have_a_limit_too() {
        let limit = limit(2, 3, Duration::from_millis(10));
        let _running = [ACME, ACME, ZENITH].map(|organization| at_once(&limit, organization).unwrap());
        assert_eq!(limit.acquire(ZENITH).await.err(), Some(LimitReached::All));
    }

    #[actix_web::test]
    async fn an_upload_that_waits_gets_the_next_permit() {
        let limit = limit(1, 1, Duration::from_hours(1));
        let first = at_once(&limit, ACME).unwrap();
        let mut own = Box::pin(limit.acquire(ACME));
        let mut other = Box::pin(limit.acquire(ZENITH));
        assert!((&mut own).now_or_never().is_none() && (&mut other).now_or_never().is_none());
        drop(first);
        // Zenith holds its organization's permit already and comes first.
        drop(other.await.unwrap());
        assert!(own.await.is_ok());
    }

    #[actix_web::test]
    async fn zero_is_no_limit() {
        let limit = limit(0, 0, Duration::from_millis(10));
        let many: Vec<_> = (0..1000).map(|_| at_once(&limit, ACME)).collect();
        assert!(many.iter().all(Option::is_some));
    }
}
