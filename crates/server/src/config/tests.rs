//! Every key: its default, its value from the file and from the environment, and how a value that
//! isn't usable is refused.

mod bounds;

use super::keys::KEYS;
use super::values::Value;
use super::*;
use secrecy::ExposeSecret;

/// For each key a value that is allowed, as it is shown by [`shown`], and one that isn't.
const SAMPLES: &[(&str, &str, &str)] = &[
    ("http.bind", "127.0.0.9:81", "8080"),
    ("http.bind_file", "run/api.bind", " "),
    ("http.base_path", "/print/shop", "print"),
    ("http.workers", "7", "0"),
    ("http.read_timeout", "250ms", "0s"),
    ("http.trusted_proxies", "10.0.0.0/8, fd00::/8,192.0.2.7", "10.0.0.0/33"),
    ("http.tls_certificate", "/etc/platen/chain.pem", " "),
    ("http.tls_key", "/etc/platen/key.pem", " "),
    ("ops.bind", "[::1]:0", "localhost"),
    ("ops.bind_file", "run/ops.bind", " "),
    ("database.url", "postgres://u:hunter2@db/platen", "mysql://u:hunter2@db/platen"),
    ("database.max_connections", "64", "2000"),
    ("blobs.kind", "memory", "tape"),
    ("blobs.path", "/srv/blobs", ""),
    ("blobs.bucket", "bucket-1", "my bucket"),
    ("blobs.prefix", "platen/production", "/platen"),
    ("blobs.region", "eu-central-1", "eu/1"),
    ("blobs.endpoint", "http://minio:9000", "minio:9000"),
    ("blobs.access_key_id", "AKIAHUNTER2", " "),
    ("blobs.secret_access_key", "hunter2-secret", " "),
    ("blobs.allow_http", "true", "yes"),
    ("blobs.path_style", "true", "1"),
    ("blobs.discarded_grace", "90s", "90"),
    ("limits.max_resource_size", "3GiB", "big"),
    ("limits.max_crash_report_size", "10MB", "0"),
    ("limits.max_json_size", "64KiB", "1.5MiB"),
    ("limits.max_timestamp_ahead", "5m", "soon"),
    ("abuse.max_failed_authentications", "70", "-1"),
    ("abuse.failure_window", "90s", "0s"),
    ("abuse.max_uploads_per_organization", "12", "1000001"),
    ("abuse.max_uploads", "0", "many"),
    ("console.enabled", "false", "off"),
    ("retention.logs", "13w", "0d"),
    ("retention.crash_reports", "2w", "90m"),
    ("retention.device_history", "4w", "12h"),
    ("history.sample_every", "90s", "0s"),
    ("insight.silent_after", "40s", "soon"),
    ("insight.max_dump", "32MiB", "large"),
    ("log.format", "json", "xml"),
    ("log.level", "warn,domain=trace", "verbose"),
    ("telemetry.otlp_endpoint", "http://collector:4318", "collector:4318"),
];

/// Keys that a sample needs to be used.
const COMPANIONS: &[(&str, &str, &str)] = &[
    ("blobs.bucket", "blobs.kind", "s3"),
    ("blobs.endpoint", "blobs.allow_http", "true"),
    ("http.tls_certificate", "http.tls_key", "/k.pem"),
    ("http.tls_key", "http.tls_certificate", "/c.pem"),
    ("blobs.access_key_id", "blobs.secret_access_key", "x"),
    ("blobs.secret_access_key", "blobs.access_key_id", "x"),
];

