//! The files that pages load, all from the program itself. Their names hold a digest, so that browsers keep them for ever.

use actix_web::HttpResponse;
use actix_web::http::header::{CACHE_CONTROL, CONTENT_TYPE};
use actix_web::web::Path;
use sha2::{Digest, Sha256};
use std::sync::LazyLock;

/// A file that pages load.
struct Asset {
    /// Its name without the digest.
    name: &'static str,
    content_type: &'static str,
    bytes: &'static [u8],
}

const ASSETS: [Asset; 7] = [
    Asset { name: "console.css", content_type: CSS, bytes: include_bytes!("../assets/console.css") },
    Asset { name: "console.js", content_type: SCRIPT, bytes: include_bytes!("../assets/console.js") },
    Asset { name: "console-live.js", content_type: SCRIPT, bytes: include_bytes!("../assets/console-live.js") },
    Asset { name: "htmx.min.js", content_type: SCRIPT, bytes: include_bytes!("../assets/htmx.min.js") },
    Asset { name: "htmx-sse.min.js", content_type: SCRIPT, bytes: include_bytes!("../assets/htmx-sse.min.js") },
    Asset { name: "keep.js", content_type: SCRIPT, bytes: include_bytes!("../assets/keep.js") },
    Asset { name: "icon.svg", content_type: "image/svg+xml", bytes: include_bytes!("../assets/icon.svg") },
];

const CSS: &str = "text/css; charset=utf-8";
const SCRIPT: &str = "text/javascript; charset=utf-8";

/// The first digits of the SHA-256 of all files, in the path of each.
static DIGEST: LazyLock<String> = LazyLock::new(|| {
    let mut digest = Sha256::new();
    for asset in &ASSETS {
        digest.update(asset.bytes);
    }
    let digest: [u8; 32] = digest.finalize().into();
    digest[..6].iter().fold(String::new(), |text, byte| format!("{text}{byte:02x}"))
});

/// The path of the folder of files, below that of the console.
pub(crate) fn folder() -> String {
    format!("assets/{}", *DIGEST)
}

/// Answers a file. An old page may ask for the file of another version: it gets the present one, for a while.
pub(crate) async fn asset(path: Path<(String, String)>) -> Option<HttpResponse> {
    let (digest, name) = path.into_inner();
    let asset = ASSETS.iter().find(|asset| asset.name == name)?;
    let keep = if digest == *DIGEST { "public, max-age=31536000, immutable" } else { "no-cache" };
    let mut response = HttpResponse::Ok();
    response.insert_header((CONTENT_TYPE, asset.content_type)).insert_header((CACHE_CONTROL, keep));
    Some(response.body(asset.bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_every_page_loads_is_small() {
        let bytes: usize = ASSETS.iter().map(|asset| asset.bytes.len()).sum();
        assert!(bytes < 120 * 1024, "{bytes}");
    }

    /// Decision P7.
    #[test]
    fn no_file_names_another_server() {
        let css = std::str::from_utf8(ASSETS[0].bytes).unwrap();
        assert!(!css.contains("http") && !css.contains("@import") && !css.contains("url("), "{css}");
        // The script may mention where its documentation is; the configuration of htmx allows no other server.
        assert!(include_str!("../templates/base.html").contains(r#""selfRequestsOnly":true"#));
    }
}
