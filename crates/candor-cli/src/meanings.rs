//! The words of a verdict and what each means, in one sentence. Exhaustive matches: a new word does not compile without
//! its meaning.

use candor_core::contract::effect::EffectClass;
use candor_core::judgment::finding::FindingCode;
use candor_core::judgment::ruling::{Bytes, Channel, Opening};
use candor_core::judgment::verdict::{Effect, Evidence, Kind, Outcome, Protocol, Repeat};

/// What a group of words answers.
pub(crate) struct Group {
    /// Its name, as it stands in a verdict.
    pub(crate) name: &'static str,
    /// The question.
    pub(crate) question: &'static str,
    /// Every word and its meaning, in the order of the design.
    pub(crate) words: Vec<(&'static str, &'static str)>,
}

/// Every group of words.
pub(crate) fn groups() -> Vec<Group> {
    vec![
        Group {
            name: "protocol",
            question: "did a well-formed response to this request arrive?",
            words: Protocol::ALL
                .iter()
                .map(|word| (word.as_str(), protocol(*word)))
                .collect(),
        },
        Group {
            name: "outcome",
            question: "was the business action done?",
            words: Outcome::ALL
                .iter()
                .map(|word| (word.as_str(), outcome(*word)))
                .collect(),
        },
        Group {
            name: "effect",
            question: "what did it change?",
            words: Effect::ALL
                .iter()
                .map(|word| (word.as_str(), effect(*word)))
                .collect(),
        },
        Group {
            name: "evidence",
            question: "how are outcome and effect known?",
            words: Evidence::ALL
                .iter()
                .map(|word| (word.as_str(), evidence(*word)))
                .collect(),
        },
        Group {
            name: "kind",
            question: "of what sort is the failure?",
            words: Kind::ALL
                .iter()
                .map(|word| (word.as_str(), kind(*word)))
                .collect(),
        },
        Group {
            name: "repeat",
            question: "what would a repeat of the same request mean?",
            words: Repeat::ALL
                .iter()
                .map(|word| (word.as_str(), repeat(*word)))
                .collect(),
        },
        Group {
            name: "class",
            question: "what may a call of this tool change, as far as somebody trusted said?",
            words: EffectClass::ALL
                .iter()
                .map(|word| (word.as_str(), class(*word)))
                .collect(),
        },
        Group {
            name: "channel",
            question: "which way does the answer to the caller take?",
            words: Channel::ALL
                .iter()
                .map(|word| (word.as_str(), channel(*word)))
                .collect(),
        },
        Group {
            name: "bytes",
            question: "what becomes of the server's bytes?",
            words: Bytes::ALL
                .iter()
                .map(|word| (word.as_str(), bytes(*word)))
                .collect(),
        },
        Group {
            name: "opening",
            question: "with which words does Candor's text for the model open?",
            words: Opening::ALL
                .iter()
                .filter(|word| **word != Opening::Silent)
                .map(|word| (word.as_str(), opening(*word)))
                .collect(),
        },
    ]
}

pub(crate) fn protocol(word: Protocol) -> &'static str {
    match word {
        Protocol::Delivered => "A well-formed result arrived. That says nothing about what was done.",
        Protocol::Error => "A JSON-RPC error answered the request.",
        Protocol::NoResponse => "The request was sent, and nothing usable came back.",
        Protocol::NotSent => "The request never left Candor.",
    }
}

pub(crate) fn outcome(word: Outcome) -> &'static str {
    match word {
        Outcome::Reported => "The server reported no error; nobody looked whether it was done.",
        Outcome::Completed => "Known done.",
        Outcome::Accepted => "Taken on, not done yet.",
        Outcome::InputRequired => "The server needs more before it goes on.",
        Outcome::Rejected => "Refused as asked.",
        Outcome::Failed => "Tried, and failed.",
        Outcome::Partial => "Done in part.",
        Outcome::Unknown => "Nobody knows whether it was done.",
    }
}

pub(crate) fn effect(word: Effect) -> &'static str {
    match word {
        Effect::NotApplied => "Nothing changed.",
        Effect::Applied => "What was asked for is changed.",
        Effect::Partial => "A part of it is changed.",
        Effect::Unknown => "Whether anything changed is not known.",
    }
}

pub(crate) fn evidence(word: Evidence) -> &'static str {
    match word {
        Evidence::NotSent => "Nothing left Candor, so nothing can have changed.",
        Evidence::None => "Nothing was heard.",
        Evidence::Asserted => "The server merely flagged, or did not flag, an error.",
        Evidence::Declared => "A structured field or code says so, which a contract or the protocol defines.",
        Evidence::ReadBack => "Candor looked at the state of the target.",
        Evidence::Operator => "A person settled it.",
    }
}

