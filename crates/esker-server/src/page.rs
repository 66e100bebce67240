//! The files of the page, compressed when they were built.

use axum::body::Body;
use axum::http::header::{CACHE_CONTROL, CONTENT_ENCODING, CONTENT_TYPE};
use axum::response::Response;

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
    /// The response with it.
    pub(crate) fn response(&self) -> Response {
        let response = Response::builder()
            .header(CONTENT_TYPE, self.media_type)
            .header(CONTENT_ENCODING, "gzip")
            .header(CACHE_CONTROL, "no-cache");
        response.body(Body::from(self.bytes)).unwrap_or_default()
    }
}
