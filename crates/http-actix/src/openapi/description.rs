//! What the OpenAPI document says of one operation beside its route. Each is written next to the
//! handler that it describes; what all operations have in common is added by the document.

use super::schema;
use crate::error::ApiError;
use crate::openapi::Operation;
use actix_web::http::StatusCode;
use domain::error::Reason;
use utoipa::openapi::encoding::EncodingBuilder;
use utoipa::openapi::link::LinkBuilder;
use utoipa::openapi::path::{Parameter, ParameterBuilder, ParameterIn};
use utoipa::openapi::request_body::{RequestBody, RequestBodyBuilder};
use utoipa::openapi::schema::ObjectBuilder;
use utoipa::openapi::{ContentBuilder, HeaderBuilder, RefOr, Required, ResponseBuilder, Schema};

/// A response header: name, schema.
pub(crate) type Header = (&'static str, ObjectBuilder);

/// One operation in words and schemas.
pub(crate) struct Description {
    pub(super) summary: &'static str,
    pub(super) text: &'static str,
    pub(super) parameters: Vec<Parameter>,
    pub(super) body: Option<RequestBody>,
    /// What it answers when it does what was asked.
    pub(super) answers: Vec<(StatusCode, ResponseBuilder)>,
    /// What its own rules refuse.
    pub(super) refusals: Vec<ApiError>,
    /// Schemas that it refers to by name.
    pub(super) schemas: Vec<(&'static str, RefOr<Schema>)>,
}

impl Description {
    pub(crate) fn new(summary: &'static str, text: &'static str) -> Self {
        Self {
            summary,
            text,
            parameters: Vec::new(),
            body: None,
            answers: Vec::new(),
            refusals: Vec::new(),
            schemas: Vec::new(),
        }
    }

    /// An optional request header.
    pub(crate) fn header(self, name: &str, text: &str, schema: ObjectBuilder) -> Self {
        self.parameter(name, ParameterIn::Header, Required::False, text, schema)
    }

    /// The segment of the path that names a resource.
    pub(super) fn guid_in_path(self) -> Self {
        let text = "GUID of the resource, in any usual form. A malformed one is simply not found.";
        self.parameter(super::GUID_PARAMETER, ParameterIn::Path, Required::True, text, schema::guid(""))
    }

    fn parameter(
        mut self,
        name: &str,
        place: ParameterIn,
        required: Required,
        text: &str,
        schema: ObjectBuilder,
    ) -> Self {
        let parameter = ParameterBuilder::new().name(name).parameter_in(place).required(required);
        self.parameters.push(parameter.description(Some(text)).schema(Some(schema)).build());
        self
    }

    /// A JSON body with this schema, which gets the name.
    pub(crate) fn json_body(mut self, name: &'static str, schema: impl Into<RefOr<Schema>>) -> Self {
        let content = ContentBuilder::new().schema(Some(schema::named(name))).build();
        self.body = Some(body(RequestBodyBuilder::new().content("application/json", content)));
        self.with_schema(name, schema)
    }

    /// A multipart body of these parts, each with its content type.
    pub(crate) fn form_body(mut self, parts: ObjectBuilder, types: &[(&str, &str)]) -> Self {
        let mut content = ContentBuilder::new().schema(Some(parts));
        for (part, content_type) in types {
            content = content.encoding(*part, EncodingBuilder::new().content_type(Some(*content_type)).build());
        }
        self.body = Some(body(RequestBodyBuilder::new().content("multipart/form-data", content.build())));
        self
    }

    /// A schema that others refer to by this name.
    pub(crate) fn with_schema(mut self, name: &'static str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.schemas.push((name, schema.into()));
        self
    }

    /// Answers 200 and one message.
    pub(crate) fn answers_message(self, message: &'static str) -> Self {
        self.answers_json(message, schema::words(&[message]))
    }

    /// Answers 200 and JSON.
    pub(crate) fn answers_json(self, text: &str, schema: impl Into<RefOr<Schema>>) -> Self {
        self.answers(StatusCode::OK, text, Some(("application/json", schema.into())), [])
    }

    /// Answers this status with a content of this type, or of one of several, and these headers.
    pub(crate) fn answers(
        mut self,
        status: StatusCode,
        text: &str,
        content: Option<(&'static str, RefOr<Schema>)>,
        headers: impl IntoIterator<Item = Header>,
    ) -> Self {
        let mut response = match self.answers.iter().position(|(known, _)| *known == status) {
            Some(place) => self.answers.remove(place).1,
            None => ResponseBuilder::new().description(text),
        };
        if let Some((content_type, schema)) = content {
            response = response.content(content_type, ContentBuilder::new().schema(Some(schema)).build());
        }
        for (name, schema) in headers {
            response = response.header(name, HeaderBuilder::new().schema(Some(schema)).build());
        }
        self.answers.push((status, response));
        self
    }

    /// After its answer these operations can be asked for the resource that the body names by `pointer`.
    pub(crate) fn leads_to(mut self, operations: impl IntoIterator<Item = Operation>, pointer: &str) -> Self {
        if let Some((status, mut response)) = self.answers.pop() {
            for operation in operations {
                let expression = format!("$request.body#{pointer}");
                let link = LinkBuilder::new().operation_id(operation.name());
                response = response.link(operation.name(), link.parameter(super::GUID_PARAMETER, expression).build());
            }
            self.answers.push((status, response));
        }
        self
    }

    /// Refuses for these reasons, in addition to those of all operations.
    pub(crate) fn refuses(mut self, reasons: impl IntoIterator<Item = Reason>) -> Self {
        self.refusals.extend(reasons.into_iter().map(|reason| ApiError::from(reason.because(""))));
        self
    }

    /// Fails in this way, which no use case knows.
    pub(crate) fn fails(mut self, fault: ApiError) -> Self {
        self.refusals.push(fault);
        self
    }
}

fn body(builder: RequestBodyBuilder) -> RequestBody {
    builder.required(Some(Required::True)).build()
}