pub(crate) fn kind(word: Kind) -> &'static str {
    match word {
        Kind::InvalidInput => "The request was wrong: its form, its name or its arguments.",
        Kind::PermissionDenied => "The caller may not do this.",
        Kind::BusinessRule => "The tool's own rules speak against it.",
        Kind::DependencyUnavailable => "Something that the tool needs is not there.",
        Kind::RateLimited => "There were too many calls.",
        Kind::OutcomeUnknown => "The answer was lost.",
        Kind::ContractBroken => "The server broke its own contract.",
        Kind::Cancelled => "The caller gave up.",
        Kind::Internal => "A fault inside.",
        Kind::Unclassified => "The server flagged an error and said no more.",
    }
}

pub(crate) fn repeat(word: Repeat) -> &'static str {
    match word {
        Repeat::SameAnswer => "It gets the same answer.",
        Repeat::MayHelp => "It is harmless and may succeed.",
        Repeat::MayDuplicate => "It may do the thing twice.",
    }
}

pub(crate) fn class(word: EffectClass) -> &'static str {
    match word {
        EffectClass::Read => "It changes nothing, whatever the answer.",
        EffectClass::Write => "It may change something. A tool that nobody classified counts as this.",
        EffectClass::Idempotent => {
            "It may change something, and a second identical call changes nothing more."
        }
    }
}

pub(crate) fn channel(word: Channel) -> &'static str {
    match word {
        Channel::Result => "A tool result, which the model reads.",
        Channel::Error => "A JSON-RPC error, which the client handles.",
        Channel::Nobody => "Nobody is answered.",
    }
}

pub(crate) fn bytes(word: Bytes) -> &'static str {
    match word {
        Bytes::Untouched => "They stay as they came; only _meta is added.",
        Bytes::Prefixed => "Candor's block comes first, the server's blocks follow.",
        Bytes::Authored => "Candor writes the whole answer.",
        Bytes::Passed => "The server's error is passed on.",
        Bytes::Nothing => "There are none.",
    }
}

pub(crate) fn opening(word: Opening) -> &'static str {
    match word {
        Opening::Silent => "Candor writes no block.",
        Opening::NotDone => "It was not done, and nothing changed.",
        Opening::RejectedEffectUnknown => {
            "The server refused; whether something was done first is not known."
        }
        Opening::FailedEffectUnknown => "It failed, perhaps halfway; whether something changed is not known.",
        Opening::Unknown => "It may be done, not done, or still running.",
        Opening::PartlyDone => "A part was done and a part was not.",
        Opening::AcceptedNotYetDone => "It was taken on; nothing shows yet that it was done.",
        Opening::Done => "It is done: its answer was lost or said nothing, and a look shows it.",
        Opening::DoneThoughReported => {
            "The server flagged an error, and a look shows that it was done all the same."
        }
        Opening::NeedsInput => "The server needs more before it goes on.",
    }
}

/// A finding never moves an outcome by itself; its page says more.
pub(crate) fn finding(word: FindingCode) -> &'static str {
    match word {
        FindingCode::OutputShape => "The structure in the result breaks the tool's outputSchema.",
        FindingCode::OutputMissing => "The tool declares an outputSchema and sent no structure.",
        FindingCode::Unchecked => "The server's tools can't be listed: the call went through unchecked.",
        FindingCode::InputSchema => "The tool's inputSchema can't be used: its arguments are not checked.",
        FindingCode::OutputSchema => "The tool's outputSchema can't be used: its results are not checked.",
        FindingCode::ToolTwice => {
            "The server's list names the tool more than once: the call was checked by the first."
        }
        FindingCode::NotChecked => "A part of the arguments could not be checked within the bounds.",
        FindingCode::ArgumentsWarned => {
            "The arguments break the schema, and the operator's mode let them through."
        }
        FindingCode::MappingMissing => "The field that the contract reads the outcome from is absent.",
        FindingCode::MappingUnlisted => "The field that the contract reads holds a value that no list names.",
        FindingCode::Contradiction => "The server's flag and its own field contradict each other.",
        FindingCode::ResultType => "A resultType that neither the revision nor an extension defines.",
        FindingCode::LateAnswer => "An answer came when the verdict was already told.",
        FindingCode::ReadBackUnusable => {
            "Candor could not look again: the contract's tool is not known to change nothing, or not there."
        }
        FindingCode::ReadBackNothing => "Candor looked again, and what it saw settles nothing.",
        FindingCode::TextClause => {
            "No field says how the call ended, and its text fits a clause of the contract that lowers the claim."
        }
        FindingCode::FailureSign => {
            "A result that is not flagged and that no contract reads holds a member that looks like a failure."
        }
        FindingCode::ClaimedVerdict => "A server that is not trusted put a verdict under Candor's own key.",
    }
}
