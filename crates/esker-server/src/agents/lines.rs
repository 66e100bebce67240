//! Messages on standard input and output, one a line.
//!
//! What is no message is answered with an error of JSON-RPC. When the input ends, the requests that were read
//! are answered first.

use std::collections::HashSet;
use std::io;
use std::sync::Arc;

use parking_lot::Mutex;
use rmcp::model::{ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, NumberOrString};
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Stdin, Stdout};
use tokio::sync::{Mutex as AsyncMutex, Notify};

/// The methods of requests that this server answers.
const METHODS: [&str; 4] = ["initialize", "ping", "tools/list", "tools/call"];
/// The notification that takes back a request.
const CANCELLED: &str = "notifications/cancelled";

/// The lines of standard input and output.
pub(super) struct Lines {
    input: BufReader<Stdin>,
    /// The line that is being read. It stays while a read is given up for something else.
    line: Vec<u8>,
    output: Arc<AsyncMutex<Stdout>>,
    unanswered: Arc<Unanswered>,
}

/// What is still to be written.
#[derive(Default)]
struct Unanswered {
    requests: Mutex<HashSet<NumberOrString>>,
    /// Errors about lines that are no requests.
    errors: Mutex<usize>,
    changed: Notify,
}

impl Unanswered {
    async fn wait(&self) {
        loop {
            let changed = self.changed.notified();
            if self.requests.lock().is_empty() && *self.errors.lock() == 0 {
                return;
            }
            changed.await;
        }
    }

    fn end(&self, request: &NumberOrString) {
        self.requests.lock().remove(request);
        self.changed.notify_one();
    }
}

/// Why a line is no message, and the id that it has.
type NoMessage = (ErrorData, Option<NumberOrString>);

impl Lines {
    pub(super) fn of_standard_streams() -> Self {
        Self {
            input: BufReader::new(tokio::io::stdin()),
            line: Vec::new(),
            output: Arc::new(AsyncMutex::new(tokio::io::stdout())),
            unanswered: Arc::default(),
        }
    }

    /// Writes an error apart from reading, which may be given up at any time.
    fn refuse(&self, error: ErrorData, id: Option<NumberOrString>) {
        let (output, unanswered) = (Arc::clone(&self.output), Arc::clone(&self.unanswered));
        *unanswered.errors.lock() += 1;
        tokio::spawn(async move {
            let message: TxJsonRpcMessage<RoleServer> = JsonRpcMessage::error(error, id);
            // Whoever does not read answers does not miss this one.
            let _ = write(&output, &message).await;
            *unanswered.errors.lock() -= 1;
            unanswered.changed.notify_one();
        });
    }
}

