//! The demo's own host: as plain as a host can be. It opens a conversation, makes one call, and waits as long as it
//! can bear. It keeps every line as it came.

use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use serde::Deserialize;
use serde_json::value::RawValue;

use super::fault::StageFault;
use super::scene::SURE;

/// The longest line that is read, in bytes. The fixtures' longest have a few thousand.
const LINE: u64 = 1024 * 1024;
/// How many lines may wait to be read.
const WAITING_LINES: usize = 64;
/// How much of a process's stderr is kept, in bytes.
const STDERR: u64 = 16 * 1024;
/// How long a process may take to end once its stdin is closed.
const ENDING: Duration = Duration::from_secs(5);

const INITIALIZE: &str = concat!(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"#,
    r#""clientInfo":{"name":"candor-demo","version":""#,
    env!("CARGO_PKG_VERSION"),
    r#""}}}"#
);
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const LIST: &str = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;

/// One process and the pipes to it.
pub(super) struct Host {
    child: Child,
    input: Option<ChildStdin>,
    lines: Receiver<Vec<u8>>,
    stderr: Receiver<String>,
    received: Vec<Vec<u8>>,
}

/// What came of a request.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Reply {
    /// This line, without its line break.
    Line(Vec<u8>),
    /// Nothing in this time.
    NoAnswer(Duration),
    /// The pipe closed.
    Closed,
}