/// The effective value of a key in the form of the samples.
fn shown(config: &Config, key: &str) -> String {
    let s3 = match &config.blobs.place {
        BlobConfig::S3(s3) => Some(s3),
        BlobConfig::Local { .. } | BlobConfig::Memory => None,
    };
    let access_key = s3.and_then(|s3| s3.access_key.as_ref());
    let or_none = |value: Option<String>| value.unwrap_or_else(|| "none".to_owned());
    let file = |file: &Option<PathBuf>| or_none(file.as_ref().map(|path| path.display().to_string()));
    let weeks = |age: Duration| format!("{}w", age.as_secs() / 604_800);
    let secret = |secret: &SecretString| secret.expose_secret().to_owned();
    match key {
        "http.bind" => config.http.listener.bind.to_string(),
        "http.bind_file" => file(&config.http.listener.bind_file),
        "http.base_path" => config.http.base_path.clone(),
        "http.workers" => config.http.workers.to_string(),
        "http.read_timeout" => format!("{}ms", config.http.read_timeout.as_millis()),
        "http.trusted_proxies" => match &config.http.trusted_proxies[..] {
            [_, _, _] => "10.0.0.0/8, fd00::/8,192.0.2.7".to_owned(),
            other => format!("{other:?}"),
        },
        "http.tls_certificate" => file(&config.http.tls.as_ref().map(|tls| tls.certificate.clone())),
        "http.tls_key" => file(&config.http.tls.as_ref().map(|tls| tls.key.clone())),
        "ops.bind" => config.ops.bind.to_string(),
        "ops.bind_file" => file(&config.ops.bind_file),
        "database.url" => secret(&config.database.url),
        "database.max_connections" => config.database.max_connections.to_string(),
        "blobs.kind" => match &config.blobs.place {
            BlobConfig::Local { .. } => "local".to_owned(),
            BlobConfig::S3(_) => "s3".to_owned(),
            BlobConfig::Memory => "memory".to_owned(),
        },
        "blobs.path" => match &config.blobs.place {
            BlobConfig::Local { path } => path.display().to_string(),
            _ => "none".to_owned(),
        },
        "blobs.bucket" => or_none(s3.map(|s3| s3.bucket.clone())),
        "blobs.prefix" => or_none(s3.and_then(|s3| s3.prefix.clone())),
        "blobs.region" => or_none(s3.and_then(|s3| s3.region.clone())),
        "blobs.endpoint" => or_none(s3.and_then(|s3| s3.endpoint.clone())),
        "blobs.access_key_id" => or_none(access_key.map(|key| secret(&key.id))),
        "blobs.secret_access_key" => or_none(access_key.map(|key| secret(&key.secret))),
        "blobs.allow_http" => or_none(s3.map(|s3| s3.allow_http.to_string())),
        "blobs.path_style" => or_none(s3.map(|s3| s3.path_style.to_string())),
        "blobs.discarded_grace" => format!("{}s", config.blobs.discarded_grace.as_secs()),
        "limits.max_resource_size" => format!("{}GiB", config.limits.max_resource_size >> 30),
        "limits.max_crash_report_size" => format!("{}MB", config.limits.max_crash_report_size / 1_000_000),
        "limits.max_json_size" => format!("{}KiB", config.limits.max_json_size >> 10),
        "limits.max_timestamp_ahead" => {
            or_none(config.limits.max_timestamp_ahead.map(|ahead| format!("{}m", ahead.as_secs() / 60)))
        }
        "abuse.max_failed_authentications" => config.abuse.max_failed_authentications.to_string(),
        "abuse.failure_window" => format!("{}s", config.abuse.failure_window.as_secs()),
        "console.enabled" => config.console.enabled.to_string(),
        "abuse.max_uploads_per_organization" => config.abuse.uploads.of_organization.to_string(),
        "abuse.max_uploads" => config.abuse.uploads.in_all.to_string(),
        "retention.logs" => or_none(config.retention.logs.map(weeks)),
        "retention.crash_reports" => or_none(config.retention.crash_reports.map(weeks)),
        "retention.device_history" => or_none(config.retention.device_history.map(weeks)),
        "history.sample_every" => format!("{}s", config.database.sample_every.as_secs()),
        "insight.silent_after" => format!("{}s", config.insight.silent_after.as_secs()),
        "insight.max_dump" => format!("{}MiB", config.insight.max_dump >> 20),
        "log.format" => or_none(config.log.format.map(|format| format!("{format:?}").to_lowercase())),
        "log.level" => or_none(config.log.level.clone()),
        "telemetry.otlp_endpoint" => or_none(config.telemetry.otlp_endpoint.clone()),
        other => panic!("no test shows {other}"),
    }
}

/// Reads a configuration from the text of a file and from variables.
fn read(file: Option<&str>, environment: &[(String, String)]) -> Result<Config> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.toml");
    if let Some(text) = file {
        std::fs::write(&path, text).unwrap();
    }
    let variables = environment.iter().map(|(name, value)| (name.into(), value.into()));
    let mut layers = Layers::read(file.is_some().then_some(path.as_path()), variables)?;
    // As if the file were in the current folder.
    layers.folder = PathBuf::new();
    Config::of(&layers)
}

