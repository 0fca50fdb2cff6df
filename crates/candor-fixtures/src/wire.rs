//! Frames as a fixture reads them: the envelope is read, the rest stays the bytes it was.

use std::{
    borrow::Cow,
    collections::BTreeMap,
    io::{BufRead, BufReader, Read},
    sync::mpsc::{Receiver, sync_channel},
};

use serde::Deserialize;
use serde_json::value::RawValue;

/// The longest line that is read. Longer ones are cut, and then fail as JSON.
const LINE_LIMIT: u64 = 128 * 1024 * 1024;

/// Lines read ahead of the one being played.
const READ_AHEAD: usize = 64;

/// What every message has, and nothing of what it means.
#[derive(Debug, Deserialize)]
pub(crate) struct Envelope<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) result: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) error: Option<&'a RawValue>,
}

/// The raw member of an object at this path of names.
pub(crate) fn member<'a>(json: &'a str, path: &[&str]) -> Option<&'a str> {
    let Some((first, rest)) = path.split_first() else {
        return Some(json);
    };
    let members: BTreeMap<Cow<'a, str>, &'a RawValue> = serde_json::from_str(json).ok()?;
    member(members.get(*first)?.get(), rest)
}

/// What comes in on stdin.
#[derive(Debug)]
pub(crate) enum Arrival {
    Line(String),
    End,
}

/// Reads stdin on a thread of its own, so that a step which waits does not keep the host from writing.
pub(crate) fn arrivals() -> Receiver<Arrival> {
    let (sender, receiver) = sync_channel(READ_AHEAD);
    std::thread::spawn(move || {
        let mut input = BufReader::new(std::io::stdin());
        loop {
            let mut line = Vec::new();
            let read = input.by_ref().take(LINE_LIMIT).read_until(b'\n', &mut line);
            let arrival = match read {
                Ok(0) | Err(_) => Arrival::End,
                Ok(_) => Arrival::Line(String::from_utf8_lossy(&line).trim().to_owned()),
            };
            let last = matches!(arrival, Arrival::End);
            if sender.send(arrival).is_err() || last {
                return;
            }
        }
    });
    receiver
}