impl Transport<RoleServer> for Lines {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let (output, unanswered) = (Arc::clone(&self.output), Arc::clone(&self.unanswered));
        async move {
            let written = write(&output, &message).await;
            match &message {
                JsonRpcMessage::Response(response) => unanswered.end(&response.id),
                JsonRpcMessage::Error(error) => error.id.iter().for_each(|id| unanswered.end(id)),
                JsonRpcMessage::Request(_) | JsonRpcMessage::Notification(_) => {}
            }
            written
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            // What was read before this was given up stays in the line.
            let is_over = self.input.read_until(b'\n', &mut self.line).await.is_err()
                || self.line.last() != Some(&b'\n');
            let line = std::mem::take(&mut self.line);
            if is_over && line.trim_ascii().is_empty() {
                self.unanswered.wait().await;
                return None;
            }
            match message_of(&line, &self.unanswered) {
                Ok(Some(message)) => return Some(message),
                Ok(None) => {}
                Err((error, id)) => self.refuse(error, id),
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.output.lock().await.flush().await
    }
}

async fn write(output: &AsyncMutex<Stdout>, message: &TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    output.write_all(&line).await?;
    output.flush().await
}

/// The message of a line; `None` for an empty line, and for a notification that nothing here heeds.
fn message_of(
    line: &[u8],
    unanswered: &Unanswered,
) -> Result<Option<RxJsonRpcMessage<RoleServer>>, NoMessage> {
    let line = line.trim_ascii();
    if line.is_empty() {
        return Ok(None);
    }
    let value: Value = serde_json::from_slice(line).map_err(|error| {
        let reason = format!("the line is not JSON: {error}; write each message on a line of its own");
        (ErrorData::parse_error(reason, None), None)
    })?;
    let id = value.get("id").and_then(id_of);
    let method = value.get("method").and_then(Value::as_str).unwrap_or_default().to_owned();
    let is_notification = value.get("id").is_none() && !method.is_empty();
    if method == CANCELLED
        && let Some(request) = value.pointer("/params/requestId").and_then(id_of)
    {
        unanswered.end(&request);
    }
    let read = serde_json::from_value::<RxJsonRpcMessage<RoleServer>>(value);
    let wrong = |code: ErrorCode, reason: String| Err((ErrorData::new(code, reason, None), id.clone()));
    match read {
        Ok(JsonRpcMessage::Request(request)) => {
            if matches!(request.request, ClientRequest::CustomRequest(_))
                && METHODS.contains(&method.as_str())
            {
                let reason = format!("the parameters of {method} are invalid: {}", parameters(&method));
                return wrong(ErrorCode::INVALID_PARAMS, reason);
            }
            unanswered.requests.lock().insert(request.id.clone());
            Ok(Some(JsonRpcMessage::Request(request)))
        }
        Ok(message) => Ok(Some(message)),
        Err(_) if is_notification => Ok(None),
        Err(_) => {
            let reason = "the line is no message of JSON-RPC 2.0: it has the members jsonrpc (\"2.0\"), id, method and params";
            wrong(ErrorCode::INVALID_REQUEST, reason.to_owned())
        }
    }
}

fn id_of(value: &Value) -> Option<NumberOrString> {
    match value {
        Value::String(text) => Some(NumberOrString::String(text.as_str().into())),
        Value::Number(number) => number.as_i64().map(NumberOrString::Number),
        _ => None,
    }
}

/// What the parameters of a method are.
fn parameters(method: &str) -> &'static str {
    match method {
        "initialize" => "it takes protocolVersion, capabilities and clientInfo",
        "tools/call" => "it takes name, a text, and arguments, an object",
        "tools/list" => "it takes cursor, a text, or none",
        _ => "it takes none",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str, unanswered: &Unanswered) -> Result<bool, (i32, Option<NumberOrString>)> {
        let read = message_of(line.as_bytes(), unanswered);
        read.map(|message| message.is_some()).map_err(|(error, id)| (error.code.0, id))
    }

    #[test]
    fn what_is_no_message_is_an_error_with_the_id_that_it_has() {
        let unanswered = Unanswered::default();
        let seven = Some(NumberOrString::Number(7));
        for (line, code, id) in [
            ("{", -32700, None),
            ("\u{fffd}", -32700, None),
            ("[]", -32600, None),
            (r#"{"id":7,"method":"ping"}"#, -32600, seven.clone()),
            (r#"{"jsonrpc":"2.0","id":7}"#, -32600, seven.clone()),
            (r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":3}}"#, -32602, seven.clone()),
            (
                r#"{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"path","arguments":[1]}}"#,
                -32602,
                seven,
            ),
            (
                r#"{"jsonrpc":"2.0","id":"a","method":"tools/call"}"#,
                -32602,
                Some(NumberOrString::String("a".into())),
            ),
        ] {
            assert_eq!(read(line, &unanswered), Err((code, id)), "{line}");
        }
        assert_eq!(read("  \n", &unanswered), Ok(false));
        assert_eq!(read(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#, &unanswered), Ok(true));
        assert!(unanswered.requests.lock().is_empty());
    }

    #[test]
    fn a_request_waits_for_its_answer_or_is_taken_back() {
        let unanswered = Unanswered::default();
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"describe"}}"#;
        assert_eq!(read(call, &unanswered), Ok(true));
        assert_eq!(read(r#"{"jsonrpc":"2.0","id":"x","method":"ping"}"#, &unanswered), Ok(true));
        assert_eq!(unanswered.requests.lock().len(), 2);
        let back = r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#;
        assert_eq!(read(back, &unanswered), Ok(true));
        unanswered.end(&NumberOrString::String("x".into()));
        assert!(unanswered.requests.lock().is_empty());
    }
}
