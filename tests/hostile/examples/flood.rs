//! Too much of everything: `what` names the channel.

use std::io::Write;

use hostile::{Judged, setting};
use portcullis_sdk::{Event, Fields, Finding, Host, Level, Verdict};

const MEGABYTE: usize = 1 << 20;

/// Fills one channel; has no objection where the channel is not the verdicts themselves.
pub fn judge(_: &Event, host: &impl Host) -> Judged {
    match setting(host, "what").as_str() {
        "events" => (0..100_000).for_each(|count| host.emit("hook.action", Fields::new().number("count", count))),
        "event" => host.emit("hook.action", Fields::new().text("text", "x".repeat(20 * MEGABYTE))),
        "fields" => host.emit("hook.action", (0..100_000).fold(Fields::new(), |fields, count| fields.number("count", count))),
        "logs" => (0..100_000).for_each(|count| host.log(Level::Error, &format!("line {count}"))),
        "log" => host.log(Level::Error, &"x".repeat(20 * MEGABYTE)),
        "stdout" => print_to(&mut std::io::stdout()),
        "stderr" => print_to(&mut std::io::stderr()),
        "notices" => return Ok((0..1_000_000).map(|_| Verdict::Notify("x".into())).collect()),
        "advice" => return Ok(vec![Verdict::Advise("x".repeat(20 * MEGABYTE))]),
        "findings" => return Ok((0..10_000).map(|count| Finding::new(format!("rule-{count}"), "no").block()).collect()),
        "reason" => return Ok(vec![Finding::new("long", "x".repeat(50 * MEGABYTE)).block()]),
        "rule" => return Ok(vec![Finding::new("x".repeat(MEGABYTE), "no").block()]),
        // The host's time instead of the gate's own fuel.
        "payload" => loop {
            host.payload();
        },
        "analyze" => loop {
            let _ = host.analyze(&"$(true);".repeat(2_000));
        },
        other => panic!("nothing to flood with: {other}"),
    }
    Ok(vec![])
}

/// A hundred megabytes; that nobody takes them is no reason to stop.
fn print_to(output: &mut dyn Write) {
    let line = [b'x'; 1 << 16];
    for _ in 0..1600 {
        let _ = output.write_all(&line);
    }
    let _ = output.flush();
}

#[cfg(target_arch = "wasm32")]
portcullis_sdk::gate!(judge);
