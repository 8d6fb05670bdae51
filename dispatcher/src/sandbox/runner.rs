//! Runs the gates of an event one after the other, and lets none of them hold up the answer.
//!
//! Gates run on a worker thread; the calling thread is the watchdog. Fuel ends loops, the epoch ends guest code at the gate's
//! deadline, and a gate that is stuck in a host call beyond that is abandoned together with its thread.

use std::hint::black_box;
use std::io;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use super::failure::{Failure, FailureKind};
use super::instance::{self, Judged, Outcome, Record};
use super::limits;
use super::shared::Shared;
use crate::journal::Emitted;
use crate::registry::Stanza;

struct Job {
    shared: Arc<Shared>,
    stanza: Arc<Stanza>,
    deadline: Instant,
    record: Arc<Mutex<Record>>,
}

struct Worker {
    jobs: mpsc::Sender<Job>,
    results: mpsc::Receiver<(Outcome, u64)>,
}

impl Worker {
    fn start() -> io::Result<Self> {
        let (jobs, incoming) = mpsc::channel::<Job>();
        let (outgoing, results) = mpsc::channel();
        let work = move || {
            widen_heap();
            while let Ok(job) = incoming.recv() {
                let result = instance::judge(&job.shared, &job.stanza, job.deadline, &job.record);
                if outgoing.send(result).is_err() {
                    return;
                }
            }
        };
        thread::Builder::new().stack_size(limits::THREAD_STACK).spawn(work)?;
        Ok(Self { jobs, results })
    }
}

/// glibc grows the heap of every thread but the first by single pages, with a system call for each. One block that is given back
/// grows it at once; no page of it is touched.
fn widen_heap() {
    // Mapped and given back, a block teaches the allocator to keep blocks of its size in the heap, also when they are free.
    for bytes in [limits::HEAP, limits::HEAP / 2] {
        drop(black_box(Vec::<u8>::with_capacity(bytes)));
    }
}

/// Runs gates until the whole event's deadline.
pub struct Runner {
    worker: Option<Worker>,
    deadline: Instant,
}

impl Runner {
    /// A runner whose gates are all done, or given up, by `deadline`.
    pub fn new(deadline: Instant) -> Self {
        Self { worker: None, deadline }
    }

    /// Lets one gate judge.
    pub fn judge(&mut self, shared: &Arc<Shared>, stanza: &Arc<Stanza>) -> Judged {
        let start = Instant::now();
        let record = Arc::new(Mutex::new(Record::default()));
        let deadline = self.deadline.min(start + Duration::from_millis(stanza.timeout_ms.into()));
        let (outcome, fuel) = match start < self.deadline {
            true => self.run(shared, stanza, deadline, &record),
            false => (Outcome::Failed(late()), 0),
        };
        let mut record = record.lock().expect("no panic while held");
        if record.dropped > 0 {
            let fields = serde_json::json!({"dropped": record.dropped});
            record.emitted.push(Emitted::about(&stanza.name, "plugin.events_dropped", fields));
        }
        let (emitted, calls) = (std::mem::take(&mut record.emitted), std::mem::take(&mut record.calls));
        let micros = start.elapsed().as_micros() as u64;
        Judged { stanza: stanza.clone(), outcome, emitted, micros, fuel, calls, origin: None }
    }

    fn run(
        &mut self,
        shared: &Arc<Shared>,
        stanza: &Arc<Stanza>,
        deadline: Instant,
        record: &Arc<Mutex<Record>>,
    ) -> (Outcome, u64) {
        let worker = match self.worker.take().map_or_else(Worker::start, Ok) {
            Ok(worker) => self.worker.insert(worker),
            Err(error) => {
                let what = format!("the system has no thread to run it on ({error})");
                return (Outcome::Failed(Failure::new(FailureKind::Trap, what, "Try again once less is running.")), 0);
            }
        };
        let job = Job { shared: shared.clone(), stanza: stanza.clone(), deadline, record: record.clone() };
        if worker.jobs.send(job).is_ok() {
            match worker.results.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
                Ok(result) => return result,
                Err(RecvTimeoutError::Timeout) => {
                    shared.sandbox.artifacts.engine().increment_epoch();
                    if let Ok(result) = worker.results.recv_timeout(limits::GRACE) {
                        return result;
                    }
                    self.worker = None;
                    let failure = match record.lock().expect("no panic while held").preparing {
                        true => Failure::not_compiled(stanza),
                        false => Failure::deadline(stanza),
                    };
                    return (Outcome::Failed(failure), 0);
                }
                Err(RecvTimeoutError::Disconnected) => {}
            }
        }
        // The worker panicked: a fault of the host while it served this gate.
        self.worker = None;
        let what = "the host failed while it served the gate";
        (Outcome::Failed(Failure::new(FailureKind::Trap, what, "Report it.")), 0)
    }
}

fn late() -> Failure {
    Failure::new(
        FailureKind::Deadline,
        "the time for the whole event was used up before its turn",
        "Try again; if it stays so, look for the slow gate with `dispatcher explain`.",
    )
}
