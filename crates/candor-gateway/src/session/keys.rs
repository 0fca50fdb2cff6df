//! Idempotency keys: claimed in the ledger with the intent, and what became of the call that had one first.

use std::ffi::OsStr;
use std::time::Duration;

use candor_core::call::keyed::{FirstUse, KeyUse, Stands};
use candor_core::call::machine::Event;
use candor_core::judgment::verdict::Verdict;
use candor_core::names::OperationId;
use candor_core::record::bodies::{digest_of_parts, hex};
use candor_core::record::{Entry, Recording};
use candor_ledger::{KeyStep, Phase, Standing};
use candor_transport::ChildCommand;
use serde_json::Value;
use tokio::time::Instant;

use super::pending::CallKey;
use super::state::{Recorded, Session};
use super::timers::Timer;
use crate::recorder;

/// While the call that used a key first still runs: how often is looked what became of it.
const LOOKS_EVERY: Duration = Duration::from_millis(100);

/// What came of recording a call with a key.
#[derive(Debug)]
pub(super) enum Keyed {
    Done(Recording),
    /// Nothing was recorded: it was only asked for.
    Free,
    Taken(Box<FirstUse>),
}

/// What a server is to its keys: its given name, else what is started. Not the name it gives itself, which may be known to
/// one call and not yet to another.
pub(super) fn server_of(given_name: Option<&str>, command: &ChildCommand) -> String {
    given_name.map_or_else(
        || {
            let words = std::iter::once(&command.program).chain(&command.args);
            let words: Vec<&[u8]> = words
                .map(|word: &std::ffi::OsString| OsStr::as_encoded_bytes(word))
                .collect();
            let mut text = String::from("command ");
            text.push_str(&hex(&digest_of_parts(&words)));
            text
        },
        |name| format!("name {name}"),
    )
}

impl Session {
    /// Records entries of a call with a key.
    pub(super) fn record_keyed(&mut self, call: CallKey, entries: Vec<Entry>, used: KeyUse) {
        let Some(scope) = self.key_scope(call) else { return };
        let (step, own_arguments) = match used {
            KeyUse::Claim(arguments) => (Some(KeyStep::Claim { scope, arguments }), arguments),
            KeyUse::Keep(answer) => {
                let answer = answer.into_bytes();
                (Some(KeyStep::Keep { scope, answer }), [0; 32])
            }
            KeyUse::Free => (Some(KeyStep::Free { scope }), [0; 32]),
            KeyUse::Hold => (None, [0; 32]),
        };
        let recorder = self.recorder.clone();
        self.records.spawn(async move {
            let Some(step) = step else {
                return Recorded::Keyed(call, Keyed::Done(recorder.record(entries).await));
            };
            let keyed = match recorder.record_keyed(entries, step).await {
                recorder::Keyed::Done(recording) => Keyed::Done(recording),
                recorder::Keyed::Taken(first, recording) => {
                    Keyed::Taken(Box::new(first_use(*first, recording, &own_arguments)))
                }
            };
            Recorded::Keyed(call, keyed)
        });
    }

    /// Was the key of a call used before? Where that can't be read it is asked again when the call is recorded.
    pub(super) fn look_up_key(&mut self, call: CallKey, arguments: [u8; 32]) {
        let Some(scope) = self.key_scope(call) else { return };
        let Some(operation) = self.calls.get(&call).map(|active| active.call.operation()) else {
            return;
        };
        let recorder = self.recorder.clone();
        self.records.spawn(async move {
            let read = tokio::task::spawn_blocking(move || recorder.key_holder(&scope, operation)).await;
            let keyed = match read.ok().flatten() {
                Some((first, recording)) => Keyed::Taken(Box::new(first_use(first, recording, &arguments))),
                None => Keyed::Free,
            };
            Recorded::Keyed(call, keyed)
        });
    }

    /// What the key of a call is scoped to, with the key.
    fn key_scope(&self, call: CallKey) -> Option<[u8; 32]> {
        let request = self.calls.get(&call)?.call.request();
        // One tenant: both sides of a pipe are the same user's.
        let parts = [
            "candor idempotency key 1",
            "",
            self.command_line.principal.as_deref().unwrap_or_default(),
            &self.key_server,
            request.tool.as_str(),
            request.key.key()?,
        ];
        Some(digest_of_parts(&parts.map(str::as_bytes)))
    }

    /// Entries of a call with a key are on disk, or are not.
    pub(super) fn keyed_recorded(&mut self, call: CallKey, keyed: Keyed) {
        let event = match keyed {
            Keyed::Done(recording) => Event::Recorded(recording),
            Keyed::Free => Event::KeyFree,
            Keyed::Taken(first) => Event::KeyTaken(first),
        };
        self.happened(call, event);
    }

    /// The call that used the key first still runs: looks again a little later. The call's own deadline ends this.
    pub(super) fn await_key(&mut self, call: CallKey) {
        self.set_timer(Instant::now() + LOOKS_EVERY, Timer::Key(call));
    }
}

pub(super) fn first_use(
    first: candor_ledger::FirstUse,
    recording: Recording,
    arguments: &[u8; 32],
) -> FirstUse {
    let stands = match (first.standing, &first.last) {
        (Standing::Running, _) => Stands::Running,
        (Standing::Abandoned, _) => Stands::Lost,
        (Standing::Ended, None) => Stands::Forgotten,
        (Standing::Ended, Some(last)) => {
            let body: Value = serde_json::from_slice(&last.entry.body).unwrap_or_default();
            match body.get("verdict").and_then(Verdict::from_json) {
                Some(verdict) => Stands::Ended {
                    verdict: Box::new(verdict),
                    amended: last.entry.phase == Phase::Amendment,
                },
                None => Stands::Lost,
            }
        }
    };
    FirstUse {
        operation: OperationId::new(first.operation),
        same_arguments: first.arguments == *arguments,
        stands,
        recording,
        answer: first.answer.and_then(|answer| String::from_utf8(answer).ok()),
    }
}
