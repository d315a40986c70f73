//! Decision I4: reports of the same fault have the same signature, others have others. The texts in `call_stacks/` were
//! written for this project. A line `=== NAME => SIGNATURE` begins a text; texts of one file with the same name are the
//! same fault with other addresses, paths, lines and messages.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use domain::call_stack::{decode, parse};
use domain::crash_signature::{Basis, FrameRole, MAX_SIGNATURE, Signature, sign};
use encoding_rs::WINDOWS_1252;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

struct Sample {
    file: String,
    fault: String,
    expected: String,
    text: String,
}

fn samples() -> Vec<Sample> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/call_stacks");
    let mut samples = Vec::new();
    let mut paths: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    for path in paths {
        let file = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let mut expected = BTreeMap::new();
        for section in fs::read_to_string(&path).unwrap().split("=== ").skip(1) {
            let (head, text) = section.split_once('\n').unwrap();
            let (fault, signature) = head.split_once(" => ").unwrap_or((head, ""));
            if !signature.is_empty() {
                assert!(expected.insert(fault.to_owned(), signature.to_owned()).is_none(), "{file}: {fault} twice");
            }
            let expected = expected[fault].clone();
            samples.push(Sample { file: file.clone(), fault: fault.to_owned(), expected, text: text.to_owned() });
        }
    }
    samples
}

fn signature(text: &str) -> Signature {
    sign(&parse(text), None)
}

#[test]
fn the_same_fault_has_the_same_signature_in_every_encoding() {
    let samples = samples();
    assert!(samples.len() >= 40, "{}", samples.len());
    let mut wrong = Vec::new();
    for Sample { file, fault, expected, text } in samples {
        let windows = text.replace('\n', "\r\n");
        let utf16 = |bytes: fn(u16) -> [u8; 2], mark: [u8; 2]| -> Vec<u8> {
            mark.into_iter().chain(windows.encode_utf16().flat_map(bytes)).collect()
        };
        let mut forms = vec![
            text.as_bytes().to_vec(),
            [b"\xEF\xBB\xBF", windows.as_bytes()].concat(),
            utf16(u16::to_le_bytes, [0xFF, 0xFE]),
            utf16(u16::to_be_bytes, [0xFE, 0xFF]),
        ];
        let (western, _, is_other) = WINDOWS_1252.encode(&text);
        forms.extend((!is_other).then(|| western.into_owned()));
        for form in forms {
            let signature = signature(&decode(&form));
            if signature.text != expected {
                wrong.push(format!("{file}: {fault}: {} instead of {expected}", signature.text));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn different_faults_of_one_form_have_different_signatures() {
    let mut seen: BTreeMap<(String, String), String> = BTreeMap::new();
    for Sample { file, fault, text, .. } in samples() {
        let signature = signature(&text).text;
        let first = seen.entry((file.clone(), signature)).or_insert_with(|| fault.clone());
        assert_eq!(*first, fault, "{file}");
    }
}

#[test]
fn addresses_lines_paths_and_thread_ids_make_no_difference() {
    for Sample { file, fault, text, .. } in samples() {
        let moved = text.replace("0x0000", "0x0001").replace("120", "977").replace(r"C:\src", r"E:\other\place");
        let moved = moved.replace("1a2c", "77ff").replace("/src/", "/mnt/build/");
        assert_eq!(signature(&moved).text, signature(&text).text, "{file}: {fault}");
    }
}

#[test]
fn why_a_signature_came_out_so_is_explained() {
    let all = samples();
    let sample = all.iter().find(|sample| sample.file == "cdb" && sample.fault == "double free").unwrap();
    let signature = signature(&sample.text);
    assert_eq!(signature.basis, Basis::Frames);
    let explained: Vec<_> = signature.frames.iter().map(|frame| (frame.role, frame.rule)).collect();
    let expected = [
        (FrameRole::Skipped, Some("abort and terminate")),
        (FrameRole::Skipped, Some("abort and terminate")),
        (FrameRole::Prefix, Some("memory")),
        (FrameRole::Prefix, Some("memory")),
        (FrameRole::End, None),
        (FrameRole::Rest, None),
    ];
    assert_eq!(explained, expected);
}

/// Lines of all forms, and pieces of them, in any order.
fn pieces() -> Vec<String> {
    let lines = samples().into_iter().flat_map(|sample| sample.text.lines().map(str::to_owned).collect::<Vec<_>>());
    lines.chain(["<<<<<", "((((", "|||||", "`", "!", "+0x", "#", "at ", "::", "\u{FEFF}"].map(str::to_owned)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_bytes_panic_and_every_signature_is_short(bytes in prop::collection::vec(any::<u8>(), 0..2000)) {
        let signature = signature(&decode(&bytes));
        prop_assert!(!signature.text.is_empty() && signature.text.chars().count() <= MAX_SIGNATURE);
        prop_assert!(!signature.text.contains('\0'));
    }

    #[test]
    fn no_mixture_of_lines_panics(order in prop::collection::vec((any::<prop::sample::Index>(), 0_usize..400), 0..60)) {
        let pieces = pieces();
        let line = |(index, cut): &(prop::sample::Index, usize)| {
            let piece = index.get(&pieces);
            let end = (0..=piece.len().saturating_sub(cut % 7)).rev().find(|end| piece.is_char_boundary(*end));
            piece[..end.unwrap_or(0)].to_owned()
        };
        let text = order.iter().map(line).collect::<Vec<_>>().join("\n");
        let signature = signature(&text);
        prop_assert!(!signature.text.is_empty() && signature.text.chars().count() <= MAX_SIGNATURE);
        prop_assert!(signature.frames.len() <= 40);
    }
}

/// A bound that even a slow machine keeps, and that anything worse than linear breaks.
#[test]
fn a_mebibyte_of_hostile_text_takes_seconds_at_most() {
    let size = 1024 * 1024;
    for piece in ["<", "(", "a::", "#0 <", "at a.b<", "\n", "|", "rip!a<b>(c)\n", "0: _ZN1aI1aI1aE\n", "[a::b|", "`'"] {
        let text = piece.repeat(size / piece.len());
        let begun = Instant::now();
        let signature = signature(&text);
        assert!(begun.elapsed() < Duration::from_secs(20), "{piece:?} took {:?}", begun.elapsed());
        assert!(signature.text.chars().count() <= MAX_SIGNATURE);
    }
}
