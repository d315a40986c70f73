//! The console of Platen as an actix-web application: pages that the server renders for operators.
//!
//! [`configure`] adds its routes to an [`App`](actix_web::App) of http-actix, after those of operator-actix, whose
//! sessions it uses. A page is a template and a handler that calls a use case of `domain`; [`layout`] is what all pages
//! have in common, [`headers`] the policy that browsers enforce (decision P7). Everything works without JavaScript.

mod account;
mod assets;
mod chart;
mod choices;
mod computers;
mod crashes;
mod device;
mod devices;
mod errors;
mod form;
mod format;
mod headers;
mod inks;
mod layout;
mod link;
mod logs;
mod overview;
mod refusals;
mod resources;
mod routes;
mod search;
mod services;
mod setup;
mod sign_in;
mod sparkline;
mod timeline;
mod xml;

pub use routes::configure;
pub use services::{Services, Settings, setup_url};
