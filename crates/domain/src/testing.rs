//! Builders, a fixed clock and in-memory implementations, for tests.
