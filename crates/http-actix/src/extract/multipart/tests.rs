//! How bodies of any kind and cut are read.

use super::*;
use actix_web::rt::System;
use proptest::prelude::*;

const BOUNDARY: &str = "bound";

/// A body of these chunks, all there already.
fn body_of(chunks: impl IntoIterator<Item = Chunk>) -> mpsc::Receiver<Chunk> {
    let chunks: Vec<_> = chunks.into_iter().collect();
    let (sender, receiver) = mpsc::channel(chunks.len().max(1));
    for chunk in chunks {
        sender.try_send(chunk).expect("there is room for all");
    }
    receiver
}

fn chunks(body: &[u8], size: usize) -> impl Iterator<Item = Result<Bytes, BodyError>> {
    body.chunks(size).map(|chunk| Ok(Bytes::copy_from_slice(chunk)))
}

/// Every part of the body with its content.
fn read(body: mpsc::Receiver<Chunk>) -> Result<Vec<(PartHead, Vec<u8>)>, BodyError> {
    System::new().block_on(async move {
        let mut source = MultipartParts::new(body, BOUNDARY);
        let mut parts = Vec::new();
        while let Some(head) = source.next_part().await? {
            let mut content = Vec::new();
            while let Some(bytes) = source.chunk().await? {
                content.extend_from_slice(&bytes);
            }
            parts.push((head, content));
        }
        Ok(parts)
    })
}

fn read_text(body: &str) -> Result<Vec<(PartHead, Vec<u8>)>, BodyError> {
    read(body_of(chunks(body.as_bytes(), body.len().max(1))))
}

fn form(parts: &[(String, Vec<u8>)]) -> Vec<u8> {
    let mut body = Vec::new();
    for (head, content) in parts {
        body.extend_from_slice(format!("--{BOUNDARY}\r\n{head}\r\n\r\n").as_bytes());
        body.extend_from_slice(content);
        body.extend_from_slice(b"\r\n");
    }
    body.extend_from_slice(format!("--{BOUNDARY}--").as_bytes());
    body
}

/// Contents that look like boundaries, or nearly.
fn any_content() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![&b"\r\n"[..], b"\r", b"\n--", b"\r\n--", b"\r\n--boun", b"--bound", b"-"])
            .prop_map(<[u8]>::to_vec),
    ];
    let content = prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat());
    content.prop_filter("a boundary", |content| {
        // Decision T12: nor does a content begin with the delimiter.
        !content.starts_with(b"--bound") && !content.windows(9).any(|window| window == b"\r\n--bound")
    })
}

proptest! {
    #[test]
    fn the_cutting_of_a_body_changes_nothing(
        contents in prop::collection::vec(any_content(), 0..5),
        size in 1_usize..60,
        after in any::<bool>(),
    ) {
        let head = |place: usize| format!("Content-Disposition: form-data; name=\"part {place}\"");
        let parts: Vec<_> = contents.iter().enumerate().map(|(place, content)| (head(place), content.clone())).collect();
        let mut body = form(&parts);
        if after {
            body.extend_from_slice(b"\r\nepilogue");
        }
        let found = read(body_of(chunks(&body, size))).unwrap();
        let found: Vec<_> = found.into_iter().map(|(head, content)| (head.name, content)).collect();
        let expected: Vec<_> =
            contents.into_iter().enumerate().map(|(place, content)| (Some(format!("part {place}")), content)).collect();
        prop_assert_eq!(found, expected);
    }

    #[test]
    fn a_body_that_breaks_off_is_malformed(content in any_content(), size in 1_usize..60, cut in 1_usize..1000) {
        let body = form(&[("Content-Type: text/plain".to_owned(), content)]);
        // Without its last byte the closing boundary isn't one.
        let cut = body.len() - 1 - cut % body.len();
        prop_assert!(matches!(read(body_of(chunks(&body[..cut], size))), Err(BodyError::Malformed(_))));
    }

    #[test]
    fn arbitrary_bytes_never_panic_or_hang(
        body in prop::collection::vec(prop_oneof![any::<u8>(), prop::sample::select(b"\r\n-bound:;=\"".to_vec())], 0..300),
        size in 1_usize..60,
    ) {
        let _ = read(body_of(chunks(&body, size)));
        let begun = [b"--bound\r\n".to_vec(), body].concat();
        let _ = read(body_of(chunks(&begun, size)));
    }
}

