//! JSON text to the domain's [`Json`] (decision R5).
//!
//! The usual crate would do, but for one thing: metadata is answered as it was sent (decision T8), and
//! that crate respells numbers (`1E5` becomes `1e+5`) and takes an object of a certain member for one.

use domain::json::Json;
use indexmap::IndexMap;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Arrays and objects within each other at most.
const MAX_DEPTH: usize = 128;

/// Reads JSON text (RFC 8259); a byte-order mark before it is skipped. Of members of one name the last
/// counts. The error says where the text is wrong.
pub fn parse(bytes: &[u8]) -> Result<Json, String> {
    read(bytes, false)
}

/// As [`parse`], but a member that stands in an object twice is a mistake: of what people write, none is to be lost.
pub fn parse_strictly(bytes: &[u8]) -> Result<Json, String> {
    read(bytes, true)
}

fn read(bytes: &[u8], is_strict: bool) -> Result<Json, String> {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    let text = std::str::from_utf8(bytes)
        .map_err(|error| format!("the text is not UTF-8 from byte {} on", error.valid_up_to()))?;
    let mut parser = Parser { text, place: 0, depth: 0, is_strict };
    let parsed = parser.value().and_then(|json| {
        parser.skip_blanks();
        if parser.place == text.len() { Ok(json) } else { Err("something follows the value") }
    });
    parsed.map_err(|problem| format!("{problem} at {}", position(text, parser.place)))
}

/// Where a byte is, as editors count: from 1, in characters.
fn position(text: &str, place: usize) -> String {
    let before = text.get(..place).unwrap_or(text);
    let (line, start) = (before.matches('\n').count() + 1, before.rfind('\n').map_or(0, |end| end + 1));
    format!("line {line}, column {}", before[start..].chars().count() + 1)
}

type Parsed<T> = Result<T, &'static str>;

struct Parser<'a> {
    text: &'a str,
    /// On a character boundary.
    place: usize,
    depth: usize,
    /// Whether no member may stand twice.
    is_strict: bool,
}

