//! [`fuzz::crash_report`] under libFuzzer.
#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| fuzz::crash_report(input));
