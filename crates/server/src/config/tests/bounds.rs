//! Values of the configuration at and beyond their bounds.

use super::*;

#[test]
fn addresses_have_a_host_and_a_port() {
    for good in ["127.0.0.1:0", "[::1]:8080", "localhost:8080", "db-1.example.org:65535", "0.0.0.0:80"] {
        assert_eq!(Address::parse(good).map(|address| address.to_string()).as_deref(), Some(good));
    }
    for bad in
        ["", "8080", ":8080", "127.0.0.1", "127.0.0.1:", "127.0.0.1:65536", "127.0.0:80", "a b:1", "a:+1", "::1:80"]
    {
        assert_eq!(Address::parse(bad), None, "{bad}");
    }
}

#[test]
fn sizes_and_durations_overflow_into_a_refusal() {
    for size in ["1", "1B", "2 kb", "8388607TiB"] {
        assert!(values::size(&Value::text(size)).is_some(), "{size}");
    }
    for size in ["", "0MiB", "-1", "MiB", "1 XB", "8388608TiB", "99999999999999999999", "1 0MiB"] {
        assert_eq!(values::size(&Value::text(size)), None, "{size}");
    }
    assert_eq!(values::size(&Value::text("512MiB")), Some(512 << 20));
    assert_eq!(values::duration(&Value::text("2d")), Some(Duration::from_hours(48)));
    assert_eq!(values::duration(&Value::text("3w")), Some(Duration::from_hours(21 * 24)));
    for duration in ["", "s", "1", "1 week", "-1s", "99999999999999999999d", "999999999999999d"] {
        assert_eq!(values::duration(&Value::text(duration)), None, "{duration}");
    }
}

/// "6m" are minutes, whatever was meant.
#[test]
fn records_are_kept_for_a_day_at_least() {
    assert_eq!(values::age(&Value::text("1d")), Some(Duration::from_hours(24)));
    assert_eq!(values::age(&Value::text("24h")), Some(Duration::from_hours(24)));
    for age in ["0d", "0s", "6m", "23h", "86399s", "90", "1y", "-1d"] {
        assert_eq!(values::age(&Value::text(age)), None, "{age}");
    }
    let message = refusal(Some("retention.logs = '6m'"), &[]);
    assert!(
        message.ends_with("\"6m\" is not allowed; allowed is a duration of at least 1d, such as 90d (units h, d, w)"),
        "{message}"
    );
}

#[test]
fn log_levels_are_levels_or_directives() {
    for good in ["info", "WARN", "off", "info,sqlx=warn", "domain::resource=trace"] {
        assert!(values::log_level(&Value::text(good)).is_some(), "{good}");
    }
    for bad in ["", "verbose", "info,domain=loud", "=info,"] {
        assert_eq!(values::log_level(&Value::text(bad)), None, "{bad}");
    }
}

#[test]
fn the_first_file_that_exists_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let [first, second] = ["one.toml", "two.toml"].map(|name| folder.path().join(name));
    let files = [first.to_str().unwrap(), second.to_str().unwrap()];
    assert_eq!(find(&files).unwrap(), None);
    std::fs::write(&second, "").unwrap();
    assert_eq!(find(&files).unwrap(), Some(second.as_path()));
    std::fs::write(&first, "").unwrap();
    assert_eq!(find(&files).unwrap(), Some(first.as_path()));
}
