//! Tokens: how programs use the operator API (decision P6).

mod model;
mod repository;
mod service;

pub use model::{DEFAULT_TOKEN_LIFETIME, MAX_TOKEN_LIFETIME, NewToken, TOKEN_PREFIX, Token, TokenFilter};
pub use repository::TokenRepository;
pub use service::{IssueToken, TokenService};

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockTokenRepository;