#[test]
fn a_relative_path_of_the_file_is_relative_to_the_folder_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("test.toml");
    let file =
        "database.url = 'sqlite://a.db'\nblobs.path = 'blobs'\nhttp.bind_file = '/run/api'\nops.bind_file = 'ops'";
    std::fs::write(&path, file).unwrap();
    let variable = ("PLATEN_OPS__BIND_FILE".into(), "run/ops".into());
    let config = Config::of(&Layers::read(Some(&path), [variable].into_iter()).unwrap()).unwrap();
    let folder = folder.path().display();
    for (key, expected) in [
        ("database.url", format!("sqlite://{folder}/a.db")),
        ("blobs.path", format!("{folder}/blobs")),
        ("http.bind_file", "/run/api".to_owned()),
        ("ops.bind_file", "run/ops".to_owned()),
    ] {
        assert_eq!(shown(&config, key), expected, "{key}");
    }
    std::fs::write(&path, "database.url = 'sqlite::memory:'").unwrap();
    let config = Config::of_file(&path).unwrap();
    assert_eq!(shown(&config, "database.url"), "sqlite::memory:");
    assert_eq!(shown(&config, "blobs.path"), "data/blobs", "a default is relative to the current folder");
}

/// The settings as a file.
fn file_of(settings: &[(&str, &str)]) -> String {
    let line = |(key, value): &(&str, &str)| format!("{key} = {value:?}\n");
    settings.iter().map(line).collect()
}

/// The settings as variables.
fn environment_of(settings: &[(&str, &str)]) -> Vec<(String, String)> {
    let variable = |key: &str| format!("PLATEN_{}", key.to_uppercase().replace('.', "__"));
    settings.iter().map(|(key, value)| (variable(key), (*value).to_owned())).collect()
}

fn refusal(file: Option<&str>, environment: &[(String, String)]) -> String {
    let message = format!("{:#}", read(file, environment).unwrap_err());
    assert!(!message.contains('\n'), "{message}");
    message
}

/// `key` set to `value`, with what it takes for the key to count.
fn settings<'a>(key: &'a str, value: &'a str) -> Vec<(&'a str, &'a str)> {
    let mut settings = vec![(key, value)];
    let s3_only = key.starts_with("blobs.") && !["blobs.kind", "blobs.path", "blobs.discarded_grace"].contains(&key);
    if s3_only {
        settings.push(("blobs.kind", "s3"));
        if key != "blobs.bucket" {
            settings.push(("blobs.bucket", "b"));
        }
    }
    let companions = COMPANIONS.iter().filter(|(of, name, _)| *of == key && *name != "blobs.kind");
    settings.extend(companions.map(|(_, name, value)| (*name, *value)));
    settings
}

#[test]
fn every_key_has_a_sample() {
    let keys: Vec<&str> = KEYS.iter().map(|key| key.name).collect();
    let samples: Vec<&str> = SAMPLES.iter().map(|(key, ..)| *key).collect();
    assert_eq!(keys, samples);
}

#[test]
fn without_a_file_and_variables_the_defaults_count() {
    let config = read(None, &[]).unwrap();
    let expected = [
        ("http.bind", "127.0.0.1:8080"),
        ("http.bind_file", "none"),
        ("http.base_path", ""),
        ("http.read_timeout", "30000ms"),
        ("http.tls_certificate", "none"),
        ("http.tls_key", "none"),
        ("ops.bind", "127.0.0.1:9090"),
        ("ops.bind_file", "none"),
        ("database.url", "sqlite://data/platen.db"),
        ("database.max_connections", "16"),
        ("blobs.kind", "local"),
        ("blobs.path", "data/blobs"),
        ("blobs.discarded_grace", "3600s"),
        ("limits.max_resource_size", "2GiB"),
        ("limits.max_crash_report_size", "536MB"),
        ("limits.max_json_size", "1024KiB"),
        ("limits.max_timestamp_ahead", "1440m"),
        ("retention.logs", "none"),
        ("retention.crash_reports", "none"),
        // Decisions I1 and I3.
        ("retention.device_history", "12w"),
        ("history.sample_every", "300s"),
        ("insight.silent_after", "900s"),
        // Decision I6.
        ("insight.max_dump", "64MiB"),
        ("log.format", "none"),
        ("log.level", "none"),
    ];
    for (key, value) in expected {
        assert_eq!(shown(&config, key), value, "{key}");
    }
    assert_eq!(config.http.workers, cores());
    let config = read(Some("[blobs]\nkind = 's3'\nbucket = 'b'"), &[]).unwrap();
    let BlobConfig::S3(s3) = config.blobs.place else { panic!("not s3") };
    assert_eq!((s3.prefix, s3.region, s3.endpoint), (None, None, None));
    assert!(s3.access_key.is_none() && !s3.allow_http && !s3.path_style);
}

