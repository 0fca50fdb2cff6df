//! One server, started for the doctor alone, and what it answers. Plain threads: nothing else goes on meanwhile.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process_group};
use serde::Deserialize;
use serde_json::value::RawValue;

use super::probe::Target;
use crate::screen;

/// The longest line that is read, in bytes.
const LINE: u64 = 16 * 1024 * 1024;
/// How many lines may wait to be read.
const WAITING_LINES: usize = 16;
/// How much of the end of a server's stderr is kept, in bytes.
const STDERR: usize = 4 * 1024;
/// How long it may take before somebody is told that it goes on, and how often then.
const QUIET: Duration = Duration::from_secs(2);
/// How long a server may take to end once its stdin is closed, and once more after SIGTERM.
const ENDING: Duration = Duration::from_secs(3);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    /// It could not be started.
    #[error("it could not be started: {why}")]
    NotStarted {
        /// What the system said.
        why: String,
    },
    /// Nothing in this time.
    #[error("no answer to {request} within {} s", waited.as_secs_f32())]
    Silent {
        /// What was asked.
        request: &'static str,
        /// How long was waited.
        waited: Duration,
    },
    /// It ended.
    #[error("it ended without an answer to {request}")]
    Ended {
        /// What was asked.
        request: &'static str,
    },
    /// It answered with an error.
    #[error("it answered {request} with an error: {error}")]
    Refused {
        /// What was asked.
        request: &'static str,
        /// The error as it came, cut.
        error: String,
    },
}

/// How a server took its leave.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Leave {
    /// The last line of its stderr.
    pub(super) last_words: Option<String>,
    /// Did it stay when its input ended?
    pub(super) lingered: bool,
}

/// A server that runs, with the pipes to it.
pub(super) struct Conversation {
    name: String,
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<Vec<u8>>,
    next_id: u32,
}

#[derive(Deserialize)]
struct Envelope<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    #[serde(borrow, default)]
    result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    error: Option<&'a RawValue>,
}

