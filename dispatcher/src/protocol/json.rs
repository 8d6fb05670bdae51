//! JSON read so that hostile input cannot blind the guard.
//!
//! A value is scanned without recursion and kept as text until somebody asks for it, so nesting 100,000 deep costs a scan and
//! no stack. Strings decode with lone surrogates as U+FFFD. Of duplicate keys the last one counts, as for the agent itself.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use serde::de::{self, Deserialize, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

/// Where the members of one JSON object, or the items of one array (named by position), lie in a text.
#[derive(Debug, Default)]
pub struct Index(Vec<(String, Range<usize>)>);

impl Index {
    /// Indexes the object or array that is `text[range]`; `None` when it is neither.
    pub fn of(text: &str, range: Range<usize>) -> Option<Self> {
        let value = &text[range];
        let members = match value.trim_start().as_bytes().first()? {
            b'{' => serde_json::from_str::<Members>(value).ok()?.0,
            b'[' => {
                let items: Vec<&RawValue> = serde_json::from_str(value).ok()?;
                items.into_iter().enumerate().map(|(position, item)| (position.to_string(), item)).collect()
            }
            _ => return None,
        };
        let offset = |item: &RawValue| {
            let start = item.get().as_ptr() as usize - text.as_ptr() as usize;
            start..start + item.get().len()
        };
        Some(Self(members.into_iter().map(|(key, item)| (key, offset(item))).collect()))
    }

    /// Keys and places of all members that count: of duplicate keys the last.
    pub fn members(&self) -> impl Iterator<Item = (&str, Range<usize>)> {
        let counts = |position: usize, key: &str| self.0[position + 1..].iter().all(|(later, _)| later != key);
        let members = self.0.iter().enumerate().filter(move |(position, (key, _))| counts(*position, key));
        members.map(|(_, (key, range))| (key.as_str(), range.clone()))
    }

    /// The member called `key`; the last one if there are several.
    pub fn get(&self, key: &str) -> Option<Range<usize>> {
        self.0.iter().rev().find(|(name, _)| name == key).map(|(_, range)| range.clone())
    }
}

/// The string that the JSON text `raw` stands for; `None` when it is no string.
pub fn decode_string(raw: &str) -> Option<String> {
    // Without escapes, the text between the quotes is the string.
    let inner = raw.trim().strip_prefix('"')?.strip_suffix('"')?;
    if !inner.contains('\\') {
        return Some(inner.to_owned());
    }
    serde_json::from_str::<LossyString>(raw).ok().map(|text| text.0.into_owned())
}

/// `text` with the escapes of half surrogate pairs replaced by the one of U+FFFD, which is as long: others than this module
/// read the text too, and most parsers refuse it whole because of one.
pub fn mended(text: String) -> String {
    let escapes = |at: &usize| matches!(text.as_bytes().get(at + 1..at + 3), Some(b"ud" | b"uD"));
    let Some(start) = text.match_indices('\\').map(|(at, _)| at).find(escapes) else { return text };
    let mut bytes = text.into_bytes();
    // From the start of its line of backslashes, so that `\\ud800`, which is a backslash and a word, is seen as such.
    let mut at = bytes[..start].iter().rposition(|byte| *byte != b'\\').map_or(0, |before| before + 1);
    while at < bytes.len() {
        at += match (bytes[at], unit(&bytes, at)) {
            (_, Some(0xd800..=0xdbff)) if matches!(unit(&bytes, at + 6), Some(0xdc00..=0xdfff)) => 12,
            (_, Some(0xd800..=0xdfff)) => {
                bytes[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            (b'\\', _) => 2,
            _ => 1,
        };
    }
    String::from_utf8(bytes).expect("ASCII replaced by ASCII")
}

/// The UTF-16 unit that is escaped at a position.
fn unit(bytes: &[u8], at: usize) -> Option<u16> {
    let digits = bytes.get(at..at + 6)?.strip_prefix(b"\\u")?;
    let digits = digits.iter().all(u8::is_ascii_hexdigit).then(|| std::str::from_utf8(digits))?;
    u16::from_str_radix(digits.ok()?, 16).ok()
}

struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect<'a>(std::marker::PhantomData<&'a ()>);
        impl<'de: 'a, 'a> Visitor<'de> for Collect<'a> {
            type Value = Members<'a>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("an object")
            }
            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                // As raw text first: what is read as bytes may hold control characters, which no other parser takes.
                while let Some(key) = map.next_key::<&RawValue>()? {
                    let name = decode_string(key.get()).ok_or_else(|| de::Error::custom("a key that is no string"))?;
                    members.push((name, map.next_value()?));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect(std::marker::PhantomData))
    }
}

