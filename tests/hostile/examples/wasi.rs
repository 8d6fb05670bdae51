//! Goes round the host's own interface: files, network, environment, arguments, standard input and processes by the
//! standard library, which means WASI.

use std::fmt::Debug;
use std::io::Read;
use std::net::{TcpStream, ToSocketAddrs, UdpSocket};

use hostile::{Judged, report, setting};
use portcullis_sdk::{Event, Host};

/// Reports one line per attempt: `GOT …` for what it got, `nothing` otherwise. `address` is where somebody listens.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    let address = setting(host, "address");
    let mut input = Vec::new();
    let attempts = [
        attempt("file", std::fs::read("/etc/passwd").map(|content| content.len())),
        attempt("project file", std::fs::read("inside/a.txt").map(|content| content.len())),
        attempt("root directory", std::fs::read_dir("/").map(Iterator::count)),
        attempt("this directory", std::fs::read_dir(".").map(Iterator::count)),
        attempt("write", std::fs::write("pwned", "pwned")),
        attempt("absolute write", std::fs::write("/tmp/pwned", "pwned")),
        attempt("tcp", TcpStream::connect(&address)),
        attempt("udp", UdpSocket::bind("127.0.0.1:0").and_then(|socket| socket.send_to(b"pwned", &address))),
        attempt("name look-up", "localhost:80".to_socket_addrs().map(|found| found.collect::<Vec<_>>())),
        attempt("process", std::process::Command::new("true").status()),
        some("environment", std::env::vars().count()),
        some("arguments", std::env::args().filter(|argument| !argument.is_empty()).count()),
        some("input", std::io::stdin().read_to_end(&mut input).unwrap_or_default()),
    ];
    report(attempts.join("\n"))
}

fn attempt<T: Debug, E>(what: &str, result: Result<T, E>) -> String {
    match result {
        Ok(got) => format!("{what}: GOT {got:?}"),
        Err(_) => format!("{what}: nothing"),
    }
}

fn some(what: &str, count: usize) -> String {
    attempt(what, if count > 0 { Ok(count) } else { Err(()) })
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
