//! Refuses requests that a page in a browser could make.
//!
//! A page of another site reaches a server on this machine by its address, or by a name that the site's DNS points here
//! (DNS rebinding). The first sends its `Origin` with every POST, the second its own name as `Host`.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use anyhow::{Result, ensure};
use axum::extract::{Request, State};
use axum::http::header::{CONTENT_TYPE, HOST, ORIGIN};
use axum::http::uri::{Authority, Uri};
use axum::http::{HeaderMap, HeaderValue, Method};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use tower_http::cors::CorsLayer;

use super::failure::Failure;

/// Names of this machine that are always allowed.
const LOOPBACK: [&str; 3] = ["localhost", "127.0.0.1", "[::1]"];

/// Holds the hosts that requests may name, and the origins that they may come from.
#[derive(Debug, Clone)]
pub(super) struct AccessRules {
    hosts: Vec<String>,
    origins: Vec<HeaderValue>,
}

impl AccessRules {
    /// Allows the loopback names, the address `listen`, `hosts` and `origins`.
    ///
    /// # Errors
    /// Returns an error if one of `hosts` is no host, or one of `origins` no origin.
    pub(super) fn new(listen: SocketAddr, hosts: &[String], origins: &[String]) -> Result<Self> {
        let mut allowed: Vec<String> = LOOPBACK.map(str::to_owned).to_vec();
        match listen.ip() {
            // It is the address of no machine.
            ip if ip.is_unspecified() => {}
            IpAddr::V4(ip) => allowed.push(ip.to_string()),
            IpAddr::V6(ip) => allowed.push(format!("[{ip}]")),
        }
        for host in hosts {
            let name = host_name(host);
            ensure!(name.is_some(), "--allow-host: expected a name or an address, got \"{host}\"");
            allowed.extend(name);
        }
        Ok(Self { hosts: allowed, origins: origins.iter().map(|origin| parse_origin(origin)).collect::<Result<_>>()? })
    }

    /// Checks the host and the origin of a request.
    ///
    /// # Errors
    /// Returns [`Failure::Refused`] if the request has another number of hosts than one, or if its host or an origin is
    /// not allowed.
    fn check(&self, uri: &Uri, headers: &HeaderMap) -> Result<(), Failure> {
        let named: Vec<_> = headers.get_all(HOST).iter().map(|host| host.to_str().unwrap_or_default()).collect();
        let [host] = named.as_slice() else {
            return Err(Failure::Refused(format!("Host: expected one, got {}", named.len())));
        };
        for host in [*host].into_iter().chain(uri.authority().map(Authority::as_str)) {
            if !host_name(host).is_some_and(|host| self.hosts.contains(&host)) {
                return Err(Failure::Refused(format!("Host: expected this server's, got {host:?} (see --allow-host)")));
            }
        }
        match headers.get_all(ORIGIN).iter().find(|origin| !self.origins.contains(origin)) {
            None => Ok(()),
            Some(origin) => Err(Failure::Refused(format!(
                "Origin: expected none or an allowed one, got {origin:?} (--allow-origin)"
            ))),
        }
    }

    /// Returns the layer that tells browsers which origins may read answers.
    pub(super) fn cors(&self) -> CorsLayer {
        let layer = CorsLayer::new().allow_origin(self.origins.clone());
        layer.allow_methods([Method::GET, Method::POST]).allow_headers([CONTENT_TYPE]).allow_private_network(true)
    }
}

/// Passes an allowed `request` on.
pub(super) async fn check_access(State(rules): State<Arc<AccessRules>>, request: Request, next: Next) -> Response {
    match rules.check(request.uri(), request.headers()) {
        Ok(()) => next.run(request).await,
        Err(failure) => failure.into_response(),
    }
}

/// Returns the host of `authority` in lower case and without its port, or `None` if it names no host, or a user too.
fn host_name(authority: &str) -> Option<String> {
    let parsed: Authority = authority.parse().ok()?;
    (!authority.contains('@') && !parsed.host().is_empty()).then(|| parsed.host().to_ascii_lowercase())
}

fn parse_origin(origin: &str) -> Result<HeaderValue> {
    let uri = origin.parse::<Uri>().ok().filter(|uri| uri.scheme().is_some() && uri.authority().is_some());
    let is_origin = uri.is_some_and(|uri| uri.path() == "/" && uri.query().is_none()) && !origin.ends_with('/');
    ensure!(is_origin, "--allow-origin: expected one such as https://app.example, got \"{origin}\"");
    Ok(HeaderValue::from_str(&origin.to_ascii_lowercase())?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(listen: &str) -> AccessRules {
        let origins = ["https://App.example".to_owned()];
        AccessRules::new(listen.parse().expect("an address"), &["Prover.internal".to_owned()], &origins).expect("rules")
    }

    fn check(rules: &AccessRules, headers: &[(&'static str, &str)]) -> bool {
        let value = |value: &str| HeaderValue::from_str(value).expect("a value");
        let mut map = HeaderMap::new();
        for (name, text) in headers {
            map.append(*name, value(text));
        }
        rules.check(&Uri::from_static("/health"), &map).is_ok()
    }

    #[test]
    fn hosts_are_those_of_this_server() {
        let rules = rules("192.0.2.1:80");
        for host in ["localhost", "LOCALHOST:9", "127.0.0.1:80", "[::1]:80", "192.0.2.1", "prover.internal:443"] {
            assert!(check(&rules, &[("host", host)]), "{host}");
        }
        for host in ["", "evil.example", "localhost.evil.example", "x@localhost", "192.0.2.2", "0.0.0.0", "localhost."]
        {
            assert!(!check(&rules, &[("host", host)]), "{host}");
        }
        assert!(!check(&rules, &[]), "no host");
        assert!(!check(&rules, &[("host", "localhost"), ("host", "localhost")]), "two hosts");
        let mut map = HeaderMap::new();
        map.insert(HOST, HeaderValue::from_static("localhost"));
        assert!(rules.check(&Uri::from_static("http://evil.example/health"), &map).is_err(), "an absolute form");
        assert!(!check(&self::rules("0.0.0.0:80"), &[("host", "0.0.0.0")]), "the unspecified address is no host");
    }

    #[test]
    fn origins_are_allowed_ones() {
        let rules = rules("127.0.0.1:80");
        let origin = |origin| check(&rules, &[("host", "localhost"), ("origin", origin)]);
        assert!(origin("https://app.example"));
        for other in
            ["null", "http://app.example", "https://app.example:8443", "http://localhost", "https://evil.example"]
        {
            assert!(!origin(other), "{other}");
        }
        assert!(!check(&rules, &[("host", "localhost"), ("origin", "https://app.example"), ("origin", "null")]));
    }

    #[test]
    fn options_are_checked() {
        let listen: SocketAddr = "127.0.0.1:80".parse().expect("an address");
        for wrong in ["*", "app.example", "https://app.example/", "https://app.example/page", "null", ""] {
            assert!(AccessRules::new(listen, &[], &[wrong.to_owned()]).is_err(), "{wrong}");
        }
        for wrong in ["", "a b", "http://host/"] {
            assert!(AccessRules::new(listen, &[wrong.to_owned()], &[]).is_err(), "{wrong}");
        }
    }
}
