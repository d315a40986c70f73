//! Path normalisation: case and a trailing slash don't matter (decision R8), nor do several slashes at the beginning.
//! Paths below the operator API and the console keep their case, since they may hold names.

use crate::services::Settings;
use actix_web::Error;
use actix_web::body::MessageBody;
use actix_web::dev::{ServiceRequest, ServiceResponse};
use actix_web::http::Uri;
use actix_web::http::uri::PathAndQuery;
use actix_web::middleware::Next;

/// Rewrites the path to the form in which routes are written.
///
/// The whole path becomes lower case. Its only variable segment is a GUID, whose case doesn't matter (decision R7).
pub(crate) async fn normalize_path(
    mut request: ServiceRequest,
    next: Next<impl MessageBody>,
) -> Result<ServiceResponse<impl MessageBody>, Error> {
    let base_path = &Settings::of(request.request()).base_path;
    if let Some(uri) = normalized(request.uri(), base_path) {
        request.match_info_mut().get_mut().update(&uri);
        request.head_mut().uri = uri;
    }
    next.call(request).await
}

/// The URI with a normalised path; `None` if the path is normalised already.
fn normalized(uri: &Uri, base_path: &str) -> Option<Uri> {
    let path = normalize(uri.path(), base_path);
    if path == uri.path() {
        return None;
    }
    let path_and_query = match uri.query() {
        Some(query) => format!("{path}?{query}"),
        None => path,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(PathAndQuery::try_from(path_and_query).ok()?);
    Uri::from_parts(parts).ok()
}

fn normalize(path: &str, base_path: &str) -> String {
    let inner = path.trim_start_matches('/');
    let inner = inner.strip_suffix('/').unwrap_or(inner);
    if !path.starts_with('/') {
        return path.to_owned();
    }
    let lower = format!("/{}", inner.to_ascii_lowercase());
    let base = base_path.trim_matches('/').to_ascii_lowercase();
    let below = lower.strip_prefix('/').and_then(|rest| rest.strip_prefix(base.as_str()));
    let below = below.map(|rest| rest.trim_start_matches('/'));
    match below.and_then(|below| CASE_SENSITIVE.iter().find_map(|prefix| below.strip_prefix(prefix))) {
        // `to_ascii_lowercase` keeps the number of bytes.
        Some(kept) => format!("{}{}", &lower[..lower.len() - kept.len()], &inner[inner.len() - kept.len()..]),
        None => lower,
    }
}

/// Paths that begin with one of these after the base path keep the case of the rest.
const CASE_SENSITIVE: [&str; 2] = ["api/operator/", "console/"];

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn slashes_at_both_ends_and_case_are_normalised() {
        // Decision R8.
        let expected = [
            ("/", "/"),
            ("//", "/"),
            ("/API/V2/", "/api/v2"),
            ("//api/v2/log", "/api/v2/log"),
            ("///api/v2/log", "/api/v2/log"),
            ("/api/v2//log", "/api/v2//log"),
            ("*", "*"),
        ];
        for (path, normal) in expected {
            assert_eq!(normalize(path, ""), normal, "{path}");
        }
    }

    #[test]
    fn names_in_paths_of_operators_keep_their_case() {
        // Decision P10.
        let expected = [
            ("/API/Operator/v1/operators/Ann", "", "/api/operator/v1/operators/Ann"),
            ("/Print/Console/Organizations/Acme/", "/print", "/print/console/Organizations/Acme"),
            ("/Console", "", "/console"),
            ("/Other/Console/Ann", "/print", "/other/console/ann"),
        ];
        for (path, base_path, normal) in expected {
            assert_eq!(normalize(path, base_path), normal, "{path}");
        }
    }

    #[test]
    fn the_query_stays_as_it_is() {
        let uri = Uri::from_static("http://host/API/?A=B/");
        assert_eq!(normalized(&uri, ""), Some(Uri::from_static("http://host/api?A=B/")));
        assert_eq!(normalized(&Uri::from_static("/api?A=B/"), ""), None);
    }

    proptest! {
        #[test]
        fn case_and_a_trailing_slash_change_nothing(upper in any::<[bool; 40]>(), slash in any::<bool>()) {
            // Decision R8.
            for path in ["/base/api/v2/resource/list", "/base/api/v2/log/crashreport", "/base/api/v2/device/status"] {
                let flip = |(letter, upper): (char, &bool)| if *upper { letter.to_ascii_uppercase() } else { letter };
                let mut written: String = path.chars().zip(&upper).map(flip).collect();
                if slash {
                    written.push('/');
                }
                prop_assert_eq!(normalize(&written, ""), path);
            }
        }

        #[test]
        fn no_path_panics(path in "/[!-~]{0,40}") {
            if let Ok(uri) = Uri::try_from(path) {
                let again = normalized(&uri, "").map(|uri| normalized(&uri, ""));
                prop_assert!(again.is_none_or(|again| again.is_none()) || uri.path().ends_with("//"));
            }
        }
    }
}
