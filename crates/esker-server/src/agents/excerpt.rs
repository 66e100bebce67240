//! Answers within a number of bytes, which say how much of them is shown.

use serde_json::{Map, Value};

use super::tools::Advice;

/// Bytes of the greatest answer: what a model reads at once.
const BYTES_MAX: usize = 48 << 10;

/// An answer as text. Its longest lists are cut until it fits; `note` says so.
pub(super) fn excerpt(answer: Value, advice: &Advice) -> String {
    let Value::Object(mut members) = answer else { return answer.to_string() };
    let mut lengths: Vec<(String, usize)> = Vec::new();
    while length(&members) > BYTES_MAX {
        let lists = members.iter().filter_map(|(name, value)| Some((name, value.as_array()?)));
        let longest = lists.filter(|(_, list)| !list.is_empty()).max_by_key(|(_, list)| bytes(list));
        let Some((name, list)) = longest.map(|(name, list)| (name.clone(), list.len())) else { break };
        if !lengths.iter().any(|(known, _)| *known == name) {
            lengths.push((name.clone(), list));
        }
        if let Some(Value::Array(list)) = members.get_mut(&name) {
            list.truncate(list.len() / 2);
        }
    }
    let notes = notes(&mut members, &lengths, advice);
    if !notes.is_empty() {
        members.insert("note".to_owned(), notes.join("; ").into());
    }
    Value::Object(members).to_string()
}

fn bytes(list: &[Value]) -> usize {
    list.iter().map(|value| value.to_string().len()).sum()
}

fn length(members: &Map<String, Value>) -> usize {
    members.iter().map(|(name, value)| name.len() + value.to_string().len() + 4).sum()
}

/// What is left out: by the limit that was asked for, and by the number of bytes.
fn notes(members: &mut Map<String, Value>, cut: &[(String, usize)], advice: &Advice) -> Vec<String> {
    let left = |members: &Map<String, Value>, name: &str| members[name].as_array().map_or(0, Vec::len);
    let lost: usize = cut.iter().map(|(name, before)| before - left(members, name)).sum();
    let count = |name: &str| members.get(name).and_then(Value::as_u64).map(|count| count as usize);
    let (shown, found) = (count("shown").map(|shown| shown - lost.min(shown)), count("found"));
    if let Some(shown) = shown {
        members.insert("shown".to_owned(), shown.into());
    }
    match (shown, found) {
        (Some(shown), Some(found)) if shown < found => {
            vec![format!("{shown} of {found} shown{}", remedy(lost > 0, advice))]
        }
        (Some(_), Some(_)) => Vec::new(),
        _ => cut
            .iter()
            .map(|(name, before)| {
                format!("{} of {before} {name} shown: the answer would be too long", left(members, name))
            })
            .collect(),
    }
}

/// Why rows are missing, and how to get them.
fn remedy(is_too_long: bool, advice: &Advice) -> String {
    let more = advice.more.filter(|_| !is_too_long).map(|name| format!("ask for more by {name}"));
    let pages = advice.pages.then(|| "pass over these by offset".to_owned());
    let rows = advice.has_run.then(|| "ask `rows` for others".to_owned());
    let ways: Vec<String> = [more, pages, rows].into_iter().flatten().collect();
    let too_long = if is_too_long { ": the answer would be too long" } else { "" };
    match (is_too_long, ways.is_empty()) {
        (_, true) => too_long.to_owned(),
        (true, false) => format!("{too_long}; {}", ways.join(", or ")),
        (false, false) => format!(": {}", ways.join(", or ")),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(answer: Value) -> Value {
        let text = excerpt(answer, &Advice { more: Some("limit"), ..Advice::default() });
        assert!(text.len() < BYTES_MAX + 200, "{}", text.len());
        serde_json::from_str(&text).expect("JSON")
    }

    #[test]
    fn what_fits_is_whole() {
        let answer = json!({ "rows": [1, 2], "shown": 2, "found": 2 });
        assert_eq!(read(answer.clone()), answer);
        assert_eq!(
            read(json!({ "rows": [1], "shown": 1, "found": 9 }))["note"],
            "1 of 9 shown: ask for more by limit"
        );
        let few = || json!({ "rows": [1], "shown": 1, "found": 9 });
        for (advice, note) in [
            (Advice::default(), "1 of 9 shown"),
            (Advice { pages: true, ..Advice::default() }, "1 of 9 shown: pass over these by offset"),
            (
                Advice { more: Some("top"), has_run: true, pages: false },
                "1 of 9 shown: ask for more by top, or ask `rows` for others",
            ),
        ] {
            let read: Value = serde_json::from_str(&excerpt(few(), &advice)).expect("JSON");
            assert_eq!(read["note"], note);
        }
    }

    #[test]
    fn long_lists_are_cut_and_counted() {
        let rows = vec!["x".repeat(1000); 900];
        let cut = read(json!({ "rows": rows, "few": [1, 2], "shown": 902, "found": 2000 }));
        let left = cut["rows"].as_array().map_or(0, Vec::len);
        assert!(left > 10 && left < 60 && cut["few"] == json!([1, 2]), "{left}");
        assert_eq!(cut["shown"], left + 2);
        assert_eq!(cut["note"], format!("{} of 2000 shown: the answer would be too long", left + 2));
        let path = read(json!({ "length": 900, "vertices": rows }));
        let left = path["vertices"].as_array().map_or(0, Vec::len);
        assert_eq!(path["note"], format!("{left} of 900 vertices shown: the answer would be too long"));
    }
}
