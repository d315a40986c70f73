//! Lists of any length take no more memory than a page. The one test of its process, so that its
//! memory is its own.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use domain::caller::OrganizationId;
use domain::log_entry::{LogFilter, LogRepository, NewLogEntry, Pattern};
use domain::testing::a_log_entry;
use futures_util::TryStreamExt;
use futures_util::future::try_join_all;
use support::{TestDatabase, postgres, sqlite};

const ACME: OrganizationId = OrganizationId(1);
const MIB: usize = 1024 * 1024;

/// Peak of the resident memory in bytes since the last call of [`forget_peak`].
fn peak() -> usize {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<usize>().unwrap() * 1024
}

fn forget_peak() {
    std::fs::write("/proc/self/clear_refs", "5").unwrap();
}

/// Entries, and the bytes of their descriptions.
async fn read(test: &TestDatabase) -> (usize, usize) {
    let all = LogFilter { user: Some(Pattern::new("*")), ..LogFilter::default() };
    let mut entries = test.database.logs().list(ACME, all);
    let mut total = (0, 0);
    while let Some(entry) = entries.try_next().await.unwrap() {
        total = (total.0 + 1, total.1 + entry.description.len());
    }
    total
}

#[tokio::test(flavor = "multi_thread")]
async fn a_list_takes_no_more_memory_however_long_it_and_its_rows_are() {
    for test in [sqlite().await, postgres().await] {
        let logs = test.database.logs();
        // 200 MiB in few rows, then many rows.
        for _ in 0..25 {
            let long = || NewLogEntry { description: "d".repeat(MIB), ..a_log_entry("") };
            try_join_all((0..8).map(|_| logs.add(ACME, long()))).await.unwrap();
        }
        for _ in 0..40 {
            let entry = |number: usize| a_log_entry(&number.to_string().repeat(50));
            try_join_all((100..600).map(|number| logs.add(ACME, entry(number)))).await.unwrap();
        }
        // The first list settles what stays allocated anyway.
        read(&test).await;
        forget_peak();
        let before = peak();
        assert_eq!(read(&test).await, (20_200, 200 * MIB + 40 * 500 * 150));
        // The kernel counts in batches for each processor: a peak may even seem to sink.
        let risen = peak().saturating_sub(before);
        assert!(risen < 32 * MIB, "the list took {} MiB", risen / MIB);
    }
}