#[test]
fn the_limits_are_those_of_the_domain_and_a_day_for_timestamps_ahead() {
    // Decision T4.
    let max_timestamp_ahead = Some(Duration::from_hours(24));
    assert_eq!(read(None, &[]).unwrap().limits, Limits { max_timestamp_ahead, ..Limits::default() });
}

#[test]
fn every_key_is_read_from_the_file() {
    for (key, allowed, _) in SAMPLES {
        let config = read(Some(&file_of(&settings(key, allowed))), &[]).unwrap();
        assert_eq!(shown(&config, key), *allowed, "{key}");
    }
}

#[test]
fn every_key_is_read_from_the_environment_which_wins_over_the_file() {
    for (key, allowed, refused) in SAMPLES {
        let file = file_of(&[(key, refused)]);
        let config = read(Some(&file), &environment_of(&settings(key, allowed))).unwrap();
        assert_eq!(shown(&config, key), *allowed, "{key}");
    }
}

#[test]
fn an_unusable_value_is_refused_with_its_key_its_layer_and_what_is_allowed() {
    for (sample, key) in SAMPLES.iter().zip(KEYS) {
        let settings = settings(sample.0, sample.2);
        let message = refusal(Some(&file_of(&settings)), &[]);
        assert!(message.starts_with(&format!("{} in ", key.name)), "{message}");
        assert!(message.contains("/test.toml line 1: "), "{message}");
        assert!(message.ends_with(&format!("; allowed is {}", key.allowed)), "{message}");

        let message = refusal(None, &environment_of(&settings));
        let variable = &environment_of(&settings)[0].0;
        assert!(message.starts_with(&format!("{} in the environment ({variable}): ", key.name)), "{message}");
        assert!(message.ends_with(&format!("; allowed is {}", key.allowed)), "{message}");
        assert_eq!(message.contains(&format!("{:?}", sample.2)), !key.secret, "{message}");
    }
}

#[test]
fn unknown_keys_and_sections_are_refused_with_their_layer_and_what_is_known() {
    let message = refusal(Some("[http]\nport = 80"), &[]);
    assert!(message.starts_with("http.port in ") && message.contains("/test.toml line 2: unknown key"), "{message}");
    assert!(
        message.ends_with(
            "section http allows bind, bind_file, base_path, workers, read_timeout, trusted_proxies, tls_certificate, \
             tls_key"
        ),
        "{message}"
    );

    let message = refusal(Some("[web]\nport = 80"), &[]);
    assert!(message.starts_with("web in ") && message.contains("/test.toml line 1: unknown section"), "{message}");
    assert!(!message.contains("meant"), "{message}");
    let bare = refusal(Some("bind = '1'"), &[]);
    assert!(bare.ends_with("; was http.bind or ops.bind meant?"), "{bare}");
    assert!(
        message.ends_with(
            "allowed are http, ops, database, blobs, limits, abuse, console, retention, history, insight, log, \
             telemetry"
        ),
        "{message}"
    );

    let message = refusal(Some("http = 80"), &environment_of(&[("http.bind", "127.0.0.1:1")]));
    assert!(message.ends_with("not a section; allowed is a table [http]"), "{message}");

    let message = refusal(None, &[("PLATEN_HTTP__PORT".to_owned(), "80".to_owned())]);
    assert!(message.starts_with("http.port in the environment (PLATEN_HTTP__PORT): unknown key"), "{message}");
    let message = refusal(None, &[("PLATEN_WEB__PORT".to_owned(), "80".to_owned())]);
    assert!(message.starts_with("web.port in the environment (PLATEN_WEB__PORT): unknown section"), "{message}");
}

#[test]
fn variables_without_two_underscores_are_the_orchestrators_own() {
    let own = ["PLATEN_PORT", "PLATEN_SERVICE_HOST", "PLATEN_PORT_8080_TCP_ADDR", "PLATEN", "OTHER_HTTP__BIND"];
    let environment: Vec<_> = own.iter().map(|name| ((*name).to_owned(), "x".to_owned())).collect();
    read(None, &environment).unwrap();
}

