//! Bodies of forms, written by hand.

/// The content type of [`of`].
pub(crate) const CONTENT_TYPE: &str = "multipart/form-data; boundary=b";

/// A part: its name, its content type, its content.
pub(crate) type Part<'a> = (&'a str, &'a str, &'a [u8]);

/// A body of these parts.
pub(crate) fn of(parts: &[Part<'_>]) -> Vec<u8> {
    let mut body = Vec::new();
    for (name, kind, content) in parts {
        let head = format!("--b\r\nContent-Disposition: form-data; name=\"{name}\"\r\nContent-Type: {kind}\r\n\r\n");
        body.extend_from_slice(&[head.as_bytes(), content, b"\r\n"].concat());
    }
    body.extend_from_slice(b"--b--\r\n");
    body
}
