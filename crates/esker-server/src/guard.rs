//! Who may ask: the hosts and origins of requests, the token and the cookie.
//!
//! A page of another site that a browser shows can send requests to this server, and by rebinding the name of
//! its host to this machine it could read the answers. So each request must name this host, and say no other
//! origin; questions need a cookie that only the page that knows the token gets.

use std::hint::black_box;
use std::net::{IpAddr, SocketAddr};

use axum::http::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, COOKIE, HOST, ORIGIN, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, Uri};

use crate::failure::{Failure, Outcome};

/// Everything comes from this server, and no other page may hold this one in a frame.
const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";
/// The port that links need not name.
const HTTP_PORT: &str = "80";
/// Where all questions begin.
pub(crate) const API: &str = "/api/";

/// The guard of one server.
pub(crate) struct Guard {
    address: SocketAddr,
    token: String,
    /// What the cookie holds: another secret, so that neither serves for the other.
    session: String,
}

impl Guard {
    /// A guard with new secrets.
    pub(crate) fn new(address: SocketAddr) -> std::io::Result<Self> {
        Ok(Self { address, token: secret()?, session: secret()? })
    }

    /// The token of the link.
    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// Refuses a request that another host or site was asked for.
    pub(crate) fn check_source(&self, headers: &HeaderMap, uri: &Uri) -> Outcome<()> {
        let mut hosts = headers.get_all(HOST).iter();
        let host = hosts.next().and_then(|host| host.to_str().ok()).filter(|_| hosts.next().is_none());
        let is_same = |authority: &str| host == Some(authority);
        let Some(host) = host.filter(|host| self.is_own(host)) else {
            return Err(misdirected());
        };
        if !uri.authority().is_none_or(|authority| is_same(authority.as_str())) {
            return Err(misdirected());
        }
        let mut origins = headers.get_all(ORIGIN).iter();
        let own = format!("http://{host}");
        let is_foreign = origins.any(|origin| origin.as_bytes() != own.as_bytes());
        let site = headers.get("sec-fetch-site").map(HeaderValue::as_bytes);
        let is_of_other_site =
            uri.path().starts_with(API) && site.is_some_and(|site| !matches!(site, b"same-origin" | b"none"));
        if is_foreign || is_of_other_site {
            let message = "another site asked: only the page of this server may";
            return Err(Failure::refused(StatusCode::FORBIDDEN, "origin", message));
        }
        Ok(())
    }

    /// Whether a host is this server: the address that it listens on, or a name of the loopback.
    fn is_own(&self, host: &str) -> bool {
        let port = self.address.port().to_string();
        // Clients leave out the port of HTTP.
        let name = match host.rsplit_once(':') {
            Some((name, given)) if given == port => name,
            _ if port == HTTP_PORT => host,
            _ => return false,
        };
        let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(name);
        let own = self.address.ip();
        match bare.parse::<IpAddr>() {
            // An address cannot be rebound.
            Ok(address) => {
                address == own || own.is_unspecified() || (own.is_loopback() && address.is_loopback())
            }
            Err(_) => name.eq_ignore_ascii_case("localhost") && (own.is_loopback() || own.is_unspecified()),
        }
    }

    /// Refuses a question without the cookie of a session.
    pub(crate) fn check_session(&self, headers: &HeaderMap) -> Outcome<()> {
        let name = self.cookie_name();
        let cookies = headers.get_all(COOKIE).iter().filter_map(|value| value.to_str().ok());
        let mut pairs =
            cookies.flat_map(|value| value.split(';')).filter_map(|pair| pair.trim().split_once('='));
        match pairs.any(|(given, value)| given == name && is_equal(value, &self.session)) {
            true => Ok(()),
            false => {
                let message = "this needs a session: open the link that the command printed";
                Err(Failure::refused(StatusCode::UNAUTHORIZED, "session", message))
            }
        }
    }

