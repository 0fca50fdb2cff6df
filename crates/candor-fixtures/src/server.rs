//! The engine that plays a script: reads a frame, finds its steps, and does them one after the other.

mod call;
#[cfg(test)]
mod tests;
mod usual;

use std::{
    collections::BTreeMap,
    io::Write,
    sync::mpsc::RecvTimeoutError,
    time::{Duration, Instant},
};

use serde_json::value::RawValue;

use self::call::Call;
use crate::{
    Fault,
    end::{end, freeze},
    ledger,
    options::Serve,
    script::{Death, Message, Script, Step, Unknown},
    template,
    truth::{Truth, TruthFile},
    wire::{self, Arrival, Envelope},
};

/// Plays `script` on stdin and stdout until stdin ends.
pub(crate) fn serve(script: &Script, options: Serve) -> Result<i32, Fault> {
    let mut server = Server::new(script, options, Box::new(std::io::stdout()))?;
    server.play(Call::none(), &script.start)?;
    let arrivals = wire::arrivals();
    loop {
        let arrival = match server.next_due() {
            None => arrivals.recv().unwrap_or(Arrival::End),
            Some(due) => match arrivals.recv_timeout(due.saturating_duration_since(Instant::now())) {
                Ok(arrival) => arrival,
                Err(RecvTimeoutError::Disconnected) => Arrival::End,
                Err(RecvTimeoutError::Timeout) => {
                    server.pass_time()?;
                    continue;
                }
            },
        };
        match arrival {
            Arrival::Line(line) => server.receive(&line)?,
            Arrival::End => {
                server.release("eof")?;
                if !script.outlives_eof {
                    return Ok(0);
                }
                outlive(&mut server)?;
            }
        }
    }
}

/// Stays alive without stdin, until a signal ends it: timers still run.
fn outlive(server: &mut Server<'_>) -> Result<(), Fault> {
    loop {
        let pause = server
            .next_due()
            .map(|due| due.saturating_duration_since(Instant::now()));
        std::thread::sleep(pause.unwrap_or(Duration::from_secs(1)));
        server.pass_time()?;
    }
}

/// A server in play.
struct Server<'s> {
    script: &'s Script,
    options: Serve,
    output: Box<dyn Write>,
    truth: TruthFile,
    /// What `tools/list` says now.
    listed: Vec<&'s RawValue>,
    /// How often each tool was called.
    calls_of: BTreeMap<String, u64>,
    /// Calls whose steps are not all done, oldest first.
    parked: Vec<Parked<'s>>,
    /// Requests sent to the host so far; the last one's id.
    asked: u64,
}

/// A call that waits, and what it does then.
struct Parked<'s> {
    call: Call,
    rest: &'s [Step],
    until: Until,
}

/// What a parked call waits for.
enum Until {
    Released(String),
    Due(Instant),
    Answered(u64),
}

impl<'s> Server<'s> {
    fn new(script: &'s Script, options: Serve, output: Box<dyn Write>) -> Result<Self, Fault> {
        let truth = TruthFile::open(options.truth.as_deref())?;
        let listed = script
            .tools
            .iter()
            .filter(|tool| !tool.unlisted)
            .map(|tool| &*tool.definition)
            .collect();
        Ok(Self {
            script,
            options,
            output,
            truth,
            listed,
            calls_of: BTreeMap::new(),
            parked: Vec::new(),
            asked: 0,
        })
    }

    fn next_due(&self) -> Option<Instant> {
        let due = self.parked.iter().filter_map(|parked| match parked.until {
            Until::Due(due) => Some(due),
            Until::Released(_) | Until::Answered(_) => None,
        });
        due.min()
    }

