//! Log entries from client computers (interface 2.5, 2.6, 4.7 and 4.9).

mod command;
mod cursor;
mod filter;
mod model;
mod repository;
mod service;

pub use command::{AddLog, AddLogInput, LogFilterInput};
pub use cursor::{LogCursor, LogNumber};
pub use filter::{LogFilter, Pattern};
pub use model::{ListedLogEntry, LogType, NewLogEntry};
pub use repository::LogRepository;
pub use service::LogService;

#[cfg(any(test, feature = "test-support"))]
pub use repository::MockLogRepository;
