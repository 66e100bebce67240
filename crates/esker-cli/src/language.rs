//! The words of the command line for settings and operations that messages of the library name.

use std::borrow::Cow;

use esker::graph::{AlgorithmOption, Assignment, Call, Language, Message, Setting, SettingValue};

/// Options and verbs of `esker`.
pub(crate) struct CommandLine;

/// A message of the library, as the command says it.
pub(crate) fn said(message: &Message) -> String {
    message.render(&CommandLine)
}

impl Language for CommandLine {
    fn setting(&self, Assignment { setting, value }: &Assignment) -> String {
        let name = option_name(*setting);
        match (setting, value) {
            (Setting::VertexNumbers, _) => "--ids numbers".to_owned(),
            (Setting::Default, Some(SettingValue::Typed { name: property, kind })) => {
                format!("--default {property}={kind}")
            }
            (Setting::DecimalComma, Some(SettingValue::Flag(false))) => "--decimal-comma=false".to_owned(),
            (Setting::Quotes, Some(SettingValue::Flag(true))) => "--no-quotes=false".to_owned(),
            (Setting::Directed, Some(SettingValue::Flag(false))) => "--undirected".to_owned(),
            // One verb has it, and others say so too.
            (Setting::Define, Some(value)) => format!("`esker add --define {value}`"),
            (_, None | Some(SettingValue::Flag(true))) => format!("--{name}"),
            (_, Some(SettingValue::Flag(false))) => format!("--no-{name}"),
            (_, Some(SettingValue::Name(column))) => format!("--{name} {}", quoted(column)),
            (Setting::DateFormat | Setting::Where, Some(SettingValue::Word(word))) => {
                format!("--{name} {}", quoted(word))
            }
            (_, Some(value)) => format!("--{name} {value}"),
        }
    }

    fn option(&self, AlgorithmOption { name, value }: &AlgorithmOption) -> String {
        match value {
            None => format!("--{name}"),
            Some(value) => format!("--{name} {value}"),
        }
    }

    fn operation(&self, call: &Call) -> String {
        format!("`{}`", self.command(call))
    }
}

impl CommandLine {
    /// The command of an operation, as in `esker compact --encoding tiles`.
    pub(crate) fn command(&self, call: &Call) -> String {
        let mut words = vec!["esker".to_owned(), call.operation.words().to_owned()];
        words.extend(call.objects.iter().cloned());
        words.extend(call.settings.iter().map(|setting| self.setting(setting)));
        words.join(" ")
    }
}

/// A name from the data as one word of a command.
fn quoted(name: &str) -> Cow<'_, str> {
    let is_plain = |sign: char| sign.is_alphanumeric() || "_-.:/@%+=,".contains(sign);
    match !name.is_empty() && name.chars().all(is_plain) {
        true => Cow::Borrowed(name),
        false => Cow::Owned(format!("'{}'", name.replace('\'', "'\\''"))),
    }
}

/// The option of a setting, without its dashes.
fn option_name(setting: Setting) -> String {
    match setting {
        Setting::SourceColumn => "src".to_owned(),
        Setting::TargetColumn => "dst".to_owned(),
        Setting::StreamName => "source".to_owned(),
        Setting::AddMissing => "new".to_owned(),
        Setting::Replace | Setting::Overwrite => "force".to_owned(),
        Setting::BatchEdges => "batch".to_owned(),
        // The library has the word of the command.
        other => other.word().replace('_', "-"),
    }
}

#[cfg(test)]
mod tests {
    use esker::graph::{Operation, message};

    use super::*;

    #[test]
    fn settings_are_options_and_operations_are_commands() {
        let options = [
            (Setting::SourceColumn.into(), "--src"),
            (Setting::BadLines.to("skip"), "--bad-lines skip"),
            (Setting::SourceColumn.to_name("id.orig_h"), "--src id.orig_h"),
            (Setting::SourceColumn.to_name("From Bank"), "--src 'From Bank'"),
            (Setting::Weight.to(false), "--no-weight"),
            (Setting::DecimalComma.to(false), "--decimal-comma=false"),
            (Setting::Quotes.to(false), "--no-quotes"),
            (Setting::Quotes.to(true), "--no-quotes=false"),
            (Setting::DateFormat.to("%d.%m.%Y %H:%M"), "--date-format '%d.%m.%Y %H:%M'"),
            (Setting::DateFormat.to("at=%d.%m.%Y"), "--date-format at=%d.%m.%Y"),
            (Setting::Header.to(true), "--header"),
            (Setting::Directed.to(false), "--undirected"),
            (Setting::Directed.to(true), "--directed"),
            (Setting::Schema.to_type("age", "u64"), "--schema age:u64"),
            (Setting::Vertices.to_some("FILE"), "--vertices FILE"),
            (Setting::VertexNumbers.into(), "--ids numbers"),
        ];
        for (setting, option) in options {
            assert_eq!(CommandLine.setting(&setting), option);
        }
        let call = Operation::Compact.with(Setting::Encoding.to("tiles"));
        assert_eq!(said(&message!["run ", call]), "run `esker compact --encoding tiles`");
        let undo = Operation::Forget.on("web.esker").on(7);
        assert_eq!(CommandLine.operation(&undo), "`esker forget web.esker 7`");
    }
}
