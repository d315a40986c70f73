//! `GET /resources/{organization}/{guid}/icc` (decision I11)

use super::show::ResourcePath;
use crate::authenticate::Caller;
use crate::error::Problem;
use crate::openapi::Problems;
use crate::routes::json;
use crate::time::shown;
use actix_web::HttpResponse;
use actix_web::web::{Data, Path};
use domain::error::StoreError;
use domain::icc::{LabPoint, ProfileFacts, ProfileTag, UnreadProfile};
use domain::operator::OperatorError;
use domain::resource_catalog::ResourceCatalogService;
use serde::Serialize;
use utoipa::ToSchema;

/// What a colour profile says, as far as it could be read.
#[derive(Serialize, ToSchema)]
pub(crate) struct ProfileBody {
    /// Such as `4.3`.
    version: String,
    /// Such as `Output device`.
    class: String,
    /// Such as `CMYK`.
    color_space: String,
    /// Such as `CIELAB`.
    connection_space: String,
    description: Option<String>,
    #[schema(format = DateTime)]
    created: Option<String>,
    /// Such as `Perceptual`.
    rendering_intent: String,
    /// Bytes of the content.
    size: u64,
    /// Bytes that the head of the profile says.
    declared_size: u64,
    has_declared_size: bool,
    tags: Vec<TagBody>,
    /// The outline of the gamut in the a*b* plane of CIELAB (D50): pairs of a* and b*, a closed line.
    gamut: Option<Vec<[f32; 2]>>,
    /// The outline of sRGB.
    srgb: Option<Vec<[f32; 2]>>,
    /// Sentences about what is wrong or couldn't be read.
    problems: Vec<String>,
}

/// An entry of the table of tags.
#[derive(Serialize, ToSchema)]
pub(crate) struct TagBody {
    signature: String,
    /// What the tag holds; null for a private tag.
    name: Option<&'static str>,
    offset: u64,
    size: u64,
    /// Whether it lies within the content.
    is_inside: bool,
}

impl From<ProfileTag> for TagBody {
    fn from(tag: ProfileTag) -> Self {
        let ProfileTag { signature, name, offset, size, is_inside } = tag;
        Self { signature, name, offset, size, is_inside }
    }
}

impl From<ProfileFacts> for ProfileBody {
    fn from(facts: ProfileFacts) -> Self {
        let has_declared_size = facts.has_declared_size();
        let pairs = |points: Vec<LabPoint>| points.into_iter().map(|LabPoint { a, b }| [a, b]).collect();
        let (gamut, srgb) = facts.gamut.map(|gamut| (pairs(gamut.profile), pairs(gamut.srgb))).unzip();
        Self {
            version: facts.version,
            class: facts.class,
            color_space: facts.color_space,
            connection_space: facts.connection_space,
            description: facts.description,
            created: facts.created.map(shown),
            rendering_intent: facts.rendering_intent,
            size: facts.size,
            declared_size: facts.declared_size,
            has_declared_size,
            tags: facts.tags.into_iter().map(TagBody::from).collect(),
            gamut,
            srgb,
            problems: facts.problems,
        }
    }
}

/// What the colour profile says. 404 where the content is no colour profile.
#[utoipa::path(get, path = "/resources/{organization}/{guid}/icc", operation_id = "resource_icc", tag = "Resources", params(ResourcePath), responses((status = 200, description = "The facts.", body = ProfileBody), Problems))]
pub(crate) async fn icc(
    caller: Caller,
    path: Path<ResourcePath>,
    resources: Data<ResourceCatalogService>,
) -> Result<HttpResponse, Problem> {
    let found = resources.find(&caller.actor, &path.organization, &path.guid).await?;
    let no_profile = |why: &str| OperatorError::NotFound(format!("a colour profile of this resource ({why})"));
    match resources.profile(&found).await? {
        Some(Ok(facts)) => Ok(json(&ProfileBody::from(facts))),
        Some(Err(UnreadProfile::Unreadable(reason))) => Err(no_profile(&reason).into()),
        Some(Err(UnreadProfile::Unavailable(reason))) => Err(StoreError::unavailable(reason).into()),
        None => Err(no_profile("its content is none").into()),
    }
}
