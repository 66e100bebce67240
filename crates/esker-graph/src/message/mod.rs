//! Messages for people, in which settings and operations are facts and not words of one interface.
//!
//! A library knows neither the command line nor Python. Where a message says what to do, it names a
//! [`Setting`] or an [`Operation`] with what it is given. The command renders `--ids text`, Python
//! `ids='text'`, from the same message; `Display` has the words of the library.
//!
//! ```
//! use esker_graph::{Setting, message};
//!
//! let name = "colour";
//! let said = message![
//!     format!("the weight column {name:?} does not hold numbers: name another with "), Setting::Weight,
//!     ", or none with ", Setting::Weight.to(false),
//! ];
//! let neutral = said.to_string();
//! assert!(neutral.ends_with("hold numbers: name another with `weight`, or none with `weight = false`"));
//! ```

mod setting;
mod operation;

use std::fmt;

pub use operation::{Call, Operation};
pub use setting::{AlgorithmOption, Assignment, Setting, SettingValue};

/// A sentence, or a few, for people. A plain string is a message too.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub struct Message {
    parts: Vec<MessagePart>,
}

/// A part of a [`Message`].
#[derive(Debug, Clone, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum MessagePart {
    /// Text that is the same in every interface.
    Text(String),
    /// A setting.
    Setting(Assignment),
    /// An option of an algorithm.
    Option(AlgorithmOption),
    /// An operation.
    Operation(Call),
}

/// The words of one interface.
pub trait Language {
    /// A setting, as in `--ids text`.
    fn setting(&self, setting: &Assignment) -> String;

    /// An option of an algorithm, as in `--max-depth`.
    fn option(&self, option: &AlgorithmOption) -> String;

    /// An operation, as in `` `esker compact` ``.
    fn operation(&self, call: &Call) -> String;
}

impl Message {
    /// Its parts, in order.
    pub fn parts(&self) -> &[MessagePart] {
        &self.parts
    }

    /// This message, followed by more of it.
    #[must_use]
    pub fn and(mut self, more: impl Into<Self>) -> Self {
        for part in more.into().parts {
            match (self.parts.last_mut(), part) {
                (Some(MessagePart::Text(text)), MessagePart::Text(more)) => text.push_str(&more),
                (_, part) => self.parts.push(part),
            }
        }
        self
    }

    /// The message in the words of an interface.
    pub fn render(&self, language: &dyn Language) -> String {
        let words = self.parts.iter().map(|part| match part {
            MessagePart::Text(text) => text.clone(),
            MessagePart::Setting(setting) => language.setting(setting),
            MessagePart::Option(option) => language.option(option),
            MessagePart::Operation(call) => language.operation(call),
        });
        words.collect()
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The settings that it names.
    pub fn settings(&self) -> impl Iterator<Item = Setting> {
        self.parts.iter().filter_map(|part| match part {
            MessagePart::Setting(named) => Some(named.setting),
            MessagePart::Text(_) | MessagePart::Option(_) | MessagePart::Operation(_) => None,
        })
    }

    /// Messages one after another, with a text between each two.
    pub fn join(messages: impl IntoIterator<Item = Self>, between: &str) -> Self {
        let joined = messages.into_iter().reduce(|all, next| all.and(between).and(next));
        joined.unwrap_or_default()
    }
}

/// A [`Message`] of its parts: texts, settings, operations and other messages.
#[macro_export]
macro_rules! message {
    ($($part:expr),+ $(,)?) => {
        $crate::message::Message::default()$(.and($part))+
    };
}

/// The words of the library itself.
struct Neutral;

impl Language for Neutral {
    fn setting(&self, setting: &Assignment) -> String {
        format!("`{setting}`")
    }

    fn option(&self, option: &AlgorithmOption) -> String {
        format!("`{option}`")
    }

    fn operation(&self, call: &Call) -> String {
        format!("`{call}`")
    }
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.render(&Neutral))
    }
}

impl From<String> for Message {
    fn from(text: String) -> Self {
        let parts = if text.is_empty() { Vec::new() } else { vec![MessagePart::Text(text)] };
        Self { parts }
    }
}

impl From<&str> for Message {
    fn from(text: &str) -> Self {
        Self::from(text.to_owned())
    }
}

impl From<&String> for Message {
    fn from(text: &String) -> Self {
        Self::from(text.clone())
    }
}

impl From<&Message> for Message {
    fn from(message: &Message) -> Self {
        message.clone()
    }
}

impl From<MessagePart> for Message {
    fn from(part: MessagePart) -> Self {
        Self { parts: vec![part] }
    }
}

impl From<Setting> for Message {
    fn from(setting: Setting) -> Self {
        Assignment::from(setting).into()
    }
}

impl From<Assignment> for Message {
    fn from(setting: Assignment) -> Self {
        MessagePart::Setting(setting).into()
    }
}

impl From<AlgorithmOption> for Message {
    fn from(option: AlgorithmOption) -> Self {
        MessagePart::Option(option).into()
    }
}

impl From<Operation> for Message {
    fn from(operation: Operation) -> Self {
        Call::from(operation).into()
    }
}

impl From<Call> for Message {
    fn from(call: Call) -> Self {
        MessagePart::Operation(call).into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of some interface.
    struct Loud;

    impl Language for Loud {
        fn setting(&self, setting: &Assignment) -> String {
            setting.to_string().to_uppercase()
        }

        fn option(&self, option: &AlgorithmOption) -> String {
            option.to_string().to_uppercase()
        }

        fn operation(&self, call: &Call) -> String {
            call.to_string().to_uppercase()
        }
    }

    #[test]
    fn an_interface_renders_settings_and_operations_and_no_other_text() {
        let call = Operation::Forget.on("web.esker").on(7).with(Setting::Heads.to_some("LENGTH"));
        let said =
            message!["undo it with ", call, " or ", Setting::Header.to(true), String::new(), "; quiet"];
        assert_eq!(
            said.render(&Loud),
            "undo it with FORGET WEB.ESKER 7 (HEADS = LENGTH) or HEADER = TRUE; quiet"
        );
        assert_eq!(
            said.to_string(),
            "undo it with `forget web.esker 7 (heads = LENGTH)` or `header = true`; quiet"
        );
        assert_eq!(said.settings().collect::<Vec<_>>(), [Setting::Header]);
    }

    #[test]
    fn texts_join_and_names_lead_back() {
        let both = message!["a", "b", Message::from("c")];
        assert_eq!(both, Message::from("abc"));
        assert!(message![""].is_empty());
        assert_eq!(Message::join([both.clone(), both], ", ").to_string(), "abc, abc");
        for setting in Setting::ALL {
            assert_eq!(Setting::of_tag(setting.tag()), Some(*setting));
        }
        for operation in Operation::ALL {
            assert_eq!(Operation::of_words(operation.words()), Some(*operation));
        }
    }
}