impl Parser<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.as_bytes().get(self.place).copied()
    }

    fn skip(&mut self, is_skipped: fn(u8) -> bool) {
        while self.peek().is_some_and(is_skipped) {
            self.place += 1;
        }
    }

    fn skip_blanks(&mut self) {
        self.skip(|byte| matches!(byte, b' ' | b'\t' | b'\r' | b'\n'));
    }

    /// Takes the ASCII character `byte` if it is next.
    fn takes(&mut self, byte: u8) -> bool {
        let is_next = self.peek() == Some(byte);
        self.place += usize::from(is_next);
        is_next
    }

    fn value(&mut self) -> Parsed<Json> {
        self.skip_blanks();
        match self.peek() {
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => self.word(),
            None => Err("a value is missing"),
        }
    }

    fn nested(&mut self, read: fn(&mut Self) -> Parsed<Json>) -> Parsed<Json> {
        if self.depth == MAX_DEPTH {
            return Err("too many levels");
        }
        self.depth += 1;
        self.place += 1;
        let json = read(self)?;
        self.depth -= 1;
        Ok(json)
    }

    fn word(&mut self) -> Parsed<Json> {
        let words = [("true", Json::Bool(true)), ("false", Json::Bool(false)), ("null", Json::Null)];
        for (word, json) in words {
            if self.text[self.place..].starts_with(word) {
                self.place += word.len();
                return Ok(json);
            }
        }
        Err("a value (a text in double quotes, a number, true, false, null, [ or {) is missing")
    }

    fn array(&mut self) -> Parsed<Json> {
        let mut items = Vec::new();
        self.skip_blanks();
        if self.takes(b']') {
            return Ok(Json::Array(items));
        }
        loop {
            items.push(self.value()?);
            self.skip_blanks();
            if self.takes(b']') {
                return Ok(Json::Array(items));
            }
            if !self.takes(b',') {
                return Err("a comma or ] is missing");
            }
        }
    }

    fn object(&mut self) -> Parsed<Json> {
        // Looked up by name, so that an object of many members takes no time beyond its length.
        let mut members = IndexMap::new();
        self.skip_blanks();
        if self.takes(b'}') {
            return Ok(Json::Object(Vec::new()));
        }
        loop {
            self.skip_blanks();
            if self.peek() != Some(b'"') {
                return Err("the name of a member is missing");
            }
            let start = self.place;
            let name = self.string()?;
            if self.is_strict && members.contains_key(&name) {
                self.place = start;
                return Err("a member stands twice");
            }
            self.skip_blanks();
            if !self.takes(b':') {
                return Err("a colon is missing");
            }
            // A later member of the same name takes the place of the earlier one.
            members.insert(name, self.value()?);
            self.skip_blanks();
            if self.takes(b'}') {
                return Ok(Json::Object(members.into_iter().collect()));
            }
            if !self.takes(b',') {
                return Err("a comma or } is missing");
            }
        }
    }

    fn number(&mut self) -> Parsed<Json> {
        let start = self.place;
        self.takes(b'-');
        if !self.takes(b'0') {
            self.digits()?;
        }
        if self.takes(b'.') {
            self.digits()?;
        }
        if self.takes(b'e') || self.takes(b'E') {
            let _ = self.takes(b'+') || self.takes(b'-');
            self.digits()?;
        }
        Ok(Json::Number(self.text[start..self.place].to_owned()))
    }

    fn digits(&mut self) -> Parsed<()> {
        let start = self.place;
        self.skip(|byte| byte.is_ascii_digit());
        if self.place > start { Ok(()) } else { Err("a digit is missing") }
    }

    fn string(&mut self) -> Parsed<String> {
        self.place += 1;
        let mut string = String::new();
        loop {
            let start = self.place;
            self.skip(|byte| !matches!(byte, b'"' | b'\\' | 0x00..=0x1f));
            string.push_str(&self.text[start..self.place]);
            match self.peek() {
                Some(b'"') => {
                    self.place += 1;
                    return Ok(string);
                }
                Some(b'\\') => string.push(self.escape()?),
                Some(_) => return Err("a control character stands in a text"),
                None => return Err("a text is not closed"),
            }
        }
    }

    fn escape(&mut self) -> Parsed<char> {
        let Some(&kind) = self.text.as_bytes().get(self.place + 1) else {
            return Err("a text is not closed");
        };
        let character = match kind {
            b'"' | b'\\' | b'/' => char::from(kind),
            b'b' => '\u{8}',
            b'f' => '\u{c}',
            b'n' => '\n',
            b'r' => '\r',
            b't' => '\t',
            b'u' => return self.unicode_escape(),
            _ => return Err("there is no such escape"),
        };
        self.place += 2;
        Ok(character)
    }

    /// `\uXXXX`, or two of them for one character beyond the first plane.
    fn unicode_escape(&mut self) -> Parsed<char> {
        let first = self.code_unit()?;
        let is_pair = (0xD800..0xDC00).contains(&first) && self.text[self.place..].starts_with("\\u");
        let second = if is_pair { Some(self.code_unit()?) } else { None };
        let decoded = char::decode_utf16([first].into_iter().chain(second)).next();
        match decoded {
            Some(Ok(character)) => Ok(character),
            _ => Err("half of a surrogate pair stands alone"),
        }
    }

    fn code_unit(&mut self) -> Parsed<u16> {
        let digits = self.text.get(self.place + 2..self.place + 6);
        let digits = digits.filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
        let unit = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        self.place += 6 * usize::from(unit.is_some());
        unit.ok_or("an escape has no four hexadecimal digits")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn any_json() -> impl Strategy<Value = Json> {
        let leaf = prop_oneof![
            Just(Json::Null),
            any::<bool>().prop_map(Json::Bool),
            "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,9})?([eE][+-]?[0-9]{1,2})?".prop_map(Json::Number),
            any::<String>().prop_map(Json::Text),
        ];
        leaf.prop_recursive(5, 40, 6, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
                prop::collection::btree_map(any::<String>(), inner, 0..6)
                    .prop_map(|members| Json::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_shown_is_read_back_as_it_was(json in any_json()) {
            prop_assert_eq!(parse(json.to_string().as_bytes()), Ok(json));
        }

        #[test]
        fn arbitrary_bytes_never_panic(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = parse(&bytes);
        }

        #[test]
        fn the_usual_parser_accepts_the_same_texts(text in "[\\[\\]{}:,\"\\\\ud8c0-9eE.+tfn\\- ]{0,12}") {
            let usual = serde_json::from_str::<serde_json::Value>(&text);
            prop_assert_eq!(parse(text.as_bytes()).is_ok(), usual.is_ok(), "{}", text);
        }

        #[test]
        fn escapes_stand_for_their_characters(text in any::<String>()) {
            let escaped: Vec<String> = text.encode_utf16().map(|unit| format!("\\u{unit:04x}")).collect();
            prop_assert_eq!(parse(format!("\"{}\"", escaped.concat()).as_bytes()), Ok(Json::Text(text)));
        }
    }

    #[test]
    fn a_member_that_stands_twice_is_a_mistake_where_people_write() {
        let text = br#"{"a": 1, "b": {"a": 2, "\u0061": 3}}"#;
        assert!(parse(text).is_ok());
        assert_eq!(parse_strictly(text), Err("a member stands twice at line 1, column 24".to_owned()));
        assert_eq!(parse_strictly(br#"[{"a": 1}, {"a": 1}]"#), parse(br#"[{"a": 1}, {"a": 1}]"#));
    }

    #[test]
    fn a_byte_order_mark_is_skipped() {
        // Decision R5.
        assert_eq!(parse(b"\xEF\xBB\xBF {}\r\n"), Ok(Json::Object(Vec::new())));
    }

    #[test]
    fn numbers_keep_their_spelling_and_members_their_order() {
        // Decision T8: further members of Meta are answered as sent.
        let text = r#"{"b":1.50,"a":[12345678901234567890123,-0,1E+5],"$serde_json::private::Number":"x"}"#;
        assert_eq!(parse(text.as_bytes()).map(|json| json.to_string()), Ok(text.to_owned()));
    }

    #[test]
    fn of_members_of_one_name_the_last_counts() {
        let json = parse(br#"{"a":1,"b":2,"a":3}"#);
        assert_eq!(json.map(|json| json.to_string()).as_deref(), Ok(r#"{"a":3,"b":2}"#));
    }

    #[test]
    fn levels_are_bounded() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert!(parse(nested(MAX_DEPTH).as_bytes()).is_ok());
        assert!(parse(nested(MAX_DEPTH + 1).as_bytes()).is_err());
        assert!(parse(nested(1_000_000).as_bytes()).is_err());
    }

    #[test]
    fn what_is_no_json_is_refused() {
        let refused: [&[u8]; 12] = [
            b"",
            b"{",
            b"{} x",
            b"{\"a\":1,}",
            b"\"\xff\"",
            b"NaN",
            b"\"\\ud800\"",
            b"01",
            b"1.",
            b"\"\n\"",
            b"'a'",
            b"[1 2]",
        ];
        for text in refused {
            assert!(parse(text).is_err(), "{:?}", String::from_utf8_lossy(text));
        }
        assert_eq!(
            parse(b"{\"a\": 'b'}"),
            Err(
                "a value (a text in double quotes, a number, true, false, null, [ or {) is missing at line 1, column 7"
                    .to_owned()
            )
        );
        assert_eq!(parse(b"[1 2]"), Err("a comma or ] is missing at line 1, column 4".to_owned()));
        assert_eq!(
            parse("[\"é\",\n  \"é\" 2]".as_bytes()),
            Err("a comma or ] is missing at line 2, column 7".to_owned())
        );
    }
}
