//! The list of targets: names, functions, and the words that each of them reacts to.

use crate::broken::Broken;
use crate::targets::{
    arguments, coercion, config, envelope, frame, head, record, redaction, reply, rules, schema,
};

/// One thing to be held against every input.
#[derive(Debug, Clone, Copy)]
pub struct Target {
    /// Its name, which is the name of its corpus folder and of its program under libFuzzer.
    pub name: &'static str,
    /// Holds one input against the target's laws.
    pub check: fn(&[u8]) -> Result<(), Broken>,
    /// Words that mean something to what is tested, for making inputs.
    pub words: &'static [&'static str],
    /// Inputs made by one bounded run: as many as take about a second in a debug build.
    pub rounds: u32,
}

impl Target {
    /// Every target.
    pub const ALL: &'static [Self] = &[
        target("frame", frame::check, frame::WORDS, 4_000),
        target("envelope", envelope::check, envelope::WORDS, 4_000),
        target("head", head::check, envelope::WORDS, 3_000),
        target("schema", schema::check, schema::WORDS, 600),
        target("arguments", arguments::check, schema::WORDS, 300),
        target("coercion", coercion::check, schema::WORDS, 600),
        target("redaction", redaction::check, redaction::WORDS, 1_500),
        target("record", record::check, record::WORDS, 2_000),
        target("config", config::check, config::WORDS, 1_500),
        target("reply", reply::check, reply::WORDS, 250),
        target("rules", rules::check, rules::WORDS, 1_000),
    ];

    /// The target of this name.
    pub fn named(name: &str) -> Option<&'static Self> {
        Self::ALL.iter().find(|target| target.name == name)
    }
}

const fn target(
    name: &'static str,
    check: fn(&[u8]) -> Result<(), Broken>,
    words: &'static [&'static str],
    rounds: u32,
) -> Target {
    Target {
        name,
        check,
        words,
        rounds,
    }
}
