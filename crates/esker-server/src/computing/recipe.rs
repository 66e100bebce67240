//! How to repeat a run elsewhere: as a command, and in Python.

use super::algorithms::Wanted;
use crate::selecting::Chosen;
use crate::served::Served;
use esker::catalogue::{Opt, OptKind};

/// The command that computes the same.
pub(crate) fn command(served: &Served, wanted: &Wanted, chosen: &Chosen<'_>) -> String {
    let mut words =
        vec!["esker".to_owned(), "run".to_owned(), wanted.entry.name.to_owned(), quoted(&served.name())];
    for (name, value) in chosen.of_command() {
        words.push(format!("--{name}"));
        words.extend(value.map(|value| quoted(&value)));
    }
    words.extend(wanted.weight.iter().flat_map(|weight| ["--weight".to_owned(), quoted(weight)]));
    for (option, value) in given(wanted) {
        words.push(format!("--{}", option.name));
        words.extend((option.kind != OptKind::Flag).then(|| quoted(value)));
    }
    words.join(" ")
}

/// The expression of Python that computes the same.
pub(crate) fn python(served: &Served, wanted: &Wanted, chosen: &Chosen<'_>) -> String {
    let graph = chosen.of_python();
    let name = text(&served.name());
    let options = given(wanted).map(|(option, value)| {
        let value = match option.kind {
            OptKind::Flag => "True".to_owned(),
            OptKind::Integer | OptKind::Float if value.parse::<f64>().is_ok() => value.to_owned(),
            _ => text(value),
        };
        (option.name.replace('-', "_"), value)
    });
    let mut arguments: Vec<(String, Vec<String>)> = Vec::new();
    for (name, value) in options {
        match arguments.last_mut() {
            Some((last, values)) if *last == name => values.push(value),
            _ => arguments.push((name, vec![value])),
        }
    }
    let arguments = arguments.into_iter().map(|(name, values)| match &values[..] {
        [one] => format!("{name}={one}"),
        several => format!("{name}=[{}]", several.join(", ")),
    });
    let weight = wanted.weight.iter().map(|weight| format!("weight={}", text(weight)));
    let arguments: Vec<String> = arguments.chain(weight).collect();
    let algorithm = wanted.entry.name.replace('-', "_");
    format!("esker.open({name}){graph}.{algorithm}({})", arguments.join(", "))
}

/// The options that were given, with each of their values.
fn given(wanted: &Wanted) -> impl Iterator<Item = (&'static Opt, &str)> {
    let options = wanted.entry.options.iter();
    options
        .flat_map(|option| wanted.params.all(option.name).iter().map(move |value| (option, value.as_str())))
}

/// One word of a command.
fn quoted(word: &str) -> String {
    let is_plain = |sign: char| sign.is_alphanumeric() || "_-.:/@%+=,".contains(sign);
    match !word.is_empty() && word.chars().all(is_plain) {
        true => word.to_owned(),
        false => format!("'{}'", word.replace('\'', "'\\''")),
    }
}

/// A text in Python. The escapes of JSON are those of Python too.
pub(crate) fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

impl Chosen<'_> {
    /// The options of the command, without dashes, and their values.
    fn of_command(&self) -> Vec<(&'static str, Option<String>)> {
        let mut options = vec![("at", Some(self.version.to_string()))];
        options.extend(self.conditions.iter().map(|condition| ("where", Some(condition.to_string()))));
        options.extend(self.kinds.iter().map(|kind| ("kind", Some(in_list(kind)))));
        options.extend(self.reversed.then_some(("reverse", None)));
        options.extend(self.undirected.then_some(("as-undirected", None)));
        options
    }

    /// The graph in Python.
    fn of_python(&self) -> String {
        let mut graph = format!(".graph({})", self.version);
        graph += if self.reversed { ".reverse()" } else { "" };
        graph += if self.undirected { ".undirected()" } else { "" };
        let list = |texts: Vec<String>| texts.iter().map(|one| text(one)).collect::<Vec<_>>().join(", ");
        if !self.kinds.is_empty() {
            graph += &format!(".of_kinds({})", list(self.kinds.to_vec()));
        }
        if !self.conditions.is_empty() {
            graph += &format!(".where({})", list(self.conditions.clone()));
        }
        graph
    }
}

/// A kind in a list that commas divide.
fn in_list(kind: &str) -> String {
    match kind.contains([',', '"']) {
        true => format!("\"{}\"", kind.replace('"', "\"\"")),
        false => kind.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{in_list, quoted, text};

    #[test]
    fn words_and_texts_stay_what_they_are() {
        assert_eq!((quoted("web.esker").as_str(), quoted("a b's").as_str()), ("web.esker", "'a b'\\''s'"));
        assert_eq!(
            (text("a\"b\n").as_str(), in_list("a,\"b\"").as_str()),
            ("\"a\\\"b\\n\"", "\"a,\"\"b\"\"\"")
        );
    }
}
