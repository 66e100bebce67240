//! The files of the page, compressed when they were built.

use std::io::Read;

use axum::body::Body;
use axum::http::HeaderMap;
use axum::http::header::{ACCEPT_ENCODING, CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE, VARY};
use axum::response::Response;
use flate2::read::GzDecoder;

/// A file of the page.
pub(crate) struct PageFile {
    /// Where it is.
    pub(crate) path: &'static str,
    media_type: &'static str,
    /// Compressed by gzip, which all browsers read.
    bytes: &'static [u8],
}

/// All of them. `web/README.md` says how they are made.
pub(crate) const FILES: [PageFile; 3] = [
    PageFile {
        path: "/",
        media_type: "text/html; charset=utf-8",
        bytes: include_bytes!("dist/index.html.gz"),
    },
    PageFile {
        path: "/app.js",
        media_type: "text/javascript; charset=utf-8",
        bytes: include_bytes!("dist/app.js.gz"),
    },
    PageFile {
        path: "/app.css",
        media_type: "text/css; charset=utf-8",
        bytes: include_bytes!("dist/app.css.gz"),
    },
];

impl PageFile {
    /// The response with it, compressed for those who take that.
    pub(crate) fn response(&self, headers: &HeaderMap) -> Response {
        let response = Response::builder()
            .header(CONTENT_TYPE, self.media_type)
            .header(CACHE_CONTROL, "no-cache")
            .header(VARY, "accept-encoding");
        let built = match takes_gzip(headers) {
            true => response.header(CONTENT_ENCODING, "gzip").body(Body::from(self.bytes)),
            false => response.body(Body::from(self.plain())),
        };
        built.unwrap_or_default()
    }

    fn plain(&self) -> Vec<u8> {
        let mut plain = Vec::new();
        // A file of the program: the tests read each.
        let _ = GzDecoder::new(self.bytes).read_to_end(&mut plain);
        plain
    }
}

/// Whether a client takes what gzip compressed: one that says nothing takes all.
fn takes_gzip(headers: &HeaderMap) -> bool {
    let given: Vec<&str> =
        headers.get_all(ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok()).collect();
    if given.is_empty() {
        return true;
    }
    let weight_of = |wanted: &str| {
        let codings = given.iter().flat_map(|value| value.split(','));
        let mut parts = codings.map(|coding| coding.split(';').map(str::trim));
        let mut found = parts.find_map(|mut parts| {
            parts.next().is_some_and(|name| name.eq_ignore_ascii_case(wanted)).then_some(parts)
        })?;
        let weight = found.find_map(|part| part.strip_prefix("q=").or_else(|| part.strip_prefix("Q=")));
        Some(weight.map_or(1.0, |weight| weight.parse::<f32>().unwrap_or(0.0)))
    };
    weight_of("gzip").or_else(|| weight_of("*")).is_some_and(|weight| weight > 0.0)
}

#[cfg(test)]
mod tests {
    use axum::http::HeaderValue;

    use super::*;

    #[test]
    fn files_are_compressed_for_those_who_take_gzip() {
        let takes = |value: &'static str| {
            takes_gzip(&HeaderMap::from_iter([(ACCEPT_ENCODING, HeaderValue::from_static(value))]))
        };
        for yes in ["gzip", "deflate, GZIP;q=0.5, br", "*", "gzip; q=0.001", "br, *;q=0.1"] {
            assert!(takes(yes), "{yes}");
        }
        for no in ["", "identity", "identity;q=1, gzip;q=0", "br, *;q=0", "*, gzip;q=0.0", "gzip;q=x"] {
            assert!(!takes(no), "{no}");
        }
        assert!(takes_gzip(&HeaderMap::new()));
        assert!(FILES.iter().all(|file| file.plain().len() > file.bytes.len()));
    }
}
