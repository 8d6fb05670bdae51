//! Values that are taken if they are of the wanted kind, and passed over if not.
//!
//! A journal has lines of many writers: a field that somebody else uses for something else must not cost the line.

use std::borrow::Cow;
use std::fmt;
use std::marker::PhantomData;

use serde::Deserialize;
use serde::de::{Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Longest text that is kept of a field: what lines hold is not ours to trust.
const TEXT: usize = 1024;
/// Longest name of a rule or gate.
const NAME: usize = 128;
/// Most elements that are kept of a list.
const ELEMENTS: usize = 32;

/// A string; any other value counts as none, since a line of somebody else's is still a line.
#[derive(Default)]
pub struct Text<'a>(pub Option<Cow<'a, str>>);

impl Text<'_> {
    /// The text, if there is one and it is not empty.
    pub fn text(&self) -> Option<String> {
        self.cut(TEXT)
    }

    /// The same of a rule or a gate.
    pub fn name(&self) -> Option<String> {
        self.cut(NAME)
    }

    fn cut(&self, bytes: usize) -> Option<String> {
        self.0.as_ref().filter(|text| !text.is_empty()).map(|text| text[..text.floor_char_boundary(bytes)].to_owned())
    }
}

/// A number, or one written as a string; any other value counts as none.
#[derive(Default)]
pub struct Number(pub Option<f64>);

/// An array; any other value counts as an empty one.
pub struct List<T>(pub Vec<T>);

impl<T> Default for List<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

/// A visitor that takes any value, and keeps one of the wanted kind.
struct Any<T>(PhantomData<T>);

/// What an [`Any`] visitor makes of each kind of value.
trait Lenient<'de>: Default {
    fn text(_: Cow<'de, str>) -> Self {
        Self::default()
    }
    fn number(_: f64) -> Self {
        Self::default()
    }
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self::default())
    }
}

impl<'de> Lenient<'de> for Text<'de> {
    fn text(text: Cow<'de, str>) -> Self {
        Self(Some(text))
    }
}

impl<'de> Lenient<'de> for Number {
    fn text(text: Cow<'de, str>) -> Self {
        Self(text.parse().ok().filter(|number: &f64| number.is_finite()))
    }
    fn number(number: f64) -> Self {
        Self(Some(number))
    }
}

impl<'de, T: Deserialize<'de>> Lenient<'de> for List<T> {
    fn list<A: SeqAccess<'de>>(mut items: A) -> Result<Self, A::Error> {
        let mut kept = Vec::new();
        while kept.len() < ELEMENTS {
            match items.next_element()? {
                Some(item) => kept.push(item),
                None => return Ok(Self(kept)),
            }
        }
        while items.next_element::<IgnoredAny>()?.is_some() {}
        Ok(Self(kept))
    }
}

impl<'de, T: Lenient<'de>> Visitor<'de> for Any<T> {
    type Value = T;

    fn expecting(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str("any value")
    }
    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<T, E> {
        Ok(T::text(Cow::Borrowed(text)))
    }
    fn visit_str<E>(self, text: &str) -> Result<T, E> {
        Ok(T::text(Cow::Owned(text.to_owned())))
    }
    fn visit_u64<E>(self, number: u64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_i64<E>(self, number: i64) -> Result<T, E> {
        Ok(T::number(number as f64))
    }
    fn visit_f64<E>(self, number: f64) -> Result<T, E> {
        Ok(T::number(number))
    }
    fn visit_bool<E>(self, _: bool) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_unit<E>(self) -> Result<T, E> {
        Ok(T::default())
    }
    fn visit_seq<A: SeqAccess<'de>>(self, items: A) -> Result<T, A::Error> {
        T::list(items)
    }
    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<T, A::Error> {
        while members.next_entry::<IgnoredAny, IgnoredAny>()?.is_some() {}
        Ok(T::default())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Text<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData::<Text<'de>>))
    }
}

impl<'de> Deserialize<'de> for Number {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for List<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Any(PhantomData))
    }
}
