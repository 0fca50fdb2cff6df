//! May this call go on? The arguments against the schema and the operator's rules, before anything is sent.

use serde_json::{Value, json};

use super::request::CallRequest;
use crate::arguments::check::{Mode, Terms, check};
use crate::arguments::issue::Issue;
use crate::contract::effect::EffectClass;
use crate::contract::rules::{Rule, RuleAnswer};
use crate::contract::tool::{Knowledge, NoSchema, Tool};
use crate::delivery::answer::Disclosure;
use crate::judgment::ending::Ending;
use crate::judgment::finding::{Finding, FindingCode};
use crate::judgment::sentence::times;
use crate::known::Known;
use crate::names::UnixMillis;
use crate::wire::members::is_ambiguous;

/// What the check of one call came to.
#[derive(Debug)]
pub struct Admission {
    /// Why it must not be sent; `None` where it may go on.
    pub refusal: Option<Ending>,
    /// The arguments to send instead of those that came.
    pub coerced: Option<Value>,
    /// What the caller is told beside.
    pub disclosure: Disclosure,
}

/// Checks a call against what is known of its tool. `times` says how often these very arguments were refused,
/// this time included, should they be refused; `principal` is who calls, empty where nobody said.
pub fn admit(
    request: &CallRequest,
    knowledge: &Knowledge,
    principal: &str,
    now: UnixMillis,
    times: u32,
) -> Admission {
    let mut admission = Admission {
        refusal: None,
        coerced: None,
        disclosure: Disclosure::default(),
    };
    let bad_key = request.key.issue();
    match knowledge {
        Knowledge::Listed(_) | Knowledge::Unlistable { .. } if bad_key.is_some() => {
            admission.refusal = Some(Ending::BadInput {
                issues: bad_key.into_iter().collect(),
                total: 1,
                by_rule: false,
                times,
            });
        }
        Knowledge::NotListed { nearest } => {
            admission.refusal = Some(Ending::UnknownTool {
                nearest: nearest.clone(),
            });
        }
        Knowledge::Unlistable { why, .. } => admission.find(FindingCode::Unchecked, why.clone()),
        Knowledge::Listed(tool) => admission.check(request, tool, principal, now, times),
    }
    admission
}

impl Admission {
    fn find(&mut self, code: FindingCode, detail: impl Into<String>) {
        self.disclosure.findings.push(Finding::new(code, detail));
    }

    fn check(&mut self, request: &CallRequest, tool: &Tool, principal: &str, now: UnixMillis, times: u32) {
        self.note_listing(tool);
        self.note_schemas(tool);
        let mode = tool.terms.arguments.value;
        if mode == Mode::Off {
            return;
        }
        let raw = request.raw_arguments();
        let Ok(arguments) = serde_json::from_str::<Value>(raw.unwrap_or("{}")) else {
            self.find(
                FindingCode::NotChecked,
                "the arguments hold a value that can't be carried exactly",
            );
            return;
        };
        let (issues, total, by_rule) = match raw {
            // Which of two values the server would see can't be known, so no check means anything.
            Some(raw) if is_ambiguous(raw, &arguments) => (vec![named_twice()], 1, false),
            _ => {
                let (mut issues, total) = self.by_schema(tool, &arguments, mode);
                let checked = self.coerced.as_ref().unwrap_or(&arguments);
                let broken = by_rules(tool, checked, principal, now, issues.is_empty());
                let (total, by_rule) = (total + broken.len(), !broken.is_empty());
                issues.extend(broken);
                (issues, total, by_rule)
            }
        };
        if issues.is_empty() {
            return;
        }
        if mode == Mode::Warn {
            let text = crate::arguments::check::lines(&issues, total, 1_000);
            self.find(FindingCode::ArgumentsWarned, text);
        } else {
            self.coerced = None;
            self.refusal = Some(Ending::BadInput {
                issues,
                total,
                by_rule,
                times,
            });
        }
    }

    fn by_schema(&mut self, tool: &Tool, arguments: &Value, mode: Mode) -> (Vec<Issue>, usize) {
        let Known::Is(schema) = &tool.input else {
            return (Vec::new(), 0);
        };
        let drop_nulls = tool
            .terms
            .class
            .as_ref()
            .is_some_and(|class| class.value == EffectClass::Read);
        let checked = check(
            schema,
            arguments,
            &Terms {
                mode,
                strict_names: tool.terms.strict_names.value,
                drop_nulls,
            },
        );
        for part in &checked.not_checked {
            self.find(FindingCode::NotChecked, format!("{}: {}", part.path, part.why));
        }
        self.disclosure.notices.extend(
            checked
                .notices
                .iter()
                .map(|notice| format!("{}: {}", notice.path, notice.text)),
        );
        if let Some(coerced) = checked.coerced {
            self.disclosure.coerced = coerced
                .changes
                .iter()
                .map(|change| json!({ "path": change.path, "from": change.from, "to": change.to }))
                .collect();
            self.coerced = Some(coerced.arguments);
        }
        (checked.issues, checked.total)
    }

    /// Which of several tools with one name the server takes can't be known: the first is the one checked by.
    fn note_listing(&mut self, tool: &Tool) {
        if tool.listed > 1 {
            let times = times(u32::try_from(tool.listed).unwrap_or(u32::MAX));
            self.find(
                FindingCode::ToolTwice,
                format!("the server's list names this tool {times}; the call was checked by the first"),
            );
        }
    }

    /// A schema that can't be used costs only the check of its own tool, and that is said.
    fn note_schemas(&mut self, tool: &Tool) {
        if let Known::Not(NoSchema::Unusable(fault)) = &tool.input {
            self.find(FindingCode::InputSchema, fault.to_string());
        }
        if let Known::Not(NoSchema::Unusable(fault)) = &tool.output {
            self.find(FindingCode::OutputSchema, fault.to_string());
        }
    }
}

fn named_twice() -> Issue {
    Issue {
        path: String::new(),
        rule: "unique_names".to_owned(),
        expected: "each name once; a name is given twice, and which of its values is meant can't be known"
            .to_owned(),
        received: None,
        hint: None,
    }
}

/// What the operator's rules find. A rule that can't be evaluated refuses too, but where the schema has already found
/// something it is only the echo of that.
fn by_rules(
    tool: &Tool,
    arguments: &Value,
    principal: &str,
    now: UnixMillis,
    fit_schema: bool,
) -> Vec<Issue> {
    // Moments outside the years a calendar knows can only come from a broken clock: rules then see the epoch.
    let now = jiff::Timestamp::from_millisecond(now.0).unwrap_or(jiff::Timestamp::UNIX_EPOCH);
    let answer = |rule: &Rule| match rule.check_for(principal, arguments, now) {
        RuleAnswer::Broken(issue) => Some(issue),
        RuleAnswer::CannotTell(issue) if fit_schema => Some(issue),
        RuleAnswer::CannotTell(_) | RuleAnswer::Holds => None,
    };
    tool.terms
        .rules
        .iter()
        .filter_map(|rule| answer(&rule.value))
        .collect()
}
