//! The host: opens a session and plays calls in a window, one clock around each.

use std::collections::HashMap;
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::APART;

/// A way to the server.
#[derive(Debug)]
pub(crate) struct Way {
    pub(crate) name: &'static str,
    pub(crate) command: Vec<String>,
}

/// What one measurement came to.
#[derive(Debug)]
pub(crate) struct Took {
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    pub(crate) total: Duration,
}

/// An open session.
#[derive(Debug)]
pub(crate) struct Session {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    line: Vec<u8>,
    next: u64,
}

impl Session {
    /// Starts the way's command and shakes hands; `apart` has the server keep to the last core.
    pub(crate) fn open(way: &Way, apart: bool) -> anyhow::Result<Self> {
        let (program, arguments) = way.command.split_first().context("an empty command")?;
        let mut child = Command::new(program)
            .args(arguments)
            .envs(apart.then_some((APART, "1")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().context("no stdin")?;
        let output = BufReader::with_capacity(1 << 20, child.stdout.take().context("no stdout")?);
        let mut session = Self {
            child,
            input,
            output,
            line: Vec::new(),
            next: 1,
        };
        session.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"candor-bench\",\"version\":\"1\"}}}")?;
        session.receive()?;
        session.send("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")?;
        session.send("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"tools/list\"}")?;
        session.receive()?;
        Ok(session)
    }

    fn send(&mut self, line: &str) -> anyhow::Result<()> {
        // At once: half a line would wake the other side twice.
        self.input.write_all(format!("{line}\n").as_bytes())?;
        Ok(())
    }

    fn receive(&mut self) -> anyhow::Result<()> {
        self.line.clear();
        if self.output.read_until(b'\n', &mut self.line)? == 0 {
            bail!("the server ended");
        }
        Ok(())
    }

    fn call(&mut self, tool: &str) -> anyhow::Result<u64> {
        let id = self.next;
        self.next += 1;
        self.send(&format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\"{tool}\",\"arguments\":{{\
             \"query\":\"all of it\",\"limit\":100,\"order\":\"ascending\",\"since\":\"2026-01-01\",\"exact\":true,\
             \"tags\":[\"a\",\"b\"],\"owner\":{{\"name\":\"Ada\",\"id\":7205759403792793601}},\"code\":\"AB1234\"}}}}}}"
        ))?;
        Ok(id)
    }

    /// The id of the line just read: it stands near its start.
    fn id(&self) -> anyhow::Result<u64> {
        let head = self.line.get(..64.min(self.line.len())).unwrap_or_default();
        let head = std::str::from_utf8(head).unwrap_or_default();
        let digits = head.split("\"id\":").nth(1).context("an answer without an id")?;
        let digits: String = digits.chars().take_while(char::is_ascii_digit).collect();
        Ok(digits.parse()?)
    }

    /// Makes `calls` calls, `window` of them open at a time.
    pub(crate) fn play(&mut self, tool: &str, window: usize, calls: usize) -> anyhow::Result<Took> {
        let mut open = HashMap::new();
        let mut times = Vec::with_capacity(calls);
        let begun = Instant::now();
        let mut sent = 0;
        while times.len() < calls {
            while sent < calls && open.len() < window {
                let at = Instant::now();
                open.insert(self.call(tool)?, at);
                sent += 1;
            }
            self.receive()?;
            let at = open.remove(&self.id()?).context("an answer for nobody")?;
            if !self.line.ends_with(b"}\n")
                || self
                    .line
                    .windows(16)
                    .take(200)
                    .any(|part| part == b"\"isError\":true,\"_")
            {
                bail!("not the answer that was asked for");
            }
            times.push(at.elapsed());
        }
        let total = begun.elapsed();
        times.sort_unstable();
        let at = |share: usize| times.get(times.len() * share / 100).copied().unwrap_or_default();
        Ok(Took {
            p50: at(50),
            p99: at(99),
            total,
        })
    }

    /// The most memory the started process has held so far, in kB.
    pub(crate) fn resident_kb(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id())).unwrap_or_default();
        let line = status
            .lines()
            .find(|line| line.starts_with("VmHWM:"))
            .unwrap_or_default();
        line.split_whitespace()
            .nth(1)
            .and_then(|number| number.parse().ok())
            .unwrap_or(0)
    }

    /// Closes the session and waits for its end.
    pub(crate) fn close(mut self) -> anyhow::Result<()> {
        drop(self.input);
        let status = self.child.wait()?;
        if !status.success() {
            bail!("the session ended with {status}");
        }
        Ok(())
    }
}