    /// The cookie for a client that knows the token.
    pub(crate) fn open_session(&self, token: &str) -> Outcome<String> {
        if !is_equal(token, &self.token) {
            let message = "this is not the token of this server: open the link that the command printed";
            return Err(Failure::refused(StatusCode::UNAUTHORIZED, "token", message));
        }
        Ok(format!("{}={}; HttpOnly; SameSite=Strict; Path=/", self.cookie_name(), self.session))
    }

    /// Cookies are shared by all ports of a host, so the name has the port.
    fn cookie_name(&self) -> String {
        format!("esker-{}", self.address.port())
    }
}

fn misdirected() -> Failure {
    let message = "this server is asked for under another name than its address";
    Failure::refused(StatusCode::MISDIRECTED_REQUEST, "host", message)
}

/// Adds to each response what browsers are told.
pub(crate) fn harden(headers: &mut HeaderMap) {
    let told: [(HeaderName, &'static str); 5] = [
        (CONTENT_SECURITY_POLICY, POLICY),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        (REFERRER_POLICY, "no-referrer"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        (HeaderName::from_static("x-frame-options"), "DENY"),
    ];
    for (name, value) in told {
        headers.insert(name, HeaderValue::from_static(value));
    }
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
}

/// 128 random bits as text.
fn secret() -> std::io::Result<String> {
    let mut bytes = [0; 16];
    getrandom::fill(&mut bytes).map_err(std::io::Error::other)?;
    Ok(bytes.iter().map(|byte| format!("{byte:02x}")).collect())
}

/// Compares in a time that depends on the lengths alone.
fn is_equal(given: &str, secret: &str) -> bool {
    let pairs = given.bytes().zip(secret.bytes());
    let differences = pairs.fold(0, |differences, (a, b)| black_box(differences | (a ^ b)));
    given.len() == secret.len() && differences == 0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn guard(address: &str) -> Guard {
        Guard::new(address.parse().expect("an address")).expect("secrets")
    }

    #[test]
    fn hosts_are_addresses_of_this_server_with_its_port() {
        let local = guard("127.0.0.1:8080");
        for own in ["127.0.0.1:8080", "localhost:8080", "LOCALHOST:8080", "[::1]:8080"] {
            assert!(local.is_own(own), "{own}");
        }
        for other in
            ["127.0.0.1", "127.0.0.1:8081", "evil.example:8080", "10.0.0.1:8080", "localhost.evil:8080", ""]
        {
            assert!(!local.is_own(other), "{other}");
        }
        let usual = guard("127.0.0.1:80");
        for own in ["127.0.0.1", "127.0.0.1:80", "localhost", "[::1]", "[::1]:80"] {
            assert!(usual.is_own(own), "{own}");
        }
        assert!(!usual.is_own("evil.example") && !usual.is_own("127.0.0.1:81") && !usual.is_own(""));
        let wide = guard("0.0.0.0:8080");
        assert!(
            wide.is_own("10.0.0.1:8080")
                && wide.is_own("localhost:8080")
                && !wide.is_own("evil.example:8080")
        );
        let one = guard("10.0.0.1:8080");
        assert!(one.is_own("10.0.0.1:8080") && !one.is_own("10.0.0.2:8080") && !one.is_own("localhost:8080"));
    }

    #[test]
    fn secrets_differ_and_do_not_stand_for_each_other() {
        let one = guard("127.0.0.1:8080");
        assert_eq!(one.token.len(), 32);
        assert!(one.token != one.session && one.token != guard("127.0.0.1:8080").token);
        assert!(one.open_session(&one.session).is_err() && one.open_session("").is_err());
        let cookie = one.open_session(&one.token).expect("a cookie");
        let headers =
            |value: &str| HeaderMap::from_iter([(COOKIE, HeaderValue::from_str(value).expect("a value"))]);
        let pair = cookie.split(';').next().expect("a pair");
        assert!(one.check_session(&headers(&format!("a=b; {pair}"))).is_ok());
        assert!(one.check_session(&headers(&format!("esker-8080={}", one.token))).is_err());
        assert!(one.check_session(&headers("esker-8080=")).is_err());
    }
}
