//! Messages between processes: values as `postcard` writes them, and raw blocks after them.
//!
//! A message is its length in four bytes, a value, and a block that is not encoded again: rows of answers,
//! edges. All processes run the same program, which the handshake has found out, so the encoding needs no
//! names and no versions. A message that is cut, too long or of another program is an error; memory for it is
//! taken as its bytes come.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;

use esker_format::{Error, Result};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The most bytes of a message: what a worker is told of a manifest with many versions is the longest.
const RECEIVED_BYTES_MAX: u32 = 1 << 30;
/// The most bytes of memory for what has not come yet.
const UNSEEN_BYTES_MAX: u32 = 1 << 20;
/// Bytes of the length before a message.
const HEAD_BYTES: usize = 4;

/// The bytes of a value.
///
/// # Errors
/// [`Error::Invalid`] if it has parts that no message can have.
pub(crate) fn encode(value: &impl Serialize) -> Result<Vec<u8>> {
    postcard::to_allocvec(value).map_err(|error| Error::invalid(format!("cannot write a message: {error}")))
}

/// The value of some bytes, which are all its own.
///
/// # Errors
/// [`Error::Invalid`] if they are less or more than a value.
pub(crate) fn decode<T: DeserializeOwned>(bytes: &[u8]) -> Result<T> {
    let (value, rest) = decode_first(bytes)?;
    match rest.len() {
        0 => Ok(value),
        rest => Err(too_long(rest)),
    }
}

/// An error for a message that bytes follow.
pub(crate) fn too_long(bytes: usize) -> Error {
    foreign(&format!("goes on for {} after its end", esker_graph::counted(bytes as u64, "byte", "bytes")))
}

fn decode_first<T: DeserializeOwned>(bytes: &[u8]) -> Result<(T, &[u8])> {
    postcard::take_from_bytes(bytes).map_err(|error| match error {
        postcard::Error::DeserializeUnexpectedEnd => foreign("ends too early"),
        postcard::Error::SerdeDeCustom => foreign("has a part of an unknown kind"),
        other => foreign(&format!("cannot be read ({other})")),
    })
}

fn foreign(what: &str) -> Error {
    Error::invalid(format!("a message between processes {what}: all processes must run the same Esker"))
}

/// Sends a value with a block.
///
/// # Errors
/// That of the connection; if both together are longer than a message may be.
pub(crate) fn send(mut stream: &TcpStream, value: &impl Serialize, block: &[u8]) -> std::io::Result<()> {
    let mut message = postcard::to_extend(value, vec![0; HEAD_BYTES]).map_err(std::io::Error::other)?;
    message.extend_from_slice(block);
    let len = u32::try_from(message.len() - HEAD_BYTES).ok().filter(|&len| len <= RECEIVED_BYTES_MAX);
    let len = len.ok_or_else(|| std::io::Error::other("a message between processes is longer than 1 GiB"))?;
    message[..HEAD_BYTES].copy_from_slice(&len.to_le_bytes());
    stream.write_all(&message)
}

