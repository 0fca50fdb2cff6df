//! A host: starts a command, writes lines to it, and reads what comes back. Every wait ends, and says what it waited for.

use std::{
    io::{self, BufRead, BufReader, Read, Write},
    process::{Child, Command, Stdio},
    sync::{
        Arc, Mutex,
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::frame;

/// How long the end of stderr is waited for, once the process has ended.
const LAST_WORDS: Duration = Duration::from_secs(2);

/// How long anything may take before the test fails. Long, because it is never a measure of anything.
pub(crate) const DEADLINE: Duration = Duration::from_secs(30);

/// A host with its server, or with Candor before its server.
pub(crate) struct Host {
    child: Child,
    /// Lines for the thread that writes them, since a write to a pipe that nobody reads has no end; none once closed.
    input: Option<Sender<String>>,
    /// What came of each of them.
    written: Receiver<io::Result<()>>,
    lines: Receiver<String>,
    errors: Arc<Mutex<String>>,
    /// Disconnected once stderr has ended and all of it is in `errors`.
    silent: Receiver<()>,
    /// Every line written, in order.
    pub(crate) sent: Vec<String>,
    /// Every line read, in order.
    pub(crate) received: Vec<String>,
    /// How many of the lines read were asked for already by [`Host::next`].
    seen: usize,
}

/// How a host's server ended.
#[derive(Debug)]
pub(crate) struct Ended {
    /// The exit code; none where a signal ended it.
    pub(crate) code: Option<i32>,
    /// All of its stderr.
    pub(crate) errors: String,
    /// Every line the host wrote.
    pub(crate) sent: Vec<String>,
    /// Every line the host read.
    pub(crate) received: Vec<String>,
}

impl Host {
    /// Starts the command with pipes.
    pub(crate) fn start(mut command: Command) -> Self {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap_or_else(|fault| panic!("can't start {command:?}: {fault}"));
        let (sender, lines) = channel();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|length| length > 0) {
                let text = String::from_utf8_lossy(&line);
                if sender
                    .send(text.strip_suffix('\n').unwrap_or(&text).to_owned())
                    .is_err()
                {
                    return;
                }
                line.clear();
            }
        });
        let errors = Arc::new(Mutex::new(String::new()));
        let mut stderr = child.stderr.take().unwrap();
        let heard = Arc::clone(&errors);
        let (listening, silent) = channel();
        thread::spawn(move || {
            let _listening: Sender<()> = listening;
            let mut chunk = [0; 4096];
            while let Ok(length @ 1..) = stderr.read(&mut chunk) {
                heard
                    .lock()
                    .unwrap()
                    .push_str(&String::from_utf8_lossy(&chunk[..length]));
            }
        });
        let mut stdin = child.stdin.take().unwrap();
        let (input, orders) = channel::<String>();
        let (done, written) = channel();
        thread::spawn(move || {
            for line in orders {
                let end = stdin.write_all(line.as_bytes()).and_then(|()| stdin.flush());
                if done.send(end).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            input: Some(input),
            written,
            lines,
            errors,
            silent,
            sent: Vec::new(),
            received: Vec::new(),
            seen: 0,
        }
    }

    /// Writes one line.
    pub(crate) fn send(&mut self, line: &str) {
        self.send_within(line, DEADLINE);
    }

    fn send_within(&mut self, line: &str, deadline: Duration) {
        assert!(!line.contains('\n'), "a frame is one line: {line}");
        self.sent.push(line.to_owned());
        let input = self.input.as_ref().expect("the host has closed its end");
        // A thread that has ended says so by the other channel.
        let _ = input.send(format!("{line}\n"));
        let what = match self.written.recv_timeout(deadline) {
            Ok(Ok(())) => return,
            Ok(Err(fault)) => format!("can't write {line}: {fault}"),
            Err(RecvTimeoutError::Timeout) => format!(
                "waited {deadline:?} for the other end to read a line of {} bytes: it does not read its stdin",
                line.len()
            ),
            Err(RecvTimeoutError::Disconnected) => format!("can't write {line}: its writer has ended"),
        };
        self.fail(&what);
    }

    /// The next line that [`Host::next`] has not given yet.
    pub(crate) fn next(&mut self) -> String {
        while self.seen == self.received.len() {
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => self.received.push(line),
                Err(fault) => self.fail(&format!("waited for a line: {fault}")),
            }
        }
        self.seen += 1;
        self.received[self.seen - 1].clone()
    }

    /// Reads until the response to the request with this raw id, which may have come already.
    pub(crate) fn response_to(&mut self, id: &str) -> String {
        self.until(&format!("the response to {id}"), |line| {
            frame::id(line) == Some(id) && frame::method(line).is_none()
        })
    }

    /// Reads until a message with this method that was not given before.
    pub(crate) fn message(&mut self, method: &str) -> String {
        loop {
            let line = self.next();
            if frame::method(&line).as_deref() == Some(method) {
                return line;
            }
        }
    }

    /// Sends a request and gives its response. The request must carry a raw id.
    pub(crate) fn ask(&mut self, request: &str) -> String {
        self.send(request);
        let id = frame::id(request).expect("a request has an id").to_owned();
        self.response_to(&id)
    }

    fn until(&mut self, what: &str, fits: impl Fn(&str) -> bool) -> String {
        let mut from = 0;
        loop {
            if let Some(line) = self.received[from..].iter().find(|line| fits(line)) {
                return line.clone();
            }
            from = self.received.len();
            match self.lines.recv_timeout(DEADLINE) {
                Ok(line) => self.received.push(line),
                Err(fault) => self.fail(&format!("waited for {what}: {fault}")),
            }
        }
    }

    /// Waits until the processes that our child started are gone; a dead one that nobody waited for is gone too.
    pub(crate) fn wait_until_server_is_gone(&mut self) {
        let children = format!("/proc/{0}/task/{0}/children", self.child.id());
        let alive = |pid: &str| {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            stat.rsplit_once(") ")
                .is_some_and(|(_, rest)| !rest.starts_with(['Z', 'X']))
        };
        let start = Instant::now();
        while std::fs::read_to_string(&children).is_ok_and(|pids| pids.split_whitespace().any(alive)) {
            if start.elapsed() > DEADLINE {
                self.fail("waited for the server's process to end");
            }
            thread::sleep(Duration::from_millis(5));
        }
    }

    /// Kills our child by SIGKILL, as no program can guard against.
    pub(crate) fn kill(mut self) -> Ended {
        self.child.kill().unwrap();
        self.end()
    }

    /// Closes our end and reads all that still comes.
    pub(crate) fn close(mut self) -> Ended {
        self.input = None;
        self.end()
    }

    fn end(mut self) -> Ended {
        self.input = None;
        let start = Instant::now();
        loop {
            match self.lines.recv_timeout(DEADLINE.saturating_sub(start.elapsed())) {
                Ok(line) => self.received.push(line),
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) => {
                    self.fail("waited for the end of stdout after closing stdin")
                }
            }
        }
        let status = loop {
            match self.child.try_wait().unwrap() {
                Some(status) => break status,
                None if start.elapsed() > DEADLINE => {
                    self.fail("waited for the process to end after its stdout did")
                }
                None => thread::sleep(Duration::from_millis(5)),
            }
        };
        // Its last words may still be on their way; a descendant that holds stderr is not waited for.
        let _ = self.silent.recv_timeout(LAST_WORDS);
        let errors = self.errors.lock().unwrap().clone();
        Ended {
            code: status.code(),
            errors,
            sent: self.sent,
            received: self.received,
        }
    }

    fn fail(&mut self, what: &str) -> ! {
        let _ = self.child.kill();
        let errors = self.errors.lock().unwrap().clone();
        panic!(
            "{what}\nsent: {:#?}\nreceived: {:#?}\nstderr:\n{errors}",
            self.sent, self.received
        )
    }
}

#[test]
#[should_panic(expected = "for the other end to read a line of 1048576 bytes: it does not read its stdin")]
fn a_line_that_nobody_reads_fails_the_test_in_time() {
    let mut deaf = Command::new("sleep");
    deaf.arg("600");
    let mut host = Host::start(deaf);
    host.send_within("a pipe takes this", Duration::from_secs(10));
    // More than a pipe holds.
    host.send_within(&"x".repeat(1 << 20), Duration::from_millis(100));
}
