//! One sentence for a person, in English or Chinese: how it ended, what it was about, what changed. It opens as
//! `decisions.toml` says; a reference is always named.

use std::fmt;
use std::str::FromStr;

use crate::judgment::sentence::nameless;
use crate::judgment::verdict::{Effect, Kind, Outcome, Verdict};

/// A language of [`describe`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Lang {
    /// English
    #[default]
    En,
    /// Chinese
    Zh,
}

impl fmt::Display for Lang {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::En => "en",
            Self::Zh => "zh",
        })
    }
}

/// A language that nobody wrote sentences for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("no sentences in {0:?}; en and zh are there")]
pub struct NoSuchLang(pub String);

impl FromStr for Lang {
    type Err = NoSuchLang;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        match text {
            "en" => Ok(Self::En),
            "zh" => Ok(Self::Zh),
            other => Err(NoSuchLang(other.to_owned())),
        }
    }
}

/// What a sentence is about.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// The server's name.
    pub server: &'a str,
    /// The tool's name.
    pub tool: &'a str,
    /// What was concluded.
    pub verdict: &'a Verdict,
    /// Is the result flagged as an error (or did an error take its place)?
    pub flagged: bool,
    /// Is the result's structured `count` 0?
    pub count_is_zero: bool,
}

/// How a sentence opens: a row of `[describe]` in `decisions.toml`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Opens {
    /// The server reported no error.
    Reported,
    /// Known done.
    Completed,
    /// Done, and nothing was found.
    CountZero,
    /// Taken on.
    Accepted,
    /// The server needs more.
    InputRequired,
    /// Flagged, nothing changed.
    FlagNotApplied,
    /// Flagged, and the effect is open.
    FlagEffectOpen,
    /// Flagged, and nobody knows anything.
    FlagUnknown,
    /// Flagged, done in part.
    FlagPartial,
    /// Flagged, though it is done.
    FlagApplied,
    /// Not flagged, and nobody knows anything.
    UnknownUnflagged,
    /// Cancelled before it was sent.
    Cancelled,
}

impl Opens {
    /// Every opening with its name in `decisions.toml`.
    pub const ALL: [(&'static str, Self); 12] = [
        ("reported", Self::Reported),
        ("completed", Self::Completed),
        ("count_0", Self::CountZero),
        ("accepted", Self::Accepted),
        ("input_required", Self::InputRequired),
        ("flag_not_applied", Self::FlagNotApplied),
        ("flag_effect_open", Self::FlagEffectOpen),
        ("flag_unknown", Self::FlagUnknown),
        ("flag_partial", Self::FlagPartial),
        ("flag_applied", Self::FlagApplied),
        ("unknown_unflagged", Self::UnknownUnflagged),
        ("cancelled", Self::Cancelled),
    ];

    /// Chooses the opening for a subject.
    pub fn of(subject: &Subject<'_>) -> Self {
        let verdict = subject.verdict;
        let cancelled = verdict
            .error
            .as_ref()
            .is_some_and(|error| error.kind == Kind::Cancelled);
        match (verdict.outcome, verdict.effect) {
            (Outcome::Rejected, Effect::NotApplied) if cancelled && verdict.attempts == 0 => Self::Cancelled,
            (Outcome::Reported | Outcome::Completed, _) if subject.count_is_zero => Self::CountZero,
            (Outcome::Reported, _) => Self::Reported,
            (Outcome::Completed, _) => Self::Completed,
            (Outcome::Accepted, _) => Self::Accepted,
            (Outcome::InputRequired, _) => Self::InputRequired,
            (Outcome::Partial, _) | (_, Effect::Partial) => Self::FlagPartial,
            (Outcome::Unknown, Effect::Unknown) if !subject.flagged => Self::UnknownUnflagged,
            (Outcome::Unknown, Effect::Unknown) => Self::FlagUnknown,
            (_, Effect::NotApplied) => Self::FlagNotApplied,
            (_, Effect::Applied) => Self::FlagApplied,
            (Outcome::Rejected | Outcome::Failed, Effect::Unknown) => Self::FlagEffectOpen,
        }
    }

    /// The fixed words.
    pub fn words(self, lang: Lang) -> &'static str {
        match (self, lang) {
            (Self::Reported, Lang::En) => "Reported done, not verified:",
            (Self::Reported, Lang::Zh) => "工具报告已完成（未核实）：",
            (Self::Completed, Lang::En) => "Done:",
            (Self::Completed, Lang::Zh) => "已完成：",
            (Self::CountZero, Lang::En) => "No matching data:",
            (Self::CountZero, Lang::Zh) => "没有匹配数据：",
            (Self::Accepted, Lang::En) => "Accepted, not yet done:",
            (Self::Accepted, Lang::Zh) => "已受理，尚未完成：",
            (Self::InputRequired, Lang::En) => "Needs your input:",
            (Self::InputRequired, Lang::Zh) => "需要您补充信息：",
            (Self::FlagNotApplied, Lang::En) => "Not done:",
            (Self::FlagNotApplied, Lang::Zh) => "未成功：",
            (Self::FlagEffectOpen, Lang::En) => "Did not succeed, effect unknown:",
            (Self::FlagEffectOpen, Lang::Zh) => "未成功（是否已生效未知）：",
            (Self::FlagUnknown | Self::UnknownUnflagged, Lang::En) => "Not confirmed:",
            (Self::FlagUnknown, Lang::Zh) => "未成功（结果未知）：",
            (Self::FlagPartial, Lang::En) => "Partly done:",
            (Self::FlagPartial, Lang::Zh) => "未成功（部分完成）：",
            (Self::UnknownUnflagged, Lang::Zh) => "结果未知：",
            (Self::Cancelled, Lang::En) => "Cancelled before it was sent:",
            (Self::Cancelled, Lang::Zh) => "已取消（未发送）：",
            (Self::FlagApplied, Lang::En) => "Applied, though reported as an error:",
            (Self::FlagApplied, Lang::Zh) => "未成功（但已生效）：",
        }
    }
}

