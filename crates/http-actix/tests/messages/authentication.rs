//! Authentication (interface part 5, decisions A2–A5, A7, A8).

use super::support::bodies::{call_stack, crash_request};
use super::support::{Reply, Request, Server};
use domain::testing::{ACME_HASH, ACME_SERIAL, ANN_KEY, ZENITH_HASH, ZENITH_SERIAL, ZOE_KEY};

const REQUIRED: &str = "“MisKey” or “HardwareHash”, “SerialNumber” and “ApplicationVersion” header are required";

/// Sends a request with these authentication headers only.
fn ask(server: &Server, headers: &[(&str, &str)]) -> Reply {
    server.send(with(Request::get("/api/v2"), headers))
}

fn report(server: &Server, headers: &[(&str, &str)]) -> Reply {
    let mut request = crash_request(&[call_stack()]);
    request = request.without("MisKey").without("SerialNumber").without("ApplicationVersion");
    server.send(headers.iter().fold(request, |request, (name, value)| request.also(name, value)))
}

fn with(request: Request, headers: &[(&str, &str)]) -> Request {
    headers.iter().fold(request.anonymous(), |request, (name, value)| request.also(name, value))
}

const SERIAL: (&str, &str) = ("SerialNumber", "SN-7");
const VERSION: (&str, &str) = ("ApplicationVersion", "9.1");
const KEY: (&str, &str) = ("MisKey", ANN_KEY);
const HASH: (&str, &str) = ("HardwareHash", ACME_HASH);
const HASH_SERIAL: (&str, &str) = ("SerialNumber", ACME_SERIAL);

#[test]
fn missing_and_empty_headers_are_one_message_on_every_operation() {
    // Decision A2.
    let server = Server::start();
    for headers in [&[][..], &[KEY, SERIAL], &[KEY, VERSION], &[SERIAL, VERSION], &[("MisKey", " "), SERIAL, VERSION]] {
        ask(&server, headers).assert_error(401, REQUIRED);
    }
    let operations = [
        ("POST", "/api/v2/resource"),
        ("GET", "/api/v2/resource/x"),
        ("DELETE", "/api/v2/resource/x"),
        ("DELETE", "/api/v2/resource"),
        ("POST", "/api/v2/resource/list"),
        ("GET", "/api/v2/resource/info/x"),
        ("POST", "/api/v2/resource/pmminfo"),
        ("POST", "/api/v2/log"),
        ("POST", "/api/v2/log/list"),
        ("POST", "/api/v2/device/status"),
    ];
    for (method, path) in operations {
        // Decision R1: before the format of the body is looked at.
        let reply = server.send(Request::new(method, path).anonymous().header("Content-Type", "image/png"));
        reply.assert_error(401, REQUIRED);
        assert_eq!(reply.detail(), "missing or empty: MisKey or HardwareHash, SerialNumber, ApplicationVersion");
    }
}

#[test]
fn missing_headers_come_before_invalid_ones() {
    // Decision A2.
    let server = Server::start();
    ask(&server, &[("MisKey", "wrong-key-0123456789"), SERIAL]).assert_error(401, REQUIRED);
}

#[test]
fn invalid_credentials_are_named() {
    // Decision A3.
    let server = Server::start();
    let wrong_key = ("MisKey", "wrong-key-0123456789");
    let reply = ask(&server, &[wrong_key, SERIAL, VERSION]);
    reply.assert_error(401, "Invalid MisKey");
    assert!(!reply.detail().contains("wrong-key"), "never a credential");
    ask(&server, &[("HardwareHash", "HH-9"), HASH_SERIAL, VERSION]).assert_error(401, "Invalid HardwareHash");
    ask(&server, &[HASH, ("SerialNumber", ZENITH_SERIAL), VERSION]).assert_error(401, "Invalid HardwareHash");
    ask(&server, &[HASH, HASH_SERIAL, VERSION]).assert_success("Server is running");
}