/// Why a conversation did not get as far as the call; each with what was asked.
enum Unopened {
    /// Nothing came in this time.
    Silent { request: &'static str, waited: Duration },
    /// The pipe closed.
    Closed { request: &'static str },
}

/// All that is left of a conversation.
#[derive(Debug)]
pub(super) struct Ended {
    /// Every line received, in order, without line breaks.
    pub(super) received: Vec<Vec<u8>>,
    /// How the process ended, in words.
    pub(super) how: String,
    stderr: String,
}

/// What came of the one call.
#[derive(Debug)]
pub(super) struct Called {
    /// The answer, or why there is none.
    pub(super) reply: Reply,
    /// From sending to that.
    pub(super) took: Duration,
    /// The rest.
    pub(super) ended: Ended,
}

/// Starts the command, opens the conversation as hosts do, and calls the tool once. The process has ended when this
/// returns.
pub(super) fn call(
    command: Command,
    tool: &str,
    arguments: &str,
    patience: Duration,
) -> Result<Called, StageFault> {
    let params = format!(r#"{{"name":"{tool}","arguments":{arguments}}}"#);
    let request = format!(r#"{{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{params}}}"#);
    let mut host = Host::start(command)?;
    let opened = host.open();
    let sent_at = Instant::now();
    let asked = opened.map(|()| host.ask("3", &request, patience));
    let took = sent_at.elapsed();
    let ended = host.end();
    match asked {
        Ok(reply) => Ok(Called { reply, took, ended }),
        Err(Unopened::Silent { request, waited }) => Err(StageFault::Silent {
            request,
            waited,
            stderr: ended.stderr,
        }),
        Err(Unopened::Closed { request }) => Err(StageFault::EndedEarly {
            how: ended.how,
            request,
            stderr: ended.stderr,
        }),
    }
}

impl Host {
    fn start(mut command: Command) -> Result<Self, StageFault> {
        let piped = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = piped
            .spawn()
            .map_err(|source| StageFault::NotStarted { source })?;
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
        if let Some(mut pipe) = child.stderr.take() {
            thread::spawn(move || {
                let mut said = Vec::new();
                let _ = pipe.by_ref().take(STDERR).read_to_end(&mut said);
                // What is more than that is read and dropped, so that the process never waits for us.
                let _ = std::io::copy(&mut pipe, &mut std::io::sink());
                let _ = to_stderr.send(String::from_utf8_lossy(&said).into_owned());
            });
        }
        let input = child.stdin.take();
        Ok(Self {
            child,
            input,
            lines,
            stderr,
            received: Vec::new(),
        })
    }

    /// Opens and lists the tools.
    fn open(&mut self) -> Result<(), Unopened> {
        for (id, line, request) in [("1", INITIALIZE, "initialize"), ("2", LIST, "tools/list")] {
            match self.ask(id, line, SURE) {
                Reply::Line(_) => {}
                Reply::NoAnswer(waited) => return Err(Unopened::Silent { request, waited }),
                Reply::Closed => return Err(Unopened::Closed { request }),
            }
            if id == "1" {
                self.write(INITIALIZED);
            }
        }
        Ok(())
    }

    /// A line that can't be written is told by what comes back: the pipe closes.
    fn write(&mut self, line: &str) {
        if let Some(input) = &mut self.input {
            let _ = input
                .write_all(format!("{line}\n").as_bytes())
                .and_then(|()| input.flush());
        }
    }

    fn ask(&mut self, id: &str, request: &str, patience: Duration) -> Reply {
        self.write(request);
        let start = Instant::now();
        loop {
            match self.lines.recv_timeout(patience.saturating_sub(start.elapsed())) {
                Ok(line) => {
                    self.received.push(line.clone());
                    if answers(&line, id) {
                        return Reply::Line(line);
                    }
                }
                Err(RecvTimeoutError::Timeout) => return Reply::NoAnswer(patience),
                Err(RecvTimeoutError::Disconnected) => return Reply::Closed,
            }
        }
    }

    /// Closes our end and waits for the other; a process that stays is killed.
    fn end(mut self) -> Ended {
        self.input = None;
        let start = Instant::now();
        let status = loop {
            match self.child.try_wait() {
                Ok(None) if start.elapsed() < ENDING => thread::sleep(Duration::from_millis(2)),
                Ok(Some(status)) => break Some(status),
                Ok(None) | Err(_) => {
                    let _ = self.child.kill();
                    break self.child.wait().ok();
                }
            }
        };
        while let Ok(line) = self.lines.recv_timeout(ENDING.saturating_sub(start.elapsed())) {
            self.received.push(line);
        }
        let stderr = self
            .stderr
            .recv_timeout(ENDING.saturating_sub(start.elapsed()))
            .unwrap_or_default();
        Ended {
            received: self.received,
            how: in_words(status),
            stderr,
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

fn answers(line: &[u8], id: &str) -> bool {
    #[derive(Deserialize)]
    struct Envelope<'a> {
        #[serde(borrow, default)]
        id: Option<&'a RawValue>,
        #[serde(borrow, default)]
        method: Option<&'a RawValue>,
    }
    serde_json::from_slice::<Envelope<'_>>(line)
        .is_ok_and(|envelope| envelope.method.is_none() && envelope.id.is_some_and(|own| own.get() == id))
}

fn in_words(status: Option<ExitStatus>) -> String {
    match (
        status.and_then(|status| status.code()),
        status.and_then(|status| status.signal()),
    ) {
        (Some(code), _) => format!("exit {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "nobody knows how".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(script: &str) -> Command {
        let mut command = Command::new("/bin/sh");
        command.args(["-c", script]);
        command
    }

    const OPENS: &str =
        r#"read a; echo '{"id":1,"result":{}}'; read b; read c; echo '{"id":2,"result":{}}'; read d"#;

    #[test]
    fn a_program_that_is_not_there_is_a_clear_fault() {
        let fault = call(Command::new("/no/such/program"), "t", "{}", SURE).unwrap_err();
        assert!(matches!(fault, StageFault::NotStarted { .. }), "{fault}");
    }

    #[test]
    fn a_process_that_ends_early_is_quoted() {
        let fault = call(shell("echo 'no such script' >&2; exit 3"), "t", "{}", SURE)
            .unwrap_err()
            .to_string();
        assert!(
            fault.contains("exit 3") && fault.contains("initialize"),
            "{fault}"
        );
        assert!(fault.contains("no such script"), "{fault}");
    }

    #[test]
    fn an_answer_is_told_from_what_else_is_written_and_all_lines_are_kept() {
        let script = format!(
            r#"{OPENS}; echo noise; echo '{{"method":"m","id":3}}'; echo '{{"id": 3,"result":{{}}}}'"#
        );
        let called = call(shell(&script), "t", "{}", SURE).unwrap();
        assert_eq!(called.reply, Reply::Line(br#"{"id": 3,"result":{}}"#.to_vec()));
        assert_eq!(called.ended.received.len(), 5);
    }

    #[test]
    fn silence_and_death_are_two_things() {
        let silent = call(
            shell(&format!("{OPENS}; read e")),
            "t",
            "{}",
            Duration::from_millis(50),
        )
        .unwrap();
        assert_eq!(silent.reply, Reply::NoAnswer(Duration::from_millis(50)));
        let dead = call(shell(&format!("{OPENS}; kill -9 $$")), "t", "{}", SURE).unwrap();
        assert_eq!((dead.reply, dead.ended.how.as_str()), (Reply::Closed, "signal 9"));
    }

    #[test]
    fn a_line_beyond_the_bound_ends_the_reading() {
        let long = vec![b'x'; usize::try_from(LINE).unwrap() + 1];
        assert_eq!(next_line(&mut &long[..]), None);
        assert_eq!(next_line(&mut &b"a\nb"[..]), Some(b"a".to_vec()));
        assert_eq!(next_line(&mut &b"b"[..]), Some(b"b".to_vec()));
        assert_eq!(next_line(&mut &b""[..]), None);
    }
}
