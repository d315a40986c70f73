//! The requests of the interface, as bytes.

use crate::http::Outgoing;
use serde_json::{Value, json};
use sha1::{Digest, Sha1};
use std::io::Write as _;
use std::sync::Arc;

pub(crate) const MIS_KEY: &str = "bench-key-0123456789abcdef";
pub(crate) const SERIAL: &str = "SN-1000";
pub(crate) const COMPUTER: &str = "6f9619ff-8b86-d011-b42d-00c04fc964ff";
pub(crate) const QUEUE: &str = "5b3f3a0e-64a5-4b39-9d6e-7d7f3b1c2d10";

pub(crate) const LOG_ADDED: &str = "\"Log successfully added\"";
pub(crate) const STATUS_UPDATED: &str = "\"Device status successfully updated\"";
pub(crate) const RESOURCE_ADDED: &str = "\"Resource successfully added\"";

const BOUNDARY: &str = "----bench-7d81b2c4a9e0";

/// GUIDs of resources; SQL makes the same from a number.
pub(crate) const RESOURCE_PREFIX: &str = "00000000-0000-4000-8000-";

/// GUIDs of devices.
pub(crate) const DEVICE_PREFIX: &str = "00000000-0000-4000-9000-";

pub(crate) fn resource(number: u64) -> String {
    format!("{RESOURCE_PREFIX}{number:012x}")
}

pub(crate) fn device(number: u64) -> String {
    format!("{DEVICE_PREFIX}{number:012x}")
}

/// Writes request line and headers, with further headers each ended by a line break.
fn head(out: &mut Vec<u8>, method: &str, path: &str, further: &str) {
    let written = write!(
        out,
        "{method} /api/v2/{path} HTTP/1.1\r\nHost: localhost\r\nMisKey: {MIS_KEY}\r\nSerialNumber: {SERIAL}\r\n\
         ApplicationVersion: 12.1.0\r\n{further}\r\n"
    );
    debug_assert!(written.is_ok(), "memory takes all");
}

fn json_request(out: &mut Vec<u8>, path: &str, body: &str) {
    head(out, "POST", path, &format!("Content-Type: application/json\r\nContent-Length: {}\r\n", body.len()));
    out.extend_from_slice(body.as_bytes());
}

pub(crate) fn ready() -> Outgoing {
    Outgoing { head: b"GET /health/ready HTTP/1.1\r\nHost: localhost\r\n\r\n".to_vec(), ..Outgoing::default() }
}

/// A page of the console, with a token.
pub(crate) fn console(out: &mut Vec<u8>, path: &str, token: &str) {
    let head = format!("GET /console{path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n");
    out.extend_from_slice(head.as_bytes());
}

/// A GET without credentials, as nginx and S3 take it.
pub(crate) fn plain_get(out: &mut Vec<u8>, path: &str) {
    out.extend_from_slice(format!("GET /{path} HTTP/1.1\r\nHost: localhost\r\n\r\n").as_bytes());
}

/// A PUT without credentials of a block, as S3 takes it.
pub(crate) fn plain_put(out: &mut Outgoing, path: &str, block: &Arc<Vec<u8>>) {
    let head = format!("PUT /{path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: {}\r\n\r\n", block.len());
    out.head.extend_from_slice(head.as_bytes());
    out.block = Some((Arc::clone(block), 1));
}

/// A log entry of ordinary size about one of the devices.
pub(crate) fn add_log(out: &mut Vec<u8>, number: u64) {
    let body = json!({
        "ComputerGUID": COMPUTER,
        "Type": "log",
        "Description": format!("Job {number} was ripped in 12.4 s: 4 pages, 1440 x 720 dpi, 6 inks, 3.2 square metres"),
        "RipVersion": "12.1.0",
        "DeviceGUID": device(number % crate::platen::DEVICES + 1),
        "JobName": "Poster Summer Sale",
    });
    json_request(out, "log", &body.to_string());
}

/// A device status of ordinary size.
pub(crate) fn update_status(out: &mut Vec<u8>, number: u64) {
    let ink = |index: u64, name: &str| json!({ "InkIndex": index, "InkName": name, "Level": 412.5, "MaxLevel": 775 });
    let body = json!({
        "DeviceGUID": device(number),
        "Status": "Printing",
        "Message": "Job 17 of 23",
        "Temperature": 41.5,
        "ConnectionState": "Online",
        "ConnectionMessage": "answered in 3 ms",
        "RemainingInks": [ink(0, "Cyan"), ink(1, "Magenta"), ink(2, "Yellow"), ink(3, "Black")],
        "QueueLength": { "Length": 12.5 },
    });
    json_request(out, "device/status", &body.to_string());
}

