//! Decisions R9 and R14.

use super::*;
use proptest::prelude::*;

/// Decision R14: canonical caseless matching.
#[test]
fn texts_that_differ_in_case_only_are_equal() {
    let equal = [
        ("Acme", "aCME"),
        ("Straße", "STRASSE"),
        ("ẞ", "ss"),
        ("ﬁn", "FIN"),
        // Final sigma.
        ("ΣΑΣ", "σας"),
        ("ΟΔΥΣΣΕΎΣ", "Οδυσσεύς"),
        // Dotted capital I folds to i and a dot above.
        ("İ", "i\u{307}"),
        ("I\u{307}", "i\u{307}"),
        // Angstrom and Kelvin signs, the long s.
        ("\u{212B}", "å"),
        ("A\u{30A}", "å"),
        ("\u{212A}", "k"),
        ("ſ", "S"),
        // Composed and decomposed.
        ("é", "E\u{301}"),
        ("Ǆ", "ǆ"),
        ("ǰ", "J\u{30C}"),
        ("ᾳ", "ΑΙ"),
        ("Ж", "ж"),
        ("𐐀", "𐐨"),
        // Marks in either order.
        ("a\u{323}\u{302}", "A\u{302}\u{323}"),
        // What folding composes or takes apart is normalised again (D145).
        ("ταΐζω", "ΤΑΪ́ΖΩ"),
        ("s\u{15b}", "ß\u{301}"),
    ];
    for (one, other) in equal {
        assert_eq!(Folded::of(one), Folded::of(other), "{one:?} {other:?}");
    }
}

/// Decision R14: folding is neither a translation nor compatibility.
#[test]
fn texts_that_differ_otherwise_are_not_equal() {
    let different = [
        ("e", "é"),
        // Without a language, the dotless i is a letter of its own and I is i.
        ("ı", "i"),
        ("İ", "I"),
        ("o", "ø"),
        ("ä", "ae"),
        ("２", "2"),
        ("a ", "a"),
        ("a\u{200B}", "a"),
        ("Æ", "AE"),
        ("х", "x"),
    ];
    for (one, other) in different {
        assert_ne!(Folded::of(one), Folded::of(other), "{one:?} {other:?}");
    }
}

/// Decision R9.
#[test]
fn only_zero_characters_are_replaced() {
    assert_eq!(storable("a\0b\0"), "a\u{FFFD}b\u{FFFD}");
    for text in ["", " a ", "\u{1}\u{7F}\u{FFFD}\r\n\t", "e\u{301}🖨"] {
        assert_eq!(storable(text), text);
    }
}

/// Decision R9.
#[test]
fn empty_texts_and_white_space_are_blank() {
    for blank in ["", " ", "\t\r\n", "\u{A0}\u{3000}\u{2003}"] {
        assert!(is_blank(blank), "{blank:?}");
    }
    for text in ["a", " a ", "\u{200B}", "\0", "."] {
        assert!(!is_blank(text), "{text:?}");
    }
}

/// Characters count, not bytes.
#[test]
fn a_text_is_cut_between_characters() {
    assert_eq!(cut("äöü", 2), "äö");
    assert_eq!(cut("äöü", 3), "äöü");
    assert_eq!(cut("🖨🖨", 1), "🖨");
    assert_eq!(cut("a", 0), "");
}

proptest! {
    /// The short way for ASCII gives what the long one gives.
    #[test]
    fn ascii_folds_like_the_rest(text in "[ -~]*") {
        let long_way = Folded::of(&format!("{text}é"));
        prop_assert_eq!(format!("{}é", Folded::of(&text).as_str()), long_way.as_str());
    }

    /// A text is equal to itself in capitals and in small letters, where these are one to one.
    #[test]
    fn capitals_and_small_letters_are_equal(text in "[a-zäöüßéçñåøæа-яα-ωա-ֆ0-9 ]*") {
        prop_assert_eq!(Folded::of(&text.to_uppercase()), Folded::of(&text));
        prop_assert_eq!(Folded::of(&text.to_lowercase()), Folded::of(&text));
    }

    /// What came out of a database is what went in.
    #[test]
    fn a_folded_text_is_taken_up_as_it_was_stored(text in "\\PC*") {
        let folded = Folded::of(&text);
        prop_assert_eq!(Folded::from_stored(folded.clone().into_string()), folded);
    }

    /// Folding a folded text changes nothing.
    #[test]
    fn folding_twice_is_folding_once(text in "\\PC*") {
        let folded = Folded::of(&text);
        prop_assert_eq!(Folded::of(folded.as_str()), folded);
    }

    #[test]
    fn what_is_storable_has_no_zero_and_as_many_characters(text: String) {
        let stored = storable(&text);
        prop_assert!(!stored.contains('\0'));
        prop_assert_eq!(stored.chars().count(), text.chars().count());
    }
}
