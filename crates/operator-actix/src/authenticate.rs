//! Who calls: the operator of a token or of a session's cookie, and whether that operator may (decisions P3, P5, P6, P8).

use crate::error::Problem;
use crate::{cookie, same_origin};
use actix_web::body::{BoxBody, MessageBody};
use actix_web::dev::{Payload, ServiceRequest, ServiceResponse};
use actix_web::http::header::AUTHORIZATION;
use actix_web::middleware::{Next, from_fn};
use actix_web::web::Data;
use actix_web::{Error, FromRequest, HttpMessage, HttpRequest, Route};
use domain::error::error_chain;
use domain::operator::{Actor, OperatorError, Role, Scope, SignedIn, SignedInBy};
use domain::session::SessionService;
use domain::token::TokenService;
use http_actix::RequestInfo;
use std::future::{Ready, ready};

/// Whom a route lets pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Every operator.
    Viewer,
    /// Operators with the role admin, of one organization too.
    Admin,
    /// Admins of all organizations.
    AdminOfAll,
}

impl Access {
    /// Whether this operator passes.
    ///
    /// # Errors
    /// [`OperatorError::Forbidden`]
    pub fn check(self, actor: &Actor) -> Result<(), OperatorError> {
        match self {
            Self::Viewer => Ok(()),
            Self::Admin => actor.require_admin(),
            Self::AdminOfAll if actor.role == Role::Admin && actor.scope == Scope::All => Ok(()),
            Self::AdminOfAll => Err(OperatorError::Forbidden("this needs an admin of all organizations")),
        }
    }
}

/// The operator who calls. As an extractor it needs a route that [`requires`] access.
#[derive(Debug, Clone)]
pub struct Caller {
    pub signed_in: SignedIn,
    pub actor: Actor,
}

impl FromRequest for Caller {
    type Error = Problem;
    type Future = Ready<Result<Self, Problem>>;

    fn from_request(request: &HttpRequest, _: &mut Payload) -> Self::Future {
        ready(request.extensions().get::<Self>().cloned().ok_or(Problem::Unauthenticated))
    }
}

/// A route that lets operators of this access pass. `operation` is its name in logs and metrics.
pub fn requires(access: Access, operation: &'static str, route: Route) -> Route {
    let route = route.wrap(from_fn(move |request: ServiceRequest, next: Next<_>| authenticate(access, request, next)));
    http_actix::operation(operation, route)
}

async fn authenticate(
    access: Access,
    request: ServiceRequest,
    next: Next<impl MessageBody + 'static>,
) -> Result<ServiceResponse<BoxBody>, Error> {
    match admitted(access, request.request()).await {
        Ok(caller) => {
            request.extensions_mut().insert(caller);
            Ok(next.call(request).await?.map_into_boxed_body())
        }
        Err(problem) => Ok(request.error_response(problem)),
    }
}

async fn admitted(access: Access, request: &HttpRequest) -> Result<Caller, Problem> {
    let caller = find_caller(request).await?.ok_or(Problem::Unauthenticated)?;
    access.check(&caller.actor)?;
    Ok(caller)
}

/// The operator who calls: by the token of `Authorization` if there is one, else by the cookie of a session. Another scheme
/// is that of a proxy, which browsers send with each request.
///
/// # Errors
/// [`Problem::CrossSite`] for a change with a cookie that another site may have caused, or a store failure.
pub async fn find_caller(request: &HttpRequest) -> Result<Option<Caller>, Problem> {
    let token = request.headers().get(AUTHORIZATION).and_then(|header| bearer(header.to_str().ok()?));
    let found = match token {
        Some(token) => service::<TokenService>(request).authenticate(token).await?,
        None => match cookie::secret(request) {
            Some(secret) => {
                same_origin::check(request.method(), request.headers())?;
                service::<SessionService>(request).authenticate(&secret).await?
            }
            None => None,
        },
    };
    let address = RequestInfo::of(request).client.map(|client| client.to_string());
    Ok(found.map(|signed_in| Caller { actor: signed_in.actor(address), signed_in }))
}

/// Whether the session or the token of a request that lasts is still valid. It counts as no request of the session. Where
/// that can't be found out, it is not.
pub(crate) async fn is_still_signed_in(request: &HttpRequest, signed_in: &SignedIn) -> bool {
    let operator = &signed_in.operator;
    let found = match &signed_in.by {
        SignedInBy::Session { digest, .. } => service::<SessionService>(request).is_valid(*digest, operator).await,
        SignedInBy::Token { id, .. } => service::<TokenService>(request).is_valid(*id, operator).await,
    };
    found.unwrap_or_else(|error| {
        tracing::error!(cause = error_chain(&error), "cannot find out whether an operator is still signed in");
        false
    })
}

/// The token of `Bearer plt_…`; the scheme is read without case.
fn bearer(header: &str) -> Option<&str> {
    let (scheme, token) = header.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

fn service<T: 'static>(request: &HttpRequest) -> &Data<T> {
    request.app_data().expect("`configure` adds it")
}