impl Conversation {
    /// Starts the server as the leader of a process group of its own.
    pub(super) fn start(target: &Target) -> Result<Self, NoAnswer> {
        let mut command = Command::new(&target.program);
        command
            .args(&target.args)
            .envs(target.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0);
        if let Some(cwd) = &target.cwd {
            command.current_dir(cwd);
        }
        let mut child = command.spawn().map_err(|fault| NoAnswer::NotStarted {
            why: fault.to_string(),
        })?;
        let (to_lines, lines) = sync_channel(WAITING_LINES);
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                let mut stdout = BufReader::new(stdout);
                while let Some(line) = next_line(&mut stdout) {
                    if to_lines.send(line).is_err() {
                        return;
                    }
                }
            });
        }
        let (to_stderr, stderr) = sync_channel(1);
        if let Some(pipe) = child.stderr.take() {
            thread::spawn(move || {
                let _ = to_stderr.send(end_of(pipe));
            });
        }
        Ok(Self {
            name: target.name.clone(),
            input: child.stdin.take(),
            child,
            lines,
            stderr,
            next_id: 1,
        })
    }

    /// Writes one line. One that can't be written is told by what comes back: the pipe closes.
    pub(super) fn write(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input
                .write_all(format!("{line}\n").as_bytes())
                .and_then(|()| input.flush());
        }
    }

    /// Asks, and waits for the answer: the raw result.
    pub(super) fn ask(
        &mut self,
        request: &'static str,
        params: &str,
        patience: Duration,
    ) -> Result<Box<RawValue>, NoAnswer> {
        let id = self.next_id.to_string();
        self.next_id += 1;
        self.write(&format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"{request}","params":{params}}}"#
        ));
        let start = Instant::now();
        let mut told = QUIET;
        loop {
            let left = patience.saturating_sub(start.elapsed());
            match self
                .lines
                .recv_timeout(left.min(told.saturating_sub(start.elapsed())))
            {
                Ok(line) => {
                    if let Some(answer) = self.answer(&line, &id, request) {
                        return answer;
                    }
                }
                Err(RecvTimeoutError::Disconnected) => return Err(NoAnswer::Ended { request }),
                Err(RecvTimeoutError::Timeout) if start.elapsed() >= patience => {
                    return Err(NoAnswer::Silent {
                        request,
                        waited: patience,
                    });
                }
                Err(RecvTimeoutError::Timeout) => {
                    screen::note(&format!(
                        "still waiting for {} to answer {request} ({} s of {} s)…",
                        self.name,
                        start.elapsed().as_secs(),
                        patience.as_secs()
                    ));
                    told += QUIET * 2;
                }
            }
        }
    }

    /// The answer, if this line is it. A request of the server is refused: nobody is here to carry it out.
    fn answer(
        &mut self,
        line: &[u8],
        id: &str,
        request: &'static str,
    ) -> Option<Result<Box<RawValue>, NoAnswer>> {
        let envelope: Envelope<'_> = serde_json::from_slice(line).ok()?;
        let own = envelope.id?.get();
        if let Some(method) = envelope.method {
            let reply = if method.get() == "\"ping\"" {
                r#""result":{}"#
            } else {
                r#""error":{"code":-32601,"message":"candor doctor only lists tools"}"#
            };
            self.write(&format!(r#"{{"jsonrpc":"2.0","id":{own},{reply}}}"#));
            return None;
        }
        if own != id {
            return None;
        }
        match (envelope.result, envelope.error) {
            (Some(result), None) => Some(Ok(result.to_owned())),
            (_, Some(error)) => Some(Err(NoAnswer::Refused {
                request,
                error: error.get().chars().take(300).collect(),
            })),
            (None, None) => None,
        }
    }

    /// Closes our end, waits for the other, and ends what stays.
    pub(super) fn end(mut self) -> Leave {
        self.input = None;
        let group = i32::try_from(self.child.id()).ok().and_then(Pid::from_raw);
        let signal = |signal| {
            if let Some(group) = group {
                let _ = kill_process_group(group, signal);
            }
        };
        let lingered = !self.ended_within(ENDING);
        if lingered {
            screen::note(&format!("{} does not end by itself; ending it…", self.name));
            signal(Signal::TERM);
            if !self.ended_within(ENDING) {
                signal(Signal::KILL);
                let _ = self.child.wait();
            }
        }
        // Descendants that outlive it end too.
        signal(Signal::KILL);
        let kept = self.stderr.recv_timeout(ENDING).unwrap_or_default();
        let text = String::from_utf8_lossy(&kept);
        let last = text.lines().rev().find(|line| !line.trim().is_empty());
        Leave {
            last_words: last.map(|line| line.trim().chars().take(300).collect()),
            lingered,
        }
    }

    fn ended_within(&mut self, patience: Duration) -> bool {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(None) if start.elapsed() < patience => {
                    // What it still writes must not block it.
                    while self.lines.try_recv().is_ok() {}
                    thread::sleep(Duration::from_millis(5));
                }
                Ok(None) => return false,
                Ok(Some(_)) | Err(_) => return true,
            }
        }
    }
}

/// The next line without its line break; none at the end, or where a line is beyond the bound.
fn next_line(from: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut line = Vec::new();
    let length = from.take(LINE).read_until(b'\n', &mut line).ok()?;
    let whole = line.pop_if(|last| *last == b'\n').is_some();
    (length > 0 && (whole || u64::try_from(length).is_ok_and(|length| length < LINE))).then_some(line)
}

/// Reads all of it, and keeps its end.
fn end_of(mut pipe: impl Read) -> Vec<u8> {
    let (mut kept, mut chunk) = (Vec::new(), [0; 1024]);
    while let Ok(length @ 1..) = pipe.read(&mut chunk) {
        kept.extend(chunk.iter().take(length));
        let over = kept.len().saturating_sub(STDERR);
        kept.drain(..over);
    }
    kept
}