    /// Takes one line. What is no JSON is ignored, as most real servers do.
    fn receive(&mut self, line: &str) -> Result<(), Fault> {
        let Ok(envelope) = serde_json::from_str::<Envelope<'_>>(line) else {
            return Ok(());
        };
        let Some(method) = envelope.method.as_deref() else {
            return self.receive_answer(&envelope);
        };
        let call = Call::of(method, &envelope);
        if let Some(steps) = self.script.methods.get(method) {
            return self.play(call, steps);
        }
        self.usual(call)
    }

    /// The host answered a request of ours: the call that asked goes on.
    fn receive_answer(&mut self, envelope: &Envelope<'_>) -> Result<(), Fault> {
        let Some(id) = envelope
            .id
            .and_then(|id| id.get().trim_matches('"').parse::<u64>().ok())
        else {
            return Ok(());
        };
        let answer = envelope
            .result
            .or(envelope.error)
            .map(|answer| answer.get().to_owned());
        self.wake(
            |until| matches!(until, Until::Answered(asked) if *asked == id),
            answer.as_deref(),
        )
    }

    /// Lets every call go on whose time has come.
    fn pass_time(&mut self) -> Result<(), Fault> {
        let now = Instant::now();
        self.wake(|until| matches!(until, Until::Due(due) if *due <= now), None)
    }

    fn release(&mut self, name: &str) -> Result<(), Fault> {
        self.wake(
            |until| matches!(until, Until::Released(awaited) if awaited == name),
            None,
        )
    }

    /// Lets every parked call that waits for this go on, oldest first.
    fn wake(&mut self, is_awaited: impl Fn(&Until) -> bool, answer: Option<&str>) -> Result<(), Fault> {
        let (woken, parked) = std::mem::take(&mut self.parked)
            .into_iter()
            .partition(|one| is_awaited(&one.until));
        self.parked = parked;
        let woken: Vec<Parked<'s>> = woken;
        for mut one in woken {
            if let Some(answer) = answer {
                one.call.answer = Some(answer.to_owned());
            }
            self.play(one.call, one.rest)?;
        }
        Ok(())
    }

    /// Does the steps in order, until one of them waits.
    fn play(&mut self, mut call: Call, steps: &'s [Step]) -> Result<(), Fault> {
        let mut rest = steps;
        while let Some((step, later)) = rest.split_first() {
            rest = later;
            let until = match step {
                Step::Wait(name) => Until::Released(name.clone()),
                Step::AfterMs(milliseconds) => {
                    Until::Due(Instant::now() + Duration::from_millis(*milliseconds))
                }
                Step::Ask(message) => {
                    self.asked += 1;
                    let id = self.asked;
                    self.send(&call, &framed(message, Some(id)))?;
                    Until::Answered(id)
                }
                Step::LookInLedger => {
                    call.found = Some(ledger::operations_of(call.tool_name(), &self.options));
                    continue;
                }
                step => {
                    self.act(&call, step)?;
                    continue;
                }
            };
            self.parked.push(Parked { call, rest, until });
            return Ok(());
        }
        Ok(())
    }

    /// Does one step that does not wait.
    fn act(&mut self, call: &Call, step: &'s Step) -> Result<(), Fault> {
        match step {
            Step::Done(what) => self.tell(call, true, what),
            Step::Undone(what) => self.tell(call, false, what),
            Step::Result(result) => self.answer(call, result.get()),
            Step::Error(error) => self.send(
                call,
                &format!(r#"{{"jsonrpc":"2.0","id":"{{{{id}}}}","error":{}}}"#, error.get()),
            ),
            Step::Frame(frame) => self.send(call, frame.get()),
            Step::Line(line) => self.write_text(call, &format!("{line}\n")),
            Step::Bytes(text) => self.write_text(call, text),
            Step::Hex(digits) => self.write(&bytes_of(digits)),
            Step::Oversized(length) => self.answer_at_length(call, *length),
            Step::Notify(message) => self.send(call, &framed(message, None)),
            Step::Release(name) => self.release(name),
            Step::Usual => self.usual(call.clone()),
            Step::Relist(list) => {
                self.listed = self
                    .script
                    .lists
                    .get(list)
                    .into_iter()
                    .flatten()
                    .map(|tool| &**tool)
                    .collect();
                Ok(())
            }
            Step::Freeze => {
                freeze();
                Ok(())
            }
            Step::Die(death) => end(*death),
            // `play` parks on these.
            Step::Wait(_) | Step::AfterMs(_) | Step::Ask(_) | Step::LookInLedger => Ok(()),
        }
    }

    /// What an unknown method gets.
    fn unknown(&mut self, call: &Call) -> Result<(), Fault> {
        match self.script.unknown {
            Unknown::Die => end(Death::Exit(1)),
            _ if call.id.is_none() => Ok(()),
            Unknown::Ignore => Ok(()),
            Unknown::Echo => self.answer(call, r#"{"received":"{{params}}"}"#),
            Unknown::Refuse => self.refuse(call, -32601, "Method not found", "null"),
        }
    }

    /// Answers with a result. Where the call is modern, an object that has no `resultType` gets one.
    fn answer(&mut self, call: &Call, result: &str) -> Result<(), Fault> {
        let result = call.with_result_type(result);
        self.send(
            call,
            &format!(r#"{{"jsonrpc":"2.0","id":"{{{{id}}}}","result":{result}}}"#),
        )
    }

    /// Answers with an error; `data` is raw JSON.
    fn refuse(&mut self, call: &Call, code: i64, message: &str, data: &str) -> Result<(), Fault> {
        let data = if data == "null" {
            String::new()
        } else {
            format!(r#","data":{data}"#)
        };
        let message = serde_json::Value::from(message);
        let error = format!(r#"{{"code":{code},"message":{message}{data}}}"#);
        self.send(
            call,
            &format!(r#"{{"jsonrpc":"2.0","id":"{{{{id}}}}","error":{error}}}"#),
        )
    }

    /// Writes JSON as one line, its blanks filled.
    fn send(&mut self, call: &Call, json: &str) -> Result<(), Fault> {
        self.write_text(call, &format!("{}\n", template::one_line(json)))
    }

    /// Answers with a text of so many bytes, a piece at a time.
    fn answer_at_length(&mut self, call: &Call, length: usize) -> Result<(), Fault> {
        let result = call.with_result_type(r#"{"content":[{"type":"text","text":""}]}"#);
        let (head, tail) = result.split_once(r#""""#).unwrap_or((&result, ""));
        self.write_text(
            call,
            &format!(r#"{{"jsonrpc":"2.0","id":"{{{{id}}}}","result":{head}""#),
        )?;
        let piece = [b'x'; 64 * 1024];
        let mut left = length;
        while left > 0 {
            let now = left.min(piece.len());
            self.output.write_all(piece.get(..now).unwrap_or_default())?;
            left -= now;
        }
        self.write(format!("\"{tail}}}\n").as_bytes())
    }

    fn write_text(&mut self, call: &Call, text: &str) -> Result<(), Fault> {
        let filled = self.fill(call, text)?;
        self.write(filled.as_bytes())
    }

    /// Fills the blanks of a text with what the call and the truth lend it.
    fn fill(&self, call: &Call, text: &str) -> Result<String, Fault> {
        let mut fault = None;
        let filled = template::fill(text, |name| match name.strip_prefix("done ") {
            Some(tool) => self.truth.done_by(tool).map_err(|why| fault = Some(why)).ok(),
            None => call.value_of(name),
        });
        match fault {
            None => Ok(filled),
            Some(fault) => Err(fault),
        }
    }

    /// Writes bytes at once: what a step has said must be out before the next one ends the process.
    fn write(&mut self, bytes: &[u8]) -> Result<(), Fault> {
        self.output.write_all(bytes)?;
        Ok(self.output.flush()?)
    }

    fn tell(&mut self, call: &Call, done: bool, what: &str) -> Result<(), Fault> {
        let what = self.fill(call, what)?;
        let arguments = call.arguments.clone().unwrap_or_default();
        self.truth.append(&Truth {
            tool: call.tool_name().to_owned(),
            arguments,
            done,
            what,
        })
    }
}

/// A notification, or a request with our own id.
fn framed(message: &Message, id: Option<u64>) -> String {
    let id = id.map(|id| format!(r#""id":{id},"#)).unwrap_or_default();
    let method = serde_json::Value::from(message.method.as_str());
    let params = message
        .params
        .as_ref()
        .map(|params| format!(r#","params":{}"#, params.get()))
        .unwrap_or_default();
    format!(r#"{{"jsonrpc":"2.0",{id}"method":{method}{params}}}"#)
}

/// Bytes from hexadecimal digits; what is no digit is skipped, a last odd digit too.
fn bytes_of(digits: &str) -> Vec<u8> {
    let digits: Vec<u8> = digits
        .chars()
        .filter_map(|digit| digit.to_digit(16))
        .filter_map(|d| d.try_into().ok())
        .collect();
    digits
        .chunks_exact(2)
        .map(|pair| pair.iter().fold(0, |byte, digit| (byte << 4) | digit))
        .collect()
}