/// The warnings about these variables.
fn misnamed(variables: &[&str]) -> Vec<String> {
    let variables = variables.iter().map(|name| (name.into(), "x".into()));
    Layers::read(None, variables).unwrap().misnamed().iter().map(ToString::to_string).collect()
}

#[test]
fn every_key_with_one_underscore_is_reported_with_the_name_that_counts() {
    for key in KEYS {
        let (section, name) = key.name.split_once('.').unwrap();
        let [written, meant] = ["_", "__"].map(|between| format!("PLATEN_{section}{between}{name}").to_uppercase());
        let message = format!("{written} in the environment is ignored; was {meant} meant?");
        assert_eq!(misnamed(&[&written]), [message]);
    }
    for (written, meant) in [
        ("PLATEN_HTTP_BINDS", "PLATEN_HTTP__BIND"),
        ("PLATEN_DATABSE_URL", "PLATEN_DATABASE__URL"),
        ("PLATEN_http_bind", "PLATEN_HTTP__BIND"),
    ] {
        assert_eq!(misnamed(&[written]), [format!("{written} in the environment is ignored; was {meant} meant?")]);
    }
}

#[test]
fn variables_of_orchestrators_and_tests_are_not_reported() {
    let mut own: Vec<String> =
        ["PLATEN", "PLATEN_", "PLATEN_CONFIG", "PLATEN_TEST_POSTGRES", "PLATEN_VERSION", "OTHER_HTTP_BIND"]
            .map(str::to_owned)
            .to_vec();
    // Kubernetes and Docker name the addresses of each service, which may be called as a section is.
    let services = keys::sections().into_iter().map(|section| format!("PLATEN_{}", section.to_uppercase()));
    for service in services.chain(["PLATEN".to_owned()]) {
        own.extend(
            [
                "",
                "_SERVICE_HOST",
                "_SERVICE_PORT",
                "_PORT",
                "_NAME",
                "_PORT_80_TCP",
                "_PORT_80_TCP_ADDR",
                "_PORT_80_TCP_PROTO",
            ]
            .map(|end| format!("{service}{end}")),
        );
    }
    let own: Vec<&str> = own.iter().map(String::as_str).collect();
    assert_eq!(misnamed(&own), [""; 0]);
}

#[test]
fn numbers_and_switches_of_the_file_may_be_written_bare_or_as_text() {
    let bare =
        "http.workers = 3\nblobs.kind = 's3'\nblobs.bucket = 'b'\nblobs.allow_http = true\nlimits.max_json_size = 2048";
    let text = bare.replace("= 3", "= '3'").replace("= true", "= 'true'").replace("= 2048", "= '2048'");
    for file in [bare, &text] {
        let config = read(Some(file), &[]).unwrap();
        assert_eq!(shown(&config, "http.workers"), "3");
        assert_eq!(shown(&config, "blobs.allow_http"), "true");
        assert_eq!(shown(&config, "limits.max_json_size"), "2KiB");
    }
    for wrong in ["http.workers = 1.5", "http.workers = -1", "http.bind = 8080", "http.bind = ['a']", "log.level = 3"] {
        assert!(refusal(Some(wrong), &[]).contains("is not allowed"), "{wrong}");
    }
    assert!(refusal(Some("http.bind = { host = 'a' }"), &[]).contains("http.bind in "));
}

#[test]
fn an_empty_variable_takes_an_optional_value_back() {
    let file = "http.bind_file = 'a'\nlimits.max_timestamp_ahead = '1h'\nhttp.base_path = '/a'";
    let keys = ["http.bind_file", "limits.max_timestamp_ahead", "http.base_path"];
    let config = read(Some(file), &environment_of(&keys.map(|key| (key, "")))).unwrap();
    assert_eq!(shown(&config, "http.bind_file"), "none");
    assert_eq!(shown(&config, "limits.max_timestamp_ahead"), "none");
    assert_eq!(shown(&config, "http.base_path"), "");
}

