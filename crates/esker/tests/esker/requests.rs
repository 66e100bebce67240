//! Requests to every algorithm, made from the catalogue: with its defaults, with each flag, and with each
//! value of each choice.

use esker::catalogue::{CATALOGUE, Entry, OptDefault, OptKind, Params};

/// An algorithm and its options.
pub(crate) struct Request {
    pub(crate) entry: &'static Entry,
    pub(crate) params: Params,
    /// The flag or the value that differs from the defaults; empty if none does.
    pub(crate) variant: &'static str,
}

/// The required options of an algorithm; each names a vertex.
pub(crate) fn required(entry: &Entry, source: &str) -> Params {
    let required = entry.options.iter().filter(|option| option.required);
    required.fold(Params::default(), |params, option| params.with(option.name, source))
}

/// All requests, from one source.
pub(crate) fn requests(source: &str) -> Vec<Request> {
    let mut requests = Vec::new();
    for entry in CATALOGUE {
        let base = required(entry, source);
        requests.push(Request { entry, params: base.clone(), variant: "" });
        for option in entry.options {
            let mut vary = |value: &str, variant| {
                let params = base.clone().with(option.name, value);
                requests.push(Request { entry, params, variant });
            };
            match option.kind {
                OptKind::Flag => vary("true", option.name),
                OptKind::Choice(names) => names
                    .iter()
                    .filter(|name| option.default != OptDefault::Value(name))
                    .for_each(|name| vary(name, name)),
                OptKind::Vertex if !option.required => vary(source, option.name),
                _ => {}
            }
        }
    }
    requests
}
