//! Nothing but tests, under `tests/`: they read the workspace as text and as `cargo metadata` and
//! hold what no compiler checks. What the product does is tested in its own crates.
