//! `GET /search`

use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::page::PageBody;
use crate::query::{Query, given};
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use actix_web::web::Data;
use domain::search::{FoundThing, SearchService, Thing};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// Something that a text may mean.
#[derive(Serialize, ToSchema)]
pub(crate) struct ThingBody {
    /// `organization`, `user`, `computer`, `device`, `queue`, `job`, `resource`, `crash_report`, `crash_group` or
    /// `refusal`.
    kind: &'static str,
    /// Its GUID or id; null for organizations and users.
    id: Option<String>,
    /// What people call it: the signature of a crash group, the detail of a refusal.
    name: String,
    /// Null where it isn't known whose a refused request was.
    organization: Option<String>,
    /// Whether it was removed from the fleet.
    is_removed: bool,
    /// Of a computer.
    serial_number: Option<String>,
    /// Of a queue: the GUID of its device.
    device: Option<String>,
    /// Of a job: the GUID of its queue.
    queue: Option<String>,
    /// When a crash report was received, or a request refused.
    #[schema(format = DateTime)]
    time: Option<String>,
    /// Of a refusal: what was asked for, the status and the reason.
    operation: Option<String>,
    status: Option<u16>,
    reason: Option<String>,
}

impl From<FoundThing> for ThingBody {
    fn from(FoundThing { organization, hit }: FoundThing) -> Self {
        let mut body = Self {
            kind: hit.thing.kind(),
            id: hit.thing.id(),
            name: hit.thing.name().to_owned(),
            organization,
            is_removed: hit.is_retired,
            serial_number: None,
            device: None,
            queue: None,
            time: None,
            operation: None,
            status: None,
            reason: None,
        };
        match hit.thing {
            Thing::Computer { serial_number, .. } => body.serial_number = serial_number,
            Thing::Queue { device, .. } => body.device = device.map(|device| device.to_string()),
            Thing::Job { queue, .. } => body.queue = queue.map(|queue| queue.to_string()),
            Thing::CrashReport { received, .. } => body.time = Some(shown(received)),
            Thing::Refusal { at, operation, status, reason, .. } => {
                body.time = Some(shown(at));
                (body.operation, body.status, body.reason) = (Some(operation), Some(status), Some(reason));
            }
            _ => {}
        }
        body
    }
}

/// What is searched for.
#[derive(Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub(crate) struct SearchQuery {
    /// A GUID or its first six digits or more, a SerialNumber, a name or a part of it, the id of a crash report or group,
    /// or the id of a refused request.
    q: Option<String>,
}

/// What a GUID, a SerialNumber, a name or an id is: at most 20 of each kind, all on one page.
#[utoipa::path(get, path = "/search", operation_id = "search", tag = "Search", params(SearchQuery), responses((status = 200, description = "All that was found.", body = PageBody<ThingBody>), Problems))]
pub(crate) async fn find(
    caller: Caller,
    query: Query<SearchQuery>,
    search: Data<SearchService>,
) -> Result<HttpResponse, Problem> {
    let found = search.find(&caller.actor, given(&query.0.q).unwrap_or_default()).await?;
    Ok(json(&PageBody { items: found.into_iter().map(ThingBody::from).collect(), next: None }))
}
