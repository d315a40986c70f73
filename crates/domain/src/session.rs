//! Sessions of operators: sign-in by name and password (decisions P3, P4).

mod model;
mod repository;
mod service;
mod throttle;

pub use model::{NewSession, SESSION_IDLE, SESSION_LIFETIME, Session};
pub use repository::SessionRepository;
pub use service::{SessionService, SignIn, StartedSession};
pub use throttle::{SignInAttempt, SignInThrottle};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockSessionRepository;
