//! Messages for people as they travel between processes: settings and operations stay what they are, and the
//! command that prints them has the words.

use esker_format::Result;
use esker_graph::{
    AlgorithmOption, Assignment, Call, Message, MessagePart, Operation, Setting, SettingValue,
};

use crate::net::wire::{Taker, put_bytes, unknown};

/// Appends a message.
pub(crate) fn put_message(out: &mut Vec<u8>, message: &Message) {
    put_count(out, message.parts().len());
    for part in message.parts() {
        match part {
            MessagePart::Text(text) => {
                out.push(0);
                put_bytes(out, text.as_bytes());
            }
            MessagePart::Setting(setting) => {
                out.push(1);
                put_setting(out, setting);
            }
            MessagePart::Option(AlgorithmOption { name, value }) => {
                out.push(2);
                put_bytes(out, name.as_bytes());
                out.push(u8::from(value.is_some()));
                put_bytes(out, value.as_deref().unwrap_or_default().as_bytes());
            }
            MessagePart::Operation(Call { operation, objects, settings }) => {
                out.push(3);
                put_bytes(out, operation.words().as_bytes());
                put_count(out, objects.len());
                objects.iter().for_each(|object| put_bytes(out, object.as_bytes()));
                put_count(out, settings.len());
                settings.iter().for_each(|setting| put_setting(out, setting));
            }
        }
    }
}

/// Takes a message.
///
/// # Errors
/// If it is none, as of another Esker.
pub(crate) fn take_message(taker: &mut Taker<'_>) -> Result<Message> {
    let mut message = Message::default();
    for _ in 0..taker.u32()? {
        message = match taker.bytes(1)?[0] {
            0 => message.and(taker.text()?),
            1 => message.and(take_setting(taker)?),
            2 => {
                let name = taker.text()?;
                let is_given = taker.bytes(1)?[0] != 0;
                let value = Some(taker.text()?).filter(|_| is_given);
                message.and(AlgorithmOption { name, value })
            }
            3 => {
                let operation = Operation::of_words(&taker.text()?).ok_or_else(|| unknown(3_u64))?;
                let objects = (0..taker.u32()?).map(|_| taker.text()).collect::<Result<_>>()?;
                let settings = (0..taker.u32()?).map(|_| take_setting(taker)).collect::<Result<_>>()?;
                message.and(Call { operation, objects, settings })
            }
            kind => return Err(unknown(kind)),
        };
    }
    Ok(message)
}

fn put_count(out: &mut Vec<u8>, count: usize) {
    out.extend_from_slice(&(count as u32).to_le_bytes());
}

fn put_setting(out: &mut Vec<u8>, Assignment { setting, value }: &Assignment) {
    put_bytes(out, setting.tag().as_bytes());
    let (kind, first, second) = match value {
        None => (0, String::new(), ""),
        Some(SettingValue::Flag(on)) => (1 + u8::from(*on), String::new(), ""),
        Some(SettingValue::Number(number)) => (3, number.to_string(), ""),
        Some(SettingValue::Word(word)) => (4, word.clone(), ""),
        Some(SettingValue::Name(name)) => (5, name.clone(), ""),
        Some(SettingValue::Typed { name, kind }) => (6, name.clone(), kind.as_str()),
        Some(SettingValue::Blank(what)) => (7, what.clone(), ""),
    };
    out.push(kind);
    put_bytes(out, first.as_bytes());
    put_bytes(out, second.as_bytes());
}

fn take_setting(taker: &mut Taker<'_>) -> Result<Assignment> {
    let setting = Setting::of_tag(&taker.text()?).ok_or_else(|| unknown(1_u64))?;
    let (kind, first, second) = (taker.bytes(1)?[0], taker.text()?, taker.text()?);
    let value = match kind {
        0 => None,
        1 | 2 => Some(SettingValue::Flag(kind == 2)),
        3 => Some(SettingValue::Number(first.parse().map_err(|_| unknown(kind))?)),
        4 => Some(SettingValue::Word(first)),
        5 => Some(SettingValue::Name(first)),
        6 => Some(SettingValue::Typed { name: first, kind: second }),
        7 => Some(SettingValue::Blank(first)),
        kind => return Err(unknown(kind)),
    };
    Ok(Assignment { setting, value })
}

#[cfg(test)]
mod tests {
    use esker_graph::message;

    use super::*;

    #[test]
    fn messages_arrive_as_they_were_sent() {
        let call = Operation::Forget.on("c").on(7).with(Setting::Heads.to_some("LENGTH"));
        let sent = message![
            "é: ",
            Setting::Weight,
            Setting::Header.to(false),
            Setting::Header.to(true),
            Setting::Vertices.to(u64::MAX),
            Setting::Ids.to("text"),
            Setting::Time.to_name("at"),
            Setting::Schema.to_type("a", "u64"),
            AlgorithmOption::named("damping").to("0.5"),
            AlgorithmOption::named("damping"),
            call,
        ];
        for message in [sent, Message::default(), "plain".into()] {
            let mut bytes = Vec::new();
            put_message(&mut bytes, &message);
            let mut taker = Taker(&bytes);
            assert_eq!(take_message(&mut taker).expect("message"), message);
            assert!(taker.is_empty());
            assert!(bytes.len() < 5 || take_message(&mut Taker(&bytes[..bytes.len() - 1])).is_err());
        }
    }
}
