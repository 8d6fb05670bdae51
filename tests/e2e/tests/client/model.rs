//! A model on loopback that makes one tool call and then is content: the client gets its turns from here, so that a session
//! needs no network and goes the same way each time.

use std::io::{BufRead, BufReader, Read, Result, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use serde_json::{Value, json};

/// Names the call and its result.
const CALL: &str = "toolu_01";
/// A connection that says nothing for so long is given up.
const SILENCE: Duration = Duration::from_secs(30);

/// One tool call of the model.
#[derive(Clone)]
pub struct ToolCall {
    /// The tool's name.
    pub tool: &'static str,
    /// Its input, as the client's tool takes it.
    pub input: Value,
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
    pub fn start(call: ToolCall) -> Self {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a free port");
        let address = listener.local_addr().expect("a listener has an address");
        let requests = Arc::new(Mutex::new(Vec::new()));
        let over = Arc::new(AtomicBool::new(false));
        let server = thread::spawn({
            let (requests, over) = (Arc::clone(&requests), Arc::clone(&over));
            move || {
                for connection in listener.incoming().flatten().take_while(|_| !over.load(Ordering::Acquire)) {
                    let (requests, call) = (Arc::clone(&requests), call.clone());
                    // A client that hangs up has lost interest; what was lost shows in the requests.
                    thread::spawn(move || serve(&connection, &requests, &call));
                }
            }
        });
        Self { address, requests, over, server: Some(server) }
    }

    /// Where it listens.
    pub fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Whether the client offered the tool to the model.
    pub fn offered(&self, tool: &str) -> bool {
        let offers = |request: &Value| list(&request["tools"]).iter().any(|offered| offered["name"] == tool);
        self.requests.lock().expect("no server panics").iter().any(offers)
    }

    /// What the model was told about its call: the text of the tool's result, which says why if there was none.
    pub fn told(&self) -> Option<String> {
        self.requests.lock().expect("no server panics").iter().find_map(told)
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
fn serve(connection: &TcpStream, requests: &Mutex<Vec<Value>>, call: &ToolCall) -> Result<()> {
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
            answer(&request, requests.len(), call)
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

/// The `number`th message, as its media type and text. Only a request that comes with tools is the session's; the client's
/// own errands, a title for instance, get a word.
fn answer(request: &Value, number: usize, call: &ToolCall) -> (&'static str, String) {
    let calls = !list(&request["tools"]).is_empty() && told(request).is_none();
    let (block, start, delta, reason) = if calls {
        let block = |input: &Value| json!({"type": "tool_use", "id": CALL, "name": call.tool, "input": input});
        let delta = json!({"type": "input_json_delta", "partial_json": call.input.to_string()});
        (block(&call.input), block(&json!({})), delta, "tool_use")
    } else {
        let block = |text| json!({"type": "text", "text": text});
        (block("done"), block(""), json!({"type": "text_delta", "text": "done"}), "end_turn")
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

/// The result of the call in a request's history. Its content is text, or a list of blocks with text.
fn told(request: &Value) -> Option<String> {
    let blocks = list(&request["messages"]).iter().flat_map(|message| list(&message["content"]));
    let content = &blocks.into_iter().find(|block| block["type"] == "tool_result" && block["tool_use_id"] == CALL)?["content"];
    let text = |block: &Value| block["text"].as_str().unwrap_or_default().to_owned();
    Some(content.as_str().map_or_else(|| list(content).iter().map(text).collect(), str::to_owned))
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}
