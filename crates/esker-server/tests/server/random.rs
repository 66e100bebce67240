//! Random requests: none fails in the server, and no answer names a path.

use std::sync::OnceLock;

use proptest::prelude::*;

use crate::answers::hub;
use crate::client::Served;

static SERVED: OnceLock<Served> = OnceLock::new();

fn cases() -> u32 {
    std::env::var("ESKER_CASES").ok().and_then(|cases| cases.parse().ok()).unwrap_or(64) * 8
}

const ROUTES: &[&str] = &[
    "/database",
    "/versions",
    "/vertices",
    "/vertex",
    "/neighbors",
    "/scene",
    "/path",
    "/diff",
    "/window",
    "/algorithms",
    "/runs/1/rows",
    "/runs/1/histogram",
    "/runs/1/download",
    "/runs/9/rows",
];
const NAMES: &[&str] = &[
    "id",
    "ego",
    "from",
    "to",
    "prefix",
    "limit",
    "direction",
    "sort",
    "hops",
    "vertices",
    "layout",
    "rounds",
    "colour",
    "size",
    "weight",
    "max_steps",
    "avoid",
    "at",
    "window",
    "where",
    "kind",
    "reverse",
    "undirected",
    "steps",
    "column",
    "bins",
    "descending",
    "offset",
    "vertex",
    "format",
];
const VALUES: &[&str] = &[
    "hub",
    "leaf01",
    "tail2",
    "",
    "0",
    "1",
    "2",
    "-1",
    "18446744073709551615",
    "1e308",
    "true",
    "false",
    "both",
    "layers",
    "communities",
    "amount",
    "kind",
    "time",
    "rank",
    "degree",
    "latest",
    "2023-11-14",
    "1h",
    "1..2",
    "2..1",
    "..",
    "1700000000..1700000600",
    "amount > 3",
    "kind = 'call'",
    "amount in (1, 2)",
    "source.x = 1",
    "((",
    "call",
    "csv",
    "%00",
    "%ff",
    "%F0%9F%98%80",
    "../../etc/passwd",
    "9223372036854775807",
    "-9223372036854775808..9223372036854775807",
];

fn query() -> impl Strategy<Value = String> {
    let value =
        prop_oneof![4 => proptest::sample::select(VALUES).prop_map(str::to_owned), 1 => "[!-~]{0,12}"];
    let pair = (proptest::sample::select(NAMES), value).prop_map(|(name, value)| {
        let value = value.replace(['#', ' ', '&'], "%20");
        format!("{name}={value}")
    });
    proptest::collection::vec(pair, 0..5).prop_map(|pairs| pairs.join("&"))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: cases(), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_request_fails_in_the_server(route in proptest::sample::select(ROUTES), query in query()) {
        let served = SERVED.get_or_init(|| {
            let served = Served::of(&hub());
            served.run(r#"{"algorithm":"pagerank"}"#);
            served
        });
        let reply = served.get(&format!("{route}?{query}"));
        prop_assert!((200..500).contains(&reply.status), "{route}?{query}: {} {}", reply.status, reply.text());
        let directory = served.directory.path().display().to_string();
        prop_assert!(!reply.text().contains(&directory), "{route}?{query}: {}", reply.text());
    }

    #[test]
    fn no_body_fails_in_the_server(
        route in proptest::sample::select(&["/estimate", "/runs", "/subgraph", "/session"][..]),
        body in body(),
    ) {
        let served = SERVED.get_or_init(|| Served::of(&hub()));
        let reply = served.post(route, &body);
        prop_assert!((200..500).contains(&reply.status) || reply.status == 503, "{route} {body}: {reply:?}");
    }
}

fn body() -> impl Strategy<Value = String> {
    let member = proptest::sample::select(
        &[
            r#""algorithm":"pagerank""#,
            r#""algorithm":"bfs""#,
            r#""algorithm":"x""#,
            r#""algorithm":7"#,
            r#""options":{"damping":0.5}"#,
            r#""options":{"source":["hub","x"]}"#,
            r#""options":{"source":{}}"#,
            r#""options":[]"#,
            r#""selection":{"where":["amount > 1"]}"#,
            r#""selection":{"at":1,"reverse":true}"#,
            r#""selection":{"window":"1700000000..1700000600"}"#,
            r#""selection":{"at":[]}"#,
            r#""selection":7"#,
            r#""vertices":["hub","x"]"#,
            r#""vertices":[1]"#,
            r#""weight":"amount""#,
            r#""weight":1"#,
            r#""token":"x""#,
        ][..],
    );
    proptest::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")))
}
