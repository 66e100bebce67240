//! Reading from a pipe that may stay silent, under a token that ends the wait.

use std::io::{self, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::time::Duration;

use esker_graph::Cancel;

/// Bytes that are read at a time.
const BLOCK_BYTES: usize = 1 << 18;
/// Blocks that wait to be taken.
const BLOCKS_MAX: usize = 2;
/// How often the token is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A reader whose reads end soon after the token is cancelled, although what they wait for does not come. A
/// thread waits in its place; it stays until the next byte comes or the process ends.
pub(crate) struct WaitingInput {
    blocks: Receiver<io::Result<Vec<u8>>>,
    cancel: Cancel,
    block: Vec<u8>,
    taken: usize,
    ended: bool,
}

impl WaitingInput {
    pub(crate) fn new(mut input: impl Read + Send + 'static, cancel: Cancel) -> Self {
        let (send, blocks) = sync_channel(BLOCKS_MAX);
        std::thread::spawn(move || {
            loop {
                let mut block = vec![0; BLOCK_BYTES];
                let read = match input.read(&mut block) {
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    read => read,
                };
                let ends = !matches!(read, Ok(1..));
                let block = read.map(|len| {
                    block.truncate(len);
                    block
                });
                if send.send(block).is_err() || ends {
                    break;
                }
            }
        });
        Self { blocks, cancel, block: Vec::new(), taken: 0, ended: false }
    }
}

impl Read for WaitingInput {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while self.taken == self.block.len() && !self.ended {
            if self.cancel.is_cancelled() {
                return Err(io::Error::other("cancelled while waiting for input"));
            }
            match self.blocks.recv_timeout(LOOK_EVERY) {
                Ok(block) => {
                    self.block = block?;
                    self.taken = 0;
                    self.ended = self.block.is_empty();
                }
                Err(RecvTimeoutError::Timeout) => {}
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(io::Error::other("the thread that reads the input panicked"));
                }
            }
        }
        let rest = &self.block[self.taken..];
        let len = rest.len().min(buffer.len());
        buffer[..len].copy_from_slice(&rest[..len]);
        self.taken += len;
        Ok(len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Gives one byte a call, then nothing for ever.
    struct Silent(u8);

    impl Read for Silent {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            if self.0 == 3 {
                std::thread::sleep(Duration::from_secs(3600));
            }
            self.0 += 1;
            buffer[0] = self.0;
            Ok(1)
        }
    }

    #[test]
    fn all_bytes_come_in_order() {
        let bytes: Vec<u8> = (0..3 * BLOCK_BYTES + 5).map(|i| (i * i) as u8).collect();
        let mut read = Vec::new();
        let mut waiting = WaitingInput::new(io::Cursor::new(bytes.clone()), Cancel::default());
        waiting.read_to_end(&mut read).expect("a cursor gives its bytes");
        assert!(read == bytes);
        assert_eq!(waiting.read(&mut [0; 9]).expect("nothing more"), 0);
    }

    /// Gives a byte, then panics.
    struct Dying(bool);

    impl Read for Dying {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            assert!(!std::mem::replace(&mut self.0, true), "it dies");
            Ok(1)
        }
    }

    #[test]
    fn a_thread_that_dies_is_no_end_of_the_input() {
        let mut waiting = WaitingInput::new(Dying(false), Cancel::default());
        let error = waiting.read_to_end(&mut Vec::new()).expect_err("the rest is missing");
        assert!(error.to_string().contains("panicked"), "{error}");
        let told = crate::read::source::told_of_panics::<()>(|| panic!("a reader dies"));
        assert!(told.expect_err("no end").to_string().contains("panicked"));
    }

    #[test]
    fn a_wait_ends_when_it_is_cancelled() {
        let cancel = Cancel::default();
        let mut waiting = WaitingInput::new(Silent(0), cancel.clone());
        let mut three = [0; 3];
        waiting.read_exact(&mut three).expect("three bytes come");
        assert_eq!(three, [1, 2, 3]);
        cancel.cancel();
        assert!(waiting.read(&mut three).expect_err("nothing comes").to_string().contains("cancelled"));
    }
}
