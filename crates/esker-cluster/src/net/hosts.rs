//! The machines on which the shards of a cluster lie: one line for each shard.

use std::fmt;
use std::net::{SocketAddr, ToSocketAddrs};

use esker_format::{Error, Result};

/// The port of a host that names none.
pub const HOST_PORT: u16 = 7411;
/// The file in the directory of a cluster that names its hosts.
pub(crate) const HOSTS_NAME: &str = "HOSTS";

/// Where a shard lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Host {
    /// Name or address, and port.
    address: String,
    /// The directory of the shard there, below that of the worker.
    pub directory: String,
}

impl fmt::Display for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.address)
    }
}

impl Host {
    /// The addresses behind the name.
    ///
    /// # Errors
    /// [`Error::Invalid`] if there is none.
    pub(crate) fn addresses(&self) -> Result<Vec<SocketAddr>> {
        let unknown = |reason: String| Error::invalid(format!("cannot find the host {self}: {reason}"));
        let found: Vec<_> =
            self.address.to_socket_addrs().map_err(|error| unknown(error.to_string()))?.collect();
        if found.is_empty() { Err(unknown("its name has no address".to_owned())) } else { Ok(found) }
    }
}

/// The machines of a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hosts {
    /// Where each shard lies.
    pub list: Vec<Host>,
    /// Whether connections are encrypted.
    pub is_encrypting: bool,
}

/// A line of a list of hosts that says that connections are encrypted. A host of that name is written with
/// its port.
const ENCRYPTING: &str = "tls";

/// Writes a list of hosts for [`parse_hosts`].
pub(crate) fn list_of_hosts(hosts: &[Host], is_encrypting: bool) -> String {
    let first = if is_encrypting { format!("{ENCRYPTING}\n") } else { String::new() };
    let lines = hosts.iter().map(|host| format!("{host} {}\n", host.directory));
    std::iter::once(first).chain(lines).collect()
}

/// Reads a list of hosts, whose line number s says where shard s lies: name or address, a port after a colon
/// ([`HOST_PORT`]), and the directory of the shard there (`NAME/shard-s`, of the cluster `name`). Blank lines
/// and what follows `#` are left out. The line `tls` has connections encrypted.
///
/// # Errors
/// [`Error::Usage`] with the line that is wrong, for an empty list, and for two shards in one place.
pub fn parse_hosts(file: &str, text: &str, name: &str) -> Result<Hosts> {
    let (mut hosts, mut is_encrypting): (Vec<Host>, _) = (Vec::new(), false);
    for (number, line) in text.lines().enumerate() {
        let line = line.split('#').next().unwrap_or_default();
        let mut words = line.split_whitespace();
        let Some(address) = words.next() else { continue };
        if line.trim() == ENCRYPTING {
            is_encrypting = true;
            continue;
        }
        let wrong = |reason: String| Error::usage(format!("{file}, line {}: {reason}", number + 1));
        if looks_like_encrypting(address) {
            return Err(wrong(format!(
                "{address:?} is no host: connections are encrypted by a line that is only {ENCRYPTING:?}, and a host of that name is written \
                 with its port, as in {ENCRYPTING}:{HOST_PORT}"
            )));
        }
        let directory = words.next().map_or_else(|| format!("{name}/shard-{}", hosts.len()), str::to_owned);
        if let Some(more) = words.next() {
            return Err(wrong(format!("a line has a host and a directory, not also {more:?}")));
        }
        let host = Host { address: with_port(address).map_err(wrong)?, directory };
        if hosts.contains(&host) {
            return Err(wrong(format!("{host} has two shards in {}", host.directory)));
        }
        hosts.push(host);
    }
    if hosts.is_empty() {
        return Err(Error::usage(format!("{file} names no host: write one a line, a shard each")));
    }
    Ok(Hosts { list: hosts, is_encrypting })
}

/// Whether a word may stand for the line that has connections encrypted. If it were taken for a host, the
/// secret would be sent as it is.
fn looks_like_encrypting(word: &str) -> bool {
    let name = word.split(['=', ':']).next().unwrap_or_default();
    let has_port = word.rsplit_once(':').is_some_and(|(_, port)| !port.is_empty());
    let name = name.trim_matches(|other: char| !other.is_ascii_alphanumeric());
    name.eq_ignore_ascii_case(ENCRYPTING) && !has_port
}

/// An address with its port. One of version 6 with a port is in brackets.
fn with_port(address: &str) -> std::result::Result<String, String> {
    if address.parse::<std::net::Ipv6Addr>().is_ok() {
        return Ok(format!("[{address}]:{HOST_PORT}"));
    }
    let has_port = address.rsplit_once(':').filter(|(_, port)| !port.ends_with(']'));
    match has_port {
        None => Ok(format!("{address}:{HOST_PORT}")),
        Some((name, port)) if !name.is_empty() && port.parse::<u16>().is_ok_and(|port| port > 0) => {
            Ok(address.to_owned())
        }
        Some(_) => Err(format!("{address:?} is no name or address with a port, such as node1:{HOST_PORT}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_have_usual_ports_and_directories_and_wrong_lines_are_named() {
        let text = "# the rack\nnode1\n\n10.0.0.2:7000 data/s1 # the big one\n::1\n[::1]:9 x\n";
        let Hosts { list: hosts, is_encrypting } = parse_hosts("f", text, "web.cluster").expect("hosts");
        assert!(!is_encrypting);
        let encrypted = format!(" tls # all\n{text}");
        let encrypted = parse_hosts("f", &encrypted, "web.cluster").expect("hosts");
        assert_eq!(encrypted, Hosts { list: hosts.clone(), is_encrypting: true });
        let again = parse_hosts("f", &list_of_hosts(&hosts, true), "another").expect("hosts");
        assert_eq!(again, encrypted);
        let named = parse_hosts("f", "tls:7411\ntls:7412 x\ntls.org\n", "c").expect("hosts of that name");
        assert_eq!((named.list.len(), named.is_encrypting), (3, false));
        let found: Vec<_> = hosts.iter().map(|host| (host.to_string(), host.directory.clone())).collect();
        let expected = [
            ("node1:7411", "web.cluster/shard-0"),
            ("10.0.0.2:7000", "data/s1"),
            ("[::1]:7411", "web.cluster/shard-2"),
            ("[::1]:9", "x"),
        ];
        assert_eq!(found, expected.map(|(host, directory)| (host.to_owned(), directory.to_owned())));
        for (text, reason) in [
            ("\n# none\n", "names no host"),
            ("a\nb:x", "line 2: \"b:x\" is no name or address with a port"),
            ("a:0", "is no name"),
            (
                "a\nTLS",
                "line 2: \"TLS\" is no host: connections are encrypted by a line that is only \"tls\"",
            ),
            ("--tls\na", "line 1: \"--tls\" is no host"),
            ("tls=yes", "is no host"),
            ("[tls]", "is no host"),
            ("tls yes", "is no host"),
            ("tls:", "is no host"),
            ("a b c", "not also \"c\""),
            ("a s\na:7411 s", "line 2: a:7411 has two shards in s"),
        ] {
            let message = parse_hosts("f", text, "c").expect_err(text).to_string();
            assert!(message.contains(reason), "{message}");
        }
        assert_eq!(hosts[1].addresses().expect("an address"), ["10.0.0.2:7000".parse().expect("one")]);
    }
}