/// So that one that is too large as well is answered the same however it arrives.
#[test]
fn a_body_that_breaks_off_is_handed_on_up_to_there() {
    let body = [b"--bound\r\nContent-Type: text/plain\r\n\r\n".as_slice(), &[b'x'; 100], b"\r\n--bou"].concat();
    for size in [1, 7, 60, body.len()] {
        let body = body_of(chunks(&body, size));
        let handed_on = System::new().block_on(async move {
            let mut source = MultipartParts::new(body, BOUNDARY);
            source.next_part().await.unwrap();
            let mut length = 0;
            loop {
                match source.chunk().await {
                    Ok(Some(bytes)) => length += bytes.len(),
                    Ok(None) => panic!("the part is whole"),
                    Err(error) => return (length, error),
                }
            }
        });
        assert!(matches!(handed_on, (100, BodyError::Malformed(_))), "{size}: {handed_on:?}");
    }
}

#[test]
fn what_a_part_says_of_itself_is_read_leniently() {
    // Decisions T11, C1.
    let head = |lines: &str| read_text(&format!("--bound\r\n{lines}\r\n\r\nx\r\n--bound--")).unwrap().remove(0).0;
    let part = |name: Option<&str>, file_name: Option<&str>, content_type: Option<&str>| PartHead {
        name: name.map(str::to_owned),
        file_name: file_name.map(str::to_owned),
        content_type: content_type.map(str::to_owned),
    };
    let expected = [
        ("CONTENT-DISPOSITION: Form-Data; NAME=JsonString", part(Some("JsonString"), None, None)),
        ("Content-Type: Text/Plain; charset=x", part(None, None, Some("text/plain"))),
        ("Content-Type: not a type", part(None, None, Some("not a type"))),
        ("Content-Disposition: form-data; name=\"\"", part(Some(""), None, None)),
        (
            "Content-Disposition: form-data; name=\"a\"; filename=\"plain\"; filename*=utf-8''%E2%82%AC%20x",
            part(Some("a"), Some("€ x"), None),
        ),
        (
            "Content-Disposition: form-data; filename=\"x; name=no\"; name=\"yes\"",
            part(Some("yes"), Some("x; name=no"), None),
        ),
        ("X-Other: 1", part(None, None, None)),
    ];
    for (lines, part) in expected {
        assert_eq!(head(lines), part, "{lines}");
    }
}

#[test]
fn a_name_that_is_not_utf8_is_read_as_latin1() {
    let body = b"--bound\r\nContent-Disposition: form-data; name=\"Gr\xf6\xdfe\"\r\n\r\nx\r\n--bound--";
    let parts = read(body_of(chunks(body, 1000))).unwrap();
    assert_eq!(parts[0].0.name.as_deref(), Some("Größe"));
}

#[test]
fn a_form_may_have_no_part_and_text_around() {
    // Decision T12.
    for body in ["--bound--", "preamble\r\n--bound--\r\nepilogue", "--bound\r\n\r\n--bound--\r\n"] {
        assert_eq!(read_text(body), Ok(Vec::new()), "{body:?}");
    }
    assert_eq!(read_text("--bound \t\r\nA: b\r\n\r\nx\r\n--bound--").map(|parts| parts.len()), Ok(1));
}

#[test]
fn what_stands_before_a_content_is_bounded() {
    let head = |length: usize| format!("--bound\r\nX: {}\r\n\r\nx\r\n--bound--", "y".repeat(length));
    assert!(read_text(&head(60_000)).is_ok());
    for body in [head(80_000), "y".repeat(80_000)] {
        let chunks = chunks(body.as_bytes(), 64 * 1024);
        let Err(BodyError::Malformed(detail)) = read(body_of(chunks)) else {
            panic!("accepted");
        };
        assert_eq!(detail, "more than 65536 bytes stand before the content of a part");
    }
}

#[test]
fn parts_are_counted() {
    let parts = |count: usize| form(&vec![("A: b".to_owned(), b"x".to_vec()); count]);
    assert_eq!(read(body_of(chunks(&parts(1000), 5000))).map(|parts| parts.len()), Ok(1000));
    let many = read(body_of(chunks(&parts(1001), 5000)));
    assert_eq!(many, Err(BodyError::TooLarge("the body has more than 1000 parts".to_owned())));
}

#[test]
fn a_part_without_headers_is_malformed() {
    // Decisions T12, R11.
    let error = read_text("--bound\r\n\r\nx\r\n--bound\r\nA: b\r\n\r\ny\r\n--bound--");
    assert_eq!(error, Err(malformed("part 1 can't be read: it has no headers")));
    let error = read_text("--bound\r\nA: b\r\n\r\ny\r\n--bound\r\n\r\nx\r\n--bound--");
    assert_eq!(error, Err(malformed("part 2 can't be read: it has no headers")));
}

#[test]
fn what_the_body_ends_with_is_passed_on() {
    let failure = BodyError::TimedOut("nothing came".to_owned());
    let begun = b"--bound\r\nA: b\r\n\r\nx";
    for start in [&b""[..], b"--bou", begun] {
        let chunks = [Ok(Bytes::copy_from_slice(start)), Err(failure.clone())];
        assert_eq!(read(body_of(chunks)), Err(failure.clone()));
    }
}

