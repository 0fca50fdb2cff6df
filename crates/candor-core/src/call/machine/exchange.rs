//! What a call is told, and what it asks for.

use std::time::Duration;

use serde_json::Value;

use crate::asking::confirmation::Answer;
use crate::call::keyed::{FirstUse, KeyUse};
use crate::contract::tool::Knowledge;
use crate::delivery::answer::Delivery;
use crate::judgment::ending::Ending;
use crate::record::{Entry, Recording};
use crate::recovery::read_back::LookAnswer;
use crate::wire::reply::Reply;

/// What happened.
#[derive(Debug)]
pub enum Event {
    /// This is what is known of the tool now.
    Learnt(Knowledge),
    /// What was to be recorded is, or is not.
    Recorded(Recording),
    /// The idempotency key was used before; an intent was not recorded for it.
    KeyTaken(Box<FirstUse>),
    /// Nobody used the idempotency key before, as far as can be seen.
    KeyFree,
    /// It is time to look again what became of the call that used the key first.
    KeyDue,
    /// The request was handed to the transport.
    Sent,
    /// The request was answered.
    Replied(Reply),
    /// No answer will come.
    Lost(Loss),
    /// The request was handed over and could be taken back: not a byte of it left, and none ever will.
    Recalled,
    /// The deadline passed.
    TimedOut,
    /// The wait before the next send is over.
    Waited,
    /// Accepted work has ended while its caller waits for that.
    Followed(Box<FollowedEnd>),
    /// The caller cancelled, or left.
    Cancelled,
    /// The question to the user ended.
    Answered(Answer),
    /// A look at what the call left behind has ended: with an answer, or with why there is none.
    Looked(Result<LookAnswer, String>),
    /// There is no looking: the tool is not known to change nothing, or not there.
    CannotLook {
        /// Why, as a sentence's end.
        why: String,
    },
}

/// The end of accepted work.
#[derive(Debug)]
pub struct FollowedEnd {
    /// The amendment that records it.
    pub entry: Entry,
    /// What the tool that shows its state answered.
    pub ending: Ending,
    /// That tool.
    pub by: String,
}

/// Why no answer will come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Loss {
    /// No byte of the request left: it provably never reached the server.
    NeverLeft {
        /// Why, as the end of "server X …".
        why: String,
        /// Will every later call end so, until a person does something?
        lasts: bool,
    },
    /// It was not sent: the server is left alone for a while.
    Resting {
        /// For so many seconds more.
        seconds: u64,
        /// So often it failed, one after the other.
        failures: u32,
    },
    /// The process or the stream ended.
    Closed {
        /// How it ended.
        exit: String,
        /// Will the next call start it anew?
        restarts: bool,
    },
    /// The answer was over the limit.
    Oversized {
        /// Its length in bytes.
        length: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// An answer came that can't be read as a message.
    Unreadable {
        /// Why not, as the end of "it …".
        why: String,
    },
}

/// What must be done.
#[derive(Debug)]
pub enum Action {
    /// Tell what is known of the tool; with `refresh`, ask the server anew unless that was done within the minute.
    Learn {
        /// Ask anew.
        refresh: bool,
    },
    /// Put [`Call::question`](super::Call::question) to the user. Until its end is told, no deadline counts.
    Ask,
    /// Put these entries on disk, as one.
    Record {
        /// The entries.
        entries: Vec<Entry>,
        /// Answer only when they are durable; false for trusted reads.
        wait: bool,
    },
    /// As `Record`, and do that with the call's idempotency key in the same transaction. Answer only when it is durable.
    RecordKeyed {
        /// The entries.
        entries: Vec<Entry>,
        /// What becomes of the key.
        key: KeyUse,
    },
    /// Was the call's idempotency key used before, with arguments of this digest or others? It ends with
    /// [`Event::KeyTaken`] or [`Event::KeyFree`]. Nothing is taken.
    LookUpKey {
        /// The digest of the call's arguments.
        arguments: [u8; 32],
    },
    /// The call that used the key first is still running: say when it is time to look again.
    AwaitKey,
    /// Send the request (see [`Call::upstream`](super::Call::upstream)).
    Send,
    /// Come back with [`Event::Waited`] so long from now, or with [`Event::TimedOut`] where the call has no such time.
    Wait {
        /// How long.
        after: Duration,
    },
    /// The work is taken on, and recorded as that; its caller is kept for the end. Come back with [`Event::Followed`], or with
    /// [`Event::Waited`] so long from now, or at once where nobody follows it.
    Hold {
        /// How long.
        within: Duration,
    },
    /// Ask this tool of the same server with these arguments, so long from now: what did the call leave behind? It ends
    /// with [`Event::Looked`], or with [`Event::CannotLook`].
    ReadBack {
        /// The tool.
        tool: String,
        /// Its arguments.
        arguments: Value,
        /// The wait before.
        after: Duration,
    },
    /// Tell the server that nobody waits any more: the deadline of a read passed.
    CancelUpstream,
    /// Give this to the caller.
    Deliver(Delivery),
    /// The call is told.
    Told {
        /// May an answer still come, to be recorded?
        listen: Listen,
    },
}

/// How long a told call is listened for. An answer that still comes amends the record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listen {
    /// No answer can come.
    No,
    /// As long as there is room to keep it.
    WhileKept,
    /// The caller gave up on a write: until its deadline, even if the session would end before.
    UntilDeadline,
}