struct LossyString<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for LossyString<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Lossy;
        impl<'de> Visitor<'de> for Lossy {
            type Value = LossyString<'de>;
            fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
                formatter.write_str("a string")
            }
            fn visit_bytes<E: de::Error>(self, bytes: &[u8]) -> Result<Self::Value, E> {
                Ok(LossyString(Cow::Owned(String::from_utf8_lossy(bytes).into_owned())))
            }
            fn visit_borrowed_bytes<E: de::Error>(self, bytes: &'de [u8]) -> Result<Self::Value, E> {
                Ok(LossyString(String::from_utf8_lossy(bytes)))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, _: A) -> Result<Self::Value, A::Error> {
                // serde_json offers an array of numbers as bytes; here only a string is one.
                Err(de::Error::invalid_type(de::Unexpected::Seq, &self))
            }
        }
        deserializer.deserialize_bytes(Lossy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn member(text: &str, key: &str) -> Option<String> {
        let index = Index::of(text, 0..text.len())?;
        index.get(key).map(|range| text[range].to_owned())
    }

    #[test]
    fn members_are_found_as_raw_text() {
        assert_eq!(member(r#" {"a" : {"b":[1,2]}, "c":"d"}"#, "a").as_deref(), Some(r#"{"b":[1,2]}"#));
        assert_eq!(member("[10, 20]", "1").as_deref(), Some("20"));
        assert_eq!(member("7", "a"), None);
    }

    #[test]
    fn a_key_is_a_string_of_json() {
        assert_eq!(member(r#"{"a\u0005":1}"#, "a\u{5}").as_deref(), Some("1"));
        assert_eq!(member("{\"a\u{5}\":1,\"b\":2}", "b"), None);
        assert_eq!(member(r#"{"\x":1,"b":2}"#, "b"), None);
    }

    #[test]
    fn the_last_of_duplicate_keys_counts() {
        assert_eq!(member(r#"{"a":1,"a":2}"#, "a").as_deref(), Some("2"));
    }

    #[test]
    fn deep_nesting_needs_no_stack() {
        let deep = format!(r#"{{"x":{}1{},"a":5}}"#, "[".repeat(100_000), "]".repeat(100_000));
        assert_eq!(member(&deep, "a").as_deref(), Some("5"));
    }

    #[test]
    fn lone_surrogates_are_replaced_and_pairs_are_not() {
        assert!(decode_string(r#""a\ud800b""#).unwrap().starts_with("a\u{fffd}"));
        assert!(decode_string(r#""a\ud800b""#).unwrap().ends_with('b'));
        assert_eq!(decode_string(r#""\ud83d\ude00 \u0000""#).as_deref(), Some("\u{1f600} \0"));
        assert_eq!(decode_string("12"), None);
        assert!(member(r#"{"\ud800":1,"a":2}"#, "a").is_some());
    }

    #[test]
    fn halves_of_pairs_are_mended_and_nothing_else() {
        for (text, expected) in [
            (r#""a""#, r#""a""#),
            (r#""\ud800""#, r#""\ufffd""#),
            (r#""\uDFFF\uD800""#, r#""\ufffd\ufffd""#),
            (r#""\ud800\ud83d\ude00\udc00""#, r#""\ufffd\ud83d\ude00\ufffd""#),
            (r#""\\ud800 \\\ud800""#, r#""\\ud800 \\\ufffd""#),
            (r#""\u00d8\ud8""#, r#""\u00d8\ud8""#),
            (r#""é\n\ud800é""#, r#""é\n\ufffdé""#),
        ] {
            assert_eq!(mended(text.to_owned()), expected);
        }
    }
}