#[test]
fn a_part_that_is_not_read_is_skipped() {
    let body = form(&[("A: b".to_owned(), vec![b'x'; 200_000]), ("C: d".to_owned(), b"y".to_vec())]);
    System::new().block_on(async {
        let mut source = MultipartParts::new(body_of(chunks(&body, 10_000)), BOUNDARY);
        for _ in 0..2 {
            assert!(source.next_part().await.unwrap().is_some());
        }
        assert_eq!(source.chunk().await.unwrap().as_deref(), Some(&b"y"[..]));
        assert_eq!(source.next_part().await, Ok(None));
        assert_eq!(source.next_part().await, Ok(None));
    });
}

fn malformed(detail: &str) -> BodyError {
    BodyError::Malformed(detail.to_owned())
}

#[test]
fn a_delimiter_right_after_a_head_is_no_content() {
    // Decision T12: an empty part needs a line break of its own.
    let problem = malformed("part 1 can't be read: no line break stands between its head and the next delimiter");
    for rest in ["--bound--", "--bound\r\nC: d\r\n\r\nx\r\n--bound--"] {
        let body = format!("--bound\r\nA: b\r\n\r\n{rest}");
        for size in [1, 7, 1000] {
            assert_eq!(read(body_of(chunks(body.as_bytes(), size))), Err(problem.clone()), "{body:?}");
        }
    }
    let last = read_text("--bound\r\nA: b\r\n\r\nx\r\n--bound\r\nC: d\r\n\r\n--bound--").unwrap_err();
    assert!(last.to_string().starts_with("part 2 can't be read"), "{last}");
    let empty = read_text("--bound\r\nA: b\r\n\r\n\r\n--bound--").unwrap();
    assert_eq!(empty, [(PartHead::default(), Vec::new())]);
}

#[test]
fn what_is_wrong_with_a_head_is_said() {
    // Decisions T12, R11.
    let many = "X: y\r\n".repeat(33);
    let expected = [
        ("A: b\r\n c", "part 1 can't be read: one of its headers is folded over several lines"),
        ("A: b\r\n\tc: d", "part 1 can't be read: one of its headers is folded over several lines"),
        (many.trim_end(), "part 1 can't be read: it has more than 32 headers"),
        ("no colon", "part 1 can't be read: one of its headers has no colon"),
        ("Content-Transfer-Encoding: BASE64", "part 1 has the Content-Transfer-Encoding base64, which isn't decoded"),
    ];
    for (head, detail) in expected {
        let error = read_text(&format!("--bound\r\n{head}\r\n\r\nx\r\n--bound--"));
        assert_eq!(error, Err(malformed(detail)), "{head:?}");
    }
    // Decision T12: the head has to end before the next delimiter.
    for rest in ["--bound--", "--bound\r\nC: d\r\n\r\nx\r\n--bound--", "--bound\r\nC: d\r\n--bound--", "--bound"] {
        let body = format!("--bound\r\nA: b\r\n\r\nx\r\n--bound\r\nA: b\r\n{rest}");
        for size in [1, 7, 1000] {
            let problem = "part 2 can't be read: no empty line stands between its head and the next delimiter";
            assert_eq!(read(body_of(chunks(body.as_bytes(), size))), Err(malformed(problem)), "{body:?}");
        }
    }
    let longer = read_text("--bound\r\nA: b\r\n\r\nx\r\n--boundary\r\nA: b\r\n\r\ny\r\n--bound--");
    assert_eq!(longer, Err(malformed("part 2 can't be read: other text follows the delimiter in its line")));
    let unix = read_text("--bound\nA: b\n\nx\n--bound--\n");
    assert_eq!(unix, Err(malformed("part 1 can't be read: its lines don't end with CR LF")));
    for encoding in ["7bit", "8BIT", "binary"] {
        let body = format!("--bound\r\nContent-Transfer-Encoding: {encoding}\r\n\r\nx\r\n--bound--");
        assert!(read_text(&body).is_ok(), "{encoding}");
    }
}

#[test]
fn a_control_character_in_a_file_name_loses_nothing() {
    // Decision T12: ISO-2022-JP as it is, and what else no header can hold.
    let body = b"--bound\r\nContent-Disposition: form-data; name=\"dump\"; filename=\"\x1b$B%@\x1b(B\x00\x7f.dmp\"\r\n\r\n\x1b\x00\r\n--bound--";
    for size in [1, 7, 1000] {
        let parts = read(body_of(chunks(body, size))).unwrap();
        assert_eq!(parts[0].0.file_name.as_deref(), Some("?$B%@?(B??.dmp"));
        assert_eq!(parts[0].1, b"\x1b\0", "the content stays as it is");
    }
}