/// A crash report with a call stack.
pub(crate) fn add_crash_report(out: &mut Vec<u8>, number: u64) {
    let stack = format!("RIP!Spooler::render+0x{number:x}\r\nRIP!main+0x10\r\n");
    let body = format!(
        "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"CallStack\"\r\nContent-Type: text/plain\r\n\r\n{stack}\r\n\
         --{BOUNDARY}--\r\n"
    );
    let further = format!(
        "ApplicationName: RIP\r\nOS: 1\r\nContent-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {}\r\n",
        body.len()
    );
    head(out, "POST", "log/crashreport", &further);
    out.extend_from_slice(body.as_bytes());
}

pub(crate) fn info(out: &mut Vec<u8>, guid: &str) {
    head(out, "GET", &format!("resource/info/{guid}"), "");
}

pub(crate) fn file(out: &mut Vec<u8>, guid: &str) {
    head(out, "GET", &format!("resource/{guid}"), "");
}

pub(crate) fn list(out: &mut Vec<u8>, resource_type: &str) {
    json_request(out, "resource/list", &json!({ "ResourceTypes": [resource_type] }).to_string());
}

pub(crate) fn pmm(out: &mut Vec<u8>, number: u64) {
    let body = json!({
        "ProfileGroup": format!("Group {number}"), "Media": format!("Media {number}"), "Mode": format!("Mode {number}")
    });
    json_request(out, "resource/pmminfo", &body.to_string());
}

/// A resource whose content is one block so many times.
pub(crate) struct Resource {
    pub(crate) guid: String,
    /// ResourceType.
    pub(crate) kind: &'static str,
    pub(crate) meta: Value,
    pub(crate) block: Arc<Vec<u8>>,
    pub(crate) times: usize,
    pub(crate) checksum: String,
}

impl Resource {
    pub(crate) fn new(guid: String, block: &Arc<Vec<u8>>, times: usize) -> Self {
        Self {
            guid,
            kind: "Template",
            meta: json!({ "Name": "Measured" }),
            block: Arc::clone(block),
            times,
            checksum: checksum(block, times),
        }
    }

    /// Bytes of the content.
    pub(crate) fn size(&self) -> u64 {
        (self.block.len() * self.times) as u64
    }

    /// Without a Timestamp: now is assumed, so each repeat is newer.
    pub(crate) fn upload(&self) -> Outgoing {
        let mut out = Outgoing::default();
        self.write_upload(&self.guid, &mut out);
        out
    }

    /// The upload of the same content under another GUID.
    pub(crate) fn write_upload(&self, guid: &str, out: &mut Outgoing) {
        let json = json!({
            "ResourceGUID": guid, "ResourceChecksum": self.checksum, "ResourceType": self.kind, "Meta": self.meta
        });
        let before = format!(
            "--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"JsonString\"\r\nContent-Type: application/json\r\n\r\n\
             {json}\r\n--{BOUNDARY}\r\nContent-Disposition: form-data; name=\"file\"; filename=\"file.bin\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        );
        let after = format!("\r\n--{BOUNDARY}--\r\n");
        let length = (before.len() + after.len()) as u64 + self.size();
        let further = format!("Content-Type: multipart/form-data; boundary={BOUNDARY}\r\nContent-Length: {length}\r\n");
        head(&mut out.head, "POST", "resource", &further);
        out.head.extend_from_slice(before.as_bytes());
        out.block = Some((Arc::clone(&self.block), self.times));
        out.tail.extend_from_slice(after.as_bytes());
    }
}

/// SHA-1 of the block so many times, upper case.
pub(crate) fn checksum(block: &[u8], times: usize) -> String {
    let mut hash = Sha1::new();
    for _ in 0..times {
        hash.update(block);
    }
    hex::encode_upper(hash.finalize())
}

/// Bytes that no compression and no sparse file makes smaller.
pub(crate) fn block(size: usize) -> Arc<Vec<u8>> {
    // A linear congruential generator; its high bits are random enough for this.
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        state.to_be_bytes()[0]
    };
    Arc::new((0..size).map(|_| next()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_upload_announces_its_length() {
        let upload = Resource::new(resource(1), &block(100), 3).upload();
        let head = String::from_utf8_lossy(&upload.head).into_owned();
        let (headers, part) = head.split_once("\r\n\r\n").unwrap();
        let announced = headers.lines().find_map(|line| line.strip_prefix("Content-Length: ")).unwrap();
        assert_eq!(announced.parse::<usize>().unwrap(), part.len() + 300 + upload.tail.len());
    }

    #[test]
    fn the_checksum_is_that_of_the_repeated_block() {
        assert_eq!(checksum(b"ab", 2), checksum(b"abab", 1));
        assert_eq!(checksum(b"abc", 1), "A9993E364706816ABA3E25717850C26C9CD0D89D");
    }
}