/// Receives a value and the block after it.
///
/// # Errors
/// [`Error::Invalid`] if the connection ends or its timeout passes, or as [`decode`].
pub(crate) fn receive<T: DeserializeOwned>(mut stream: &TcpStream) -> Result<(T, Vec<u8>)> {
    let lost = |error: std::io::Error| match error.kind() {
        ErrorKind::WouldBlock | ErrorKind::TimedOut => Error::invalid("it does not answer".to_owned()),
        _ => Error::invalid(format!("the connection ended: {error}")),
    };
    let mut head = [0; HEAD_BYTES];
    stream.read_exact(&mut head).map_err(lost)?;
    let len = u32::from_le_bytes(head);
    if len > RECEIVED_BYTES_MAX {
        return Err(foreign(&format!("states {len} bytes")));
    }
    let mut message = Vec::with_capacity(len.min(UNSEEN_BYTES_MAX) as usize);
    stream.take(len.into()).read_to_end(&mut message).map_err(lost)?;
    if message.len() < len as usize {
        return Err(lost(ErrorKind::UnexpectedEof.into()));
    }
    let (value, block) = decode_first(&message)?;
    let value_bytes = message.len() - block.len();
    message.drain(..value_bytes);
    Ok((value, message))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use esker_graph::random::Random;
    use esker_graph::{AlgorithmOption, Message, Operation, Setting, message};

    use super::*;

    fn said() -> Message {
        let call = Operation::Forget.on("c").on(7).with(Setting::Heads.to_some("LENGTH"));
        message![
            "é: ",
            Setting::Weight,
            Setting::Header.to(false),
            Setting::Vertices.to(u64::MAX),
            Setting::Ids.to("text"),
            Setting::Time.to_name("at"),
            Setting::Schema.to_type("a", "u64"),
            AlgorithmOption::named("damping").to("0.5"),
            AlgorithmOption::named("damping"),
            call,
        ]
    }

    fn refusal<T: DeserializeOwned + std::fmt::Debug>(bytes: &[u8]) -> String {
        decode::<T>(bytes).expect_err("no value").to_string()
    }

    #[test]
    fn messages_for_people_arrive_as_they_were_sent() {
        for message in [said(), Message::default(), "plain".into()] {
            let bytes = encode(&message).expect("encode");
            assert_eq!(decode::<Message>(&bytes).expect("decode"), message);
            for end in 0..bytes.len() {
                assert!(refusal::<Message>(&bytes[..end]).contains("ends too early"));
            }
            assert!(refusal::<Message>(&[&bytes[..], &[0]].concat()).contains("goes on for 1 byte"));
        }
    }

    #[test]
    fn what_no_value_is_has_an_error_and_takes_no_memory() {
        // A length of 2^63, of texts and of bytes.
        let long = [&[0xff; 9][..], &[1]].concat();
        assert!(refusal::<Vec<String>>(&long).contains("ends too early"));
        assert!(refusal::<Vec<u64>>(&long).contains("ends too early"));
        assert!(refusal::<String>(&long).contains("ends too early"));
        assert!(refusal::<Setting>(&[0x7f]).contains("an unknown kind"));
        assert!(refusal::<u64>(&[0xff; 11]).contains("cannot be read"));
        assert!(refusal::<bool>(&[2]).contains("cannot be read"));
        assert!(refusal::<String>(&[1, 0xff]).contains("cannot be read"));
        let (bytes, mut random) = (encode(&said()).expect("encode"), Random::new(7));
        for _ in 0..20_000 {
            let mut mutated = bytes.clone();
            for _ in 0..=random.below(3) {
                let place = random.index(mutated.len());
                mutated[place] = random.next_u64() as u8;
            }
            // What is still one is the same one again.
            if let Ok(message) = decode::<Message>(&mutated) {
                let again = encode(&message).expect("encode");
                assert_eq!(decode::<Message>(&again).expect("decode"), message);
            }
        }
    }

    #[test]
    fn a_connection_carries_values_with_blocks_and_refuses_what_is_none() {
        let listener = TcpListener::bind("127.0.0.1:0").expect("bind");
        let connect = || {
            let here = TcpStream::connect(listener.local_addr().expect("address")).expect("connect");
            (here, listener.accept().expect("accept").0)
        };
        let (here, there) = connect();
        for block in [&[][..], &[7; 100_000]] {
            let sent = std::thread::scope(|scope| {
                let sending = scope.spawn(|| send(&here, &said(), block));
                assert_eq!(receive::<Message>(&there).expect("receive"), (said(), block.to_vec()));
                sending.join().expect("thread")
            });
            sent.expect("send");
        }
        let refused = |bytes: &[u8]| {
            let (mut here, there) = connect();
            here.write_all(bytes).expect("send");
            drop(here);
            receive::<Setting>(&there).expect_err("no message").to_string()
        };
        assert!(refused(&[1, 0, 0, 0, 0x7f]).contains("an unknown kind"));
        assert!(refused(&[0, 0, 0, 0]).contains("ends too early"));
        assert!(refused(&[0xff; 4]).contains("states 4294967295 bytes"));
        // The most that a message may state, of which a byte came.
        assert!(refused(&[0, 0, 0, 0x40, 0]).contains("the connection ended"));
        assert!(refused(&[1]).contains("the connection ended"));
        there.set_read_timeout(Some(std::time::Duration::from_millis(20))).expect("timeout");
        assert!(receive::<Setting>(&there).expect_err("late").to_string().contains("does not answer"));
    }
}