#[test]
fn both_credentials_must_be_valid_and_of_one_organization() {
    // Decision A4.
    let server = Server::start();
    ask(&server, &[KEY, HASH, HASH_SERIAL, VERSION]).assert_success("Server is running");
    let foreign = [KEY, ("HardwareHash", ZENITH_HASH), ("SerialNumber", ZENITH_SERIAL), VERSION];
    ask(&server, &foreign).assert_error(401, "Invalid HardwareHash");
    let both_wrong = [("MisKey", "wrong-key-0123456789"), ("HardwareHash", "HH-9"), SERIAL, VERSION];
    ask(&server, &both_wrong).assert_error(401, "Invalid MisKey");
    ask(&server, &[("MisKey", ZOE_KEY), HASH, HASH_SERIAL, VERSION]).assert_error(401, "Invalid HardwareHash");
}

#[test]
fn a_serial_number_has_no_case_and_a_version_no_limit() {
    // Decision A7.
    let server = Server::start();
    let version = "v".repeat(5000);
    let headers = [HASH, ("SerialNumber", "sn-1000"), ("ApplicationVersion", version.as_str()), VERSION];
    ask(&server, &headers).assert_success("Server is running");
}

#[test]
fn header_names_have_no_case_and_no_aliases() {
    // Decisions R14, A8.
    let server = Server::start();
    let headers = [("MISKEY", ANN_KEY), ("serialnumber", "SN-7"), ("applicationversion", "9.1")];
    ask(&server, &headers).assert_success("Server is running");
    ask(&server, &[("Mis_Key", ANN_KEY), ("Mis-Key", ANN_KEY), SERIAL, VERSION]).assert_error(401, REQUIRED);
}

#[test]
fn a_repeated_header_counts_once_if_its_values_are_one() {
    // Decision A8.
    let server = Server::start();
    let joined = format!(" {ANN_KEY} , {ANN_KEY}");
    ask(&server, &[KEY, KEY, SERIAL, VERSION]).assert_success("Server is running");
    ask(&server, &[("MisKey", &joined), SERIAL, VERSION]).assert_success("Server is running");
    ask(&server, &[KEY, ("MisKey", ZOE_KEY), SERIAL, VERSION]).assert_error(401, "Invalid MisKey");
    ask(&server, &[HASH, ("HardwareHash", "x"), HASH_SERIAL, VERSION]).assert_error(401, "Invalid HardwareHash");
    ask(&server, &[HASH, HASH_SERIAL, SERIAL, VERSION]).assert_error(401, "Invalid HardwareHash");
    ask(&server, &[KEY, SERIAL, ("SerialNumber", "SN-8"), VERSION]).assert_success("Server is running");
}

#[test]
fn a_crash_report_names_each_missing_header() {
    // Decision A5, interface part 7.
    let server = Server::start();
    report(&server, &[SERIAL, VERSION]).assert_error(401, "“HardwareHash” header required");
    report(&server, &[]).assert_error(401, "“HardwareHash” header required");
    report(&server, &[HASH, VERSION]).assert_error(401, "“SerialNumber” header required");
    report(&server, &[HASH, HASH_SERIAL]).assert_error(401, "“ApplicationVersion” header required");
    let wrong = [("HardwareHash", "HH-9"), HASH_SERIAL, VERSION];
    report(&server, &wrong).assert_error(401, "“HardwareHash” header is invalid");
    report(&server, &[HASH, SERIAL, VERSION]).assert_error(401, "“HardwareHash” header is invalid");
    report(&server, &[HASH, HASH_SERIAL, VERSION]).assert_success("Crash report successfully added");
}

#[test]
fn a_valid_key_stands_in_for_the_hash_of_a_crash_report() {
    // Decision A5.
    let server = Server::start();
    let wrong_key = ("MisKey", "wrong-key-0123456789");
    report(&server, &[KEY, SERIAL, VERSION]).assert_success("Crash report successfully added");
    report(&server, &[wrong_key, SERIAL, VERSION]).assert_error(401, "“HardwareHash” header required");
    report(&server, &[wrong_key, HASH, HASH_SERIAL, VERSION]).assert_success("Crash report successfully added");
    let foreign = [("MisKey", ZOE_KEY), HASH, HASH_SERIAL, VERSION];
    report(&server, &foreign).assert_error(401, "“HardwareHash” header is invalid");
}
