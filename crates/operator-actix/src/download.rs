//! Contents that clients sent, as downloads that no browser shows (decision P7).

use actix_web::HttpResponse;
use actix_web::http::header::{
    CACHE_CONTROL, CONTENT_TYPE, Charset, ContentDisposition, DispositionParam, DispositionType, ExtendedValue,
    X_CONTENT_TYPE_OPTIONS,
};
use domain::blob::ByteStream;
use domain::file_name::safe_file_name;
use futures_util::TryStreamExt;

/// A download of `size` bytes. `name` may be any text: the file name is made of it.
#[must_use]
pub fn attachment(name: &str, size: u64, content: ByteStream) -> HttpResponse {
    HttpResponse::Ok()
        .insert_header((CONTENT_TYPE, "application/octet-stream"))
        .insert_header(disposition(name))
        .insert_header((X_CONTENT_TYPE_OPTIONS, "nosniff"))
        .insert_header((CACHE_CONTROL, "no-store"))
        .no_chunking(size)
        .streaming(content.map_err(std::io::Error::other))
}

/// The name in ASCII, and as it is (RFC 6266).
fn disposition(name: &str) -> ContentDisposition {
    let name = safe_file_name(name);
    let ascii: String = name.chars().map(|character| if character.is_ascii() { character } else { '_' }).collect();
    let mut parameters = vec![DispositionParam::Filename(ascii.replace('%', "_"))];
    if !name.is_ascii() || name.contains('%') {
        let charset = Charset::Ext("UTF-8".to_owned());
        let value = ExtendedValue { charset, language_tag: None, value: name.into_bytes() };
        parameters.push(DispositionParam::FilenameExt(value));
    }
    ContentDisposition { disposition: DispositionType::Attachment, parameters }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decision P7.
    #[test]
    fn a_download_has_a_file_name_without_a_path() {
        for (name, expected) in [
            ("ISO Coated v2.icc", r#"attachment; filename="ISO Coated v2.icc""#),
            ("../../etc/passwd", r#"attachment; filename="_.._.._etc_passwd""#),
            ("a\"; x=\"b\r\nSet-Cookie: c", r#"attachment; filename="a_; x=_b__Set-Cookie_ c""#),
            ("Größe.icc", "attachment; filename=\"Gr__e.icc\"; filename*=UTF-8''Gr%C3%B6%C3%9Fe.icc"),
            ("100%41", "attachment; filename=\"100_41\"; filename*=UTF-8''100%2541"),
            ("", r#"attachment; filename="_""#),
        ] {
            assert_eq!(disposition(name).to_string(), expected);
        }
    }
}
