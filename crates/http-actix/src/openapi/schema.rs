//! The few kinds of schema that the OpenAPI document is made of. They say what a client should send;
//! what is taken beside that (decisions R5, R7, R9) is told in words at the top of the document.

use utoipa::openapi::schema::{AdditionalProperties, ArrayBuilder, KnownFormat, ObjectBuilder, SchemaFormat, Type};
use utoipa::openapi::{Ref, RefOr, Schema};

/// An object without members; unknown members are allowed.
pub(crate) fn object(text: &str) -> ObjectBuilder {
    described(Type::Object, text)
}

/// An object with no members but those that it names.
pub(crate) fn closed_object(text: &str) -> ObjectBuilder {
    object(text).additional_properties(Some(AdditionalProperties::FreeForm(false)))
}

/// Any text, an empty one too.
pub(crate) fn text(text: &str) -> ObjectBuilder {
    described(Type::String, text)
}

/// A text that must say something (decision R9).
pub(crate) fn filled(words: &str) -> ObjectBuilder {
    text(words).min_length(Some(1)).pattern(Some(r"\S"))
}

pub(crate) fn guid(words: &str) -> ObjectBuilder {
    text(words).format(Some(SchemaFormat::Custom("uuid".to_owned())))
}

pub(crate) fn time(words: &str) -> ObjectBuilder {
    text(words).format(Some(SchemaFormat::KnownFormat(KnownFormat::DateTime)))
}

/// One of these words.
pub(crate) fn words(allowed: &[&'static str]) -> ObjectBuilder {
    text("").enum_values(Some(allowed.iter().copied()))
}

pub(crate) fn number(text: &str) -> ObjectBuilder {
    described(Type::Number, text)
}

pub(crate) fn whole_number(text: &str) -> ObjectBuilder {
    described(Type::Integer, text)
}

/// The content of a file.
pub(crate) fn binary(words: &str) -> ObjectBuilder {
    text(words).format(Some(SchemaFormat::KnownFormat(KnownFormat::Binary)))
}

pub(crate) fn list_of(items: impl Into<RefOr<Schema>>) -> ArrayBuilder {
    ArrayBuilder::new().items(items.into())
}

/// The schema of that name.
pub(crate) fn named(name: &str) -> RefOr<Schema> {
    Ref::from_schema_name(name).into()
}

fn described(kind: Type, text: &str) -> ObjectBuilder {
    ObjectBuilder::new().schema_type(kind).description(Some(text).filter(|text| !text.is_empty()))
}