#[test]
fn a_variable_that_looks_like_a_number_stays_the_text_it_is() {
    let environment = environment_of(&[
        ("blobs.kind", "s3"),
        ("blobs.bucket", "0123"),
        ("blobs.access_key_id", "007"),
        ("blobs.secret_access_key", "1e3"),
    ]);
    let config = read(None, &environment).unwrap();
    assert_eq!(shown(&config, "blobs.bucket"), "0123");
    assert_eq!(shown(&config, "blobs.access_key_id"), "007");
    assert_eq!(shown(&config, "blobs.secret_access_key"), "1e3");
}

#[test]
fn s3_needs_a_bucket_and_both_halves_of_a_key() {
    let message = refusal(Some("blobs.kind = 's3'"), &[]);
    assert!(message.starts_with("blobs.bucket is not set; allowed is "), "{message}");
    let message = refusal(Some("blobs.access_key_id = 'a'"), &[]);
    assert!(message.starts_with("blobs.secret_access_key is not set; "), "{message}");
    let message = refusal(Some("blobs.secret_access_key = 'a'"), &[]);
    assert!(message.starts_with("blobs.access_key_id is not set; "), "{message}");
}

#[test]
fn an_endpoint_that_is_an_address_needs_the_bucket_in_the_path() {
    for endpoint in ["http://127.0.0.1:9000", "https://[::1]:9000"] {
        let file = format!("blobs = {{ kind = 's3', bucket = 'b', allow_http = true, endpoint = '{endpoint}' }}");
        assert!(refusal(Some(&file), &[]).starts_with("blobs.path_style is false"), "{endpoint}");
        read(Some(&file), &environment_of(&[("blobs.path_style", "true")])).unwrap();
        read(Some(&file), &environment_of(&[("blobs.kind", "local")])).unwrap();
    }
    for endpoint in ["http://", "ftp://minio", "http://mi nio", "minio"] {
        assert_eq!(values::http_url(&Value::text(endpoint)), None, "{endpoint}");
    }
}

#[test]
fn a_url_of_a_server_holds_no_secret_and_is_not_repeated_where_it_does() {
    for endpoint in ["http://me:hunter2@host", "http://hunter2@host", "http://host/?k=hunter2", "http://host#hunter2"] {
        for key in ["blobs.endpoint", "telemetry.otlp_endpoint"] {
            let message = refusal(Some(&format!("{key} = '{endpoint}'")), &[]);
            assert!(message.contains(key) && message.contains("is not allowed"), "{message}");
            assert!(!message.contains("hunter2"), "{message}");
        }
    }
}

#[test]
fn an_endpoint_without_tls_must_be_allowed() {
    let file = "blobs = { kind = 's3', bucket = 'b', endpoint = 'http://minio:9000' }";
    let message = refusal(Some(file), &[]);
    assert!(message.starts_with("blobs.allow_http is false; ") && message.ends_with("allowed is true"), "{message}");
    read(Some(file), &environment_of(&[("blobs.allow_http", "true")])).unwrap();
    read(Some(&file.replace("http:", "https:")), &[]).unwrap();
}

#[test]
fn secrets_show_neither_in_debug_nor_in_errors() {
    let secrets: Vec<_> = SAMPLES.iter().filter(|(key, ..)| keys::named(key).unwrap().secret).collect();
    assert_eq!(secrets.len(), 3);
    let given: Vec<(&str, &str)> = secrets.iter().map(|(key, allowed, _)| (*key, *allowed)).collect();
    let s3 = [("blobs.kind", "s3"), ("blobs.bucket", "b")];
    let config = read(Some(&file_of(&[&given[..], &s3[..]].concat())), &[]).unwrap();
    let debug = format!("{config:?}");
    assert!(debug.contains("REDACTED"), "{debug}");
    assert!(!debug.to_lowercase().contains("hunter2"), "{debug}");
    assert!(!refusal(Some("database.url = 'mysql://u:hunter2@db'"), &[]).contains("hunter2"));
    assert!(!refusal(Some("[blobs]\nsecret_access_key = hunter2\n"), &[]).contains("hunter2"));
}

#[test]
fn a_file_that_is_missing_or_not_toml_is_named() {
    let message = format!("{:#}", Layers::read(Some(Path::new("no/such.toml")), std::iter::empty()).err().unwrap());
    assert!(message.starts_with("cannot read the configuration no/such.toml: "), "{message}");
    let message = refusal(Some("[http]\nbind = '127.0.0.1:1'\nworkers 3\n"), &[]);
    assert!(message.contains("/test.toml is not valid TOML: line 3: "), "{message}");
}
