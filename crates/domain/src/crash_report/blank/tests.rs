//! A blank call stack is noticed however its bytes arrive (decision C2).

use super::BlankCheck;
use crate::text;
use proptest::prelude::*;

fn is_blank(pieces: &[&[u8]]) -> bool {
    let mut blank = BlankCheck::new();
    for piece in pieces {
        blank.update(piece);
    }
    blank.is_blank()
}

#[test]
fn white_space_zeros_and_marks_are_blank() {
    assert!(is_blank(&[]));
    let blank = ["", " \t\r\n\u{b}\u{c}", "\u{a0}\u{3000}\u{2028}", "\u{feff} ", " \0\n\0"];
    for content in blank {
        assert!(is_blank(&[content.as_bytes()]), "{content:?}");
    }
}

#[test]
fn blanks_in_utf_16_are_blank() {
    for text in ["", " \r\n", "\u{3000}\u{2028} "] {
        for unit in [u16::to_le_bytes, u16::to_be_bytes] {
            let content: Vec<u8> = "\u{feff}".encode_utf16().chain(text.encode_utf16()).flat_map(unit).collect();
            assert!(is_blank(&[&content]), "{content:?}");
            assert!(!is_blank(&[&content, b"\0"]), "half a code unit");
        }
    }
}

#[test]
fn everything_else_is_not() {
    let contents: [&[u8]; 9] = [
        b"\xff",
        b"\xfe\xff\0x",
        b"x",
        b" \n.",
        b" \0x\0",
        b"\xff\xfex\0",
        b"  \xe3\x80",
        b"\x01",
        "\u{200b}".as_bytes(),
    ];
    for content in contents {
        assert!(!is_blank(&[content]), "{content:?}");
    }
}

proptest! {
    /// Decision R9 says what is white space; the places where the content is cut make no difference.
    #[test]
    fn a_text_is_blank_as_everywhere_else(
        text in "[ \\t\\n\u{a0}\u{3000}\u{2003}]{0,12}|\\PC{0,12}",
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..4),
    ) {
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(text.len() + 1)).collect();
        cuts.sort_unstable();
        let ends = cuts.iter().copied().chain([text.len()]);
        let pieces: Vec<&[u8]> = [0].into_iter().chain(cuts.iter().copied()).zip(ends)
            .map(|(from, to)| &text.as_bytes()[from..to]).collect();
        prop_assume!(!text.contains('\u{feff}'));
        prop_assert_eq!(is_blank(&pieces), text::is_blank(&text));
    }

    #[test]
    fn any_bytes_are_judged_alike_however_they_are_cut(
        bytes in prop::collection::vec(prop_oneof![Just(b' '), Just(0xe3), Just(0x80), Just(0xff), Just(0xfe), Just(0), any::<u8>()], 0..12),
        cut in any::<prop::sample::Index>(),
    ) {
        let (begin, rest) = bytes.split_at(cut.index(bytes.len() + 1));
        prop_assert_eq!(is_blank(&[begin, rest]), is_blank(&[&bytes]));
    }
}