/// One sentence for a person.
pub fn describe(subject: &Subject<'_>, lang: Lang) -> String {
    let opens = Opens::of(subject).words(lang);
    let reference = subject.verdict.reference.as_deref();
    let code = subject.verdict.error.as_ref().map(|error| error.code.as_str());
    let server = subject.server;
    let tool = match (nameless(subject.tool), lang) {
        (None, _) => subject.tool.to_owned(),
        (Some(words), Lang::En) => format!("a tool {words}"),
        (Some(_), Lang::Zh) => "未命名工具".to_owned(),
    };
    match lang {
        Lang::En => {
            let reference = reference.map_or_else(String::new, |id| format!(", reference {id}"));
            let code = code.map_or_else(String::new, |code| format!(" ({code})"));
            let changed = changed_en(subject.verdict.effect);
            format!("{opens} {tool} on {server}{reference}{code}. {changed}")
        }
        Lang::Zh => {
            let reference = reference.map_or_else(String::new, |id| format!("，编号 {id}"));
            let code = code.map_or_else(String::new, |code| format!("（{code}）"));
            let changed = changed_zh(subject.verdict.effect);
            format!("{opens}{server} 的 {tool}{reference}{code}。{changed}")
        }
    }
}

fn changed_en(effect: Effect) -> &'static str {
    match effect {
        Effect::NotApplied => "Nothing changed.",
        Effect::Applied => "The change is made.",
        Effect::Partial => "A part of the change is made.",
        Effect::Unknown => "Whether anything changed is not known.",
    }
}

fn changed_zh(effect: Effect) -> &'static str {
    match effect {
        Effect::NotApplied => "没有任何更改。",
        Effect::Applied => "更改已生效。",
        Effect::Partial => "部分更改已生效。",
        Effect::Unknown => "是否有更改未知。",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judgment::verdict::{Evidence, Protocol};
    use crate::names::OperationId;

    #[test]
    fn openings_are_the_tables() {
        let table: toml::Table = include_str!("../decisions.toml").parse().unwrap();
        let rows = table["describe"].as_table().unwrap();
        assert_eq!(rows.len(), Opens::ALL.len());
        for (name, opens) in Opens::ALL {
            assert_eq!(rows[name]["en"].as_str(), Some(opens.words(Lang::En)), "{name}");
            assert_eq!(rows[name]["zh"].as_str(), Some(opens.words(Lang::Zh)), "{name}");
        }
    }

    fn verdict(outcome: Outcome, effect: Effect) -> Verdict {
        Verdict {
            operation: OperationId::new(uuid::Uuid::nil()),
            protocol: Protocol::Delivered,
            outcome,
            effect,
            evidence: Evidence::Declared,
            error: None,
            reference: Some("4711".to_owned()),
            parts: vec![],
            attempts: 1,
            suggested_next_step: None,
        }
    }

    #[test]
    fn what_is_flagged_never_opens_as_done_and_references_are_named() {
        for outcome in Outcome::ALL {
            for effect in Effect::ALL {
                let verdict = verdict(*outcome, *effect);
                let flagged = !matches!(
                    outcome,
                    Outcome::Reported | Outcome::Completed | Outcome::Accepted | Outcome::InputRequired
                );
                let subject = Subject {
                    server: "s",
                    tool: "t",
                    verdict: &verdict,
                    flagged,
                    count_is_zero: false,
                };
                let zh = describe(&subject, Lang::Zh);
                assert_eq!(zh.starts_with("未成功"), flagged, "{zh}");
                assert!(zh.contains("4711") && describe(&subject, Lang::En).contains("4711"));
            }
        }
    }

    #[test]
    fn a_tool_without_a_name_is_said_to_be_one() {
        let verdict = verdict(Outcome::Reported, Effect::Unknown);
        let subject = |tool| Subject {
            server: "s",
            tool,
            verdict: &verdict,
            flagged: false,
            count_is_zero: false,
        };
        let told = describe(&subject(""), Lang::En);
        assert!(told.contains(": a tool with an empty name on s,"), "{told}");
        assert!(describe(&subject(" "), Lang::Zh).contains("s 的 未命名工具"));
        assert!(describe(&subject("t"), Lang::En).contains(": t on s,"));
    }

    #[test]
    fn nothing_found_is_not_called_done() {
        let verdict = verdict(Outcome::Completed, Effect::Applied);
        let subject = |count_is_zero| Subject {
            server: "s",
            tool: "t",
            verdict: &verdict,
            flagged: false,
            count_is_zero,
        };
        assert!(describe(&subject(true), Lang::En).starts_with("No matching data:"));
        assert!(describe(&subject(false), Lang::En).starts_with("Done:"));
    }
}
