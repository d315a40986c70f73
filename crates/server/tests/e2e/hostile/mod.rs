//! Clients that are broken or mean harm: each gets the right answer or none, nothing of them is kept, the memory of
//! the process stays flat, and the next client is served.

mod bombs;
mod cuts;
mod framing;
mod slow;
mod texts;
