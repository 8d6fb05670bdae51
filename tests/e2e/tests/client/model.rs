//! A model on loopback that follows a script and then is content: the client gets its turns from here, so that a session needs
//! no network and goes the same way each time.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// Names each call and its result.
const CALL: &str = "toolu_01";
/// A connection that says nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);

/// What the model does at one point.
#[derive(Clone)]
pub enum Turn {
    /// It calls a tool, with this name and input.
    Call(&'static str, Value),
    /// It says something, and its turn is over.
    Say(String),
}

impl Turn {
    /// It runs a shell command.
    pub fn bash(command: &str) -> Self {
        Self::Call("Bash", json!({"command": command, "description": "test"}))
    }

    /// It says something.
    pub fn say(text: &str) -> Self {
        Self::Say(text.to_owned())
    }
}

/// What the model does in a session. The turn is the one that its own history has not yet; the last repeats.
#[derive(Clone)]
pub struct Script {
    /// As the main thread.
    pub main: Vec<Turn>,
    /// As a subagent.
    pub subagent: Vec<Turn>,
    /// As the summarizer of a compaction.
    pub summary: String,
}

impl Script {
    /// A session of the main thread alone.
    pub fn of(main: impl Into<Vec<Turn>>) -> Self {
        Self { main: main.into(), subagent: vec![Turn::say("Nothing to add.")], summary: "<summary>None.</summary>".into() }
    }

    fn turn(&self, request: &Value) -> Turn {
        let turns = match Role::of(request) {
            Role::Main => &self.main,
            Role::Subagent => &self.subagent,
            Role::Summarizer => return Turn::say(&self.summary),
            Role::Errand => return Turn::say("done"),
        };
        let said = list(&request["messages"]).iter().filter(|message| message["role"] == "assistant").count();
        turns[said.min(turns.len() - 1)].clone()
    }
}

/// Whom the client takes the model for in a request.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Role {
    /// The main thread.
    Main,
    /// An agent that the main thread has started.
    Subagent,
    /// The writer of a compaction's summary.
    Summarizer,
    /// The client's own helper, for a title for instance: a request that comes without tools.
    Errand,
}

impl Role {
    /// As the texts of the request have it; both releases agree on these.
    pub fn of(request: &Value) -> Self {
        let last = list(&request["messages"]).iter().rfind(|message| message["role"] == "user");
        let asked = last.map(|message| text(&message["content"])).unwrap_or_default();
        match () {
            () if asked.contains("create a detailed summary of") => Self::Summarizer,
            () if list(&request["tools"]).is_empty() => Self::Errand,
            () if text(&request["system"]).contains("cc_is_subagent=true") => Self::Subagent,
            () => Self::Main,
        }
    }
}

/// The endpoint, from its start until it goes out of scope.
pub struct Model {
    address: SocketAddr,
    requests: Arc<Mutex<Vec<Value>>>,
    over: Arc<AtomicBool>,
    server: Option<JoinHandle<()>>,
}

impl Model {
    /// Listens on a free port; answers until it is dropped.
    pub fn start(script: Script) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let server = thread::spawn({
            let (requests, over) = (Arc::clone(&requests), Arc::clone(&over));
            move || {
                for connection in listener.incoming().flatten().take_while(|_| !over.load(Ordering::Acquire)) {
                    let (requests, script) = (Arc::clone(&requests), script.clone());
                    // A client that hangs up has lost interest; what was lost shows in the requests.
                    thread::spawn(move || serve(&connection, &requests, &script));
                }
            }
        });
        Self { address, requests, over, server: Some(server) }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// What the client has asked so far, in order.
    pub fn requests(&self) -> Vec<Value> {
        self.requests.lock().expect("no server panics").clone()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Release);
        // The server looks at it at the next connection.
        let woken = TcpStream::connect(self.address).is_ok();
        if let Some(server) = self.server.take().filter(|_| woken) {
            let _ = server.join();
        }
    }
}

/// One request and its answer. The connection ends with it, so that nobody has to know where the next request begins.
fn serve(connection: &TcpStream, requests: &Mutex<Vec<Value>>, script: &Script) -> Result<()> {
    connection.set_read_timeout(Some(SILENCE))?;
    let mut reader = BufReader::new(connection);
    let mut head = String::new();
    while !head.ends_with("\r\n\r\n") && reader.read_line(&mut head)? > 0 {}
    let length =
        head.lines().filter_map(|line| line.split_once(':')).find(|(name, _)| name.eq_ignore_ascii_case("content-length"));
    let mut body = vec![0; length.and_then(|(_, value)| value.trim().parse().ok()).unwrap_or(0)];
    reader.read_exact(&mut body)?;

    let path = head.split(' ').nth(1).unwrap_or_default().split('?').next().unwrap_or_default();
    let (kind, answer) = match path {
        "/v1/messages" => {
            let request: Value = serde_json::from_slice(&body)?;
            let mut requests = requests.lock().expect("no server panics");
            requests.push(request.clone());
            answer(&request, requests.len(), script.turn(&request))
        }
        "/v1/messages/count_tokens" => ("application/json", json!({"input_tokens": 10}).to_string()),
        _ => ("application/json", "{}".to_owned()),
    };
    let length = answer.len();
    let head = format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n");
    let mut writer = connection;
    writer.write_all(head.as_bytes())?;
    writer.write_all(answer.as_bytes())
}

/// The `number`th message, as its media type and text.
fn answer(request: &Value, number: usize, turn: Turn) -> (&'static str, String) {
    let (block, start, delta, reason) = match turn {
        Turn::Call(name, input) => {
            let block = |input: &Value| json!({"type": "tool_use", "id": CALL, "name": name, "input": input});
            let delta = json!({"type": "input_json_delta", "partial_json": input.to_string()});
            (block(&input), block(&json!({})), delta, "tool_use")
        }
        Turn::Say(text) => {
            let block = |text: &str| json!({"type": "text", "text": text});
            (block(&text), block(""), json!({"type": "text_delta", "text": text}), "end_turn")
        }
    };
    let usage = json!({"input_tokens": 1, "output_tokens": 1});
    // The client joins messages of one id to one, hence the number.
    let mut message = json!({
        "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": request["model"],
        "content": [block], "stop_reason": reason, "stop_sequence": null, "usage": usage,
    });
    if request["stream"] != true {
        return ("application/json", message.to_string());
    }
    message["content"] = json!([]);
    message["stop_reason"] = Value::Null;
    let events = [
        json!({"type": "message_start", "message": message}),
        json!({"type": "content_block_start", "index": 0, "content_block": start}),
        json!({"type": "content_block_delta", "index": 0, "delta": delta}),
        json!({"type": "content_block_stop", "index": 0}),
        json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage}),
        json!({"type": "message_stop"}),
    ];
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap_or_default());
    ("text/event-stream", events.iter().map(event).collect())
}

/// What the model was told about its call: the text of the tool's result, which says why if there was none.
pub fn told(request: &Value) -> Option<String> {
    let blocks = list(&request["messages"]).iter().flat_map(|message| list(&message["content"]));
    let result = blocks.into_iter().find(|block| block["type"] == "tool_result" && block["tool_use_id"] == CALL)?;
    Some(text(&result["content"]))
}

/// A content, which is text or a list of blocks with text.
pub fn text(content: &Value) -> String {
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    content.as_str().map_or_else(|| list(content).iter().map(text).collect(), str::to_owned)
}

pub fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
