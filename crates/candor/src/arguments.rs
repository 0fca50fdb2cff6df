//! May this call run? Its raw arguments against the advertised schema, all issues at once; then the rules that no schema
//! can state.

use std::fmt;
use std::sync::Arc;

use candor_core::arguments::{Checked, Mode, Terms, check};
use candor_core::contract::effect::EffectClass;
use candor_core::contract::schema::Schema;
use jiff::Timestamp;
use serde_json::{Value, json};

pub use candor_core::arguments::issue::Issue;

use crate::declaration::Declaration;
use crate::principal::Principal;

/// Most issues of rules that are told of one call, as many as of a schema; how many there are is told beside.
const MOST_ISSUES: usize = 20;

/// A rule beyond JSON Schema: a date that must be in the future, two fields that exclude each other. Gets the checked
/// arguments (an object), the moment of the call and who calls; gives what is wrong, or nothing. Runs only when the
/// schema found nothing, so it may rely on it. Must be quick and change nothing.
#[derive(Clone)]
pub struct Rule(Arc<Function>);

type Function = dyn Fn(&Value, Timestamp, &Principal) -> Vec<Issue> + Send + Sync;

impl Rule {
    /// A rule from a function.
    pub fn new(rule: impl Fn(&Value, Timestamp, &Principal) -> Vec<Issue> + Send + Sync + 'static) -> Self {
        Self(Arc::new(rule))
    }

    fn broken(&self, arguments: &Value, now: Timestamp, principal: &Principal) -> Vec<Issue> {
        (self.0)(arguments, now, principal)
    }
}

impl fmt::Debug for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Rule")
    }
}

/// An issue of a rule: what is expected at `path` (a JSON Pointer, RFC 6901) by the rule of this name. What came is
/// taken from the arguments, cut, and masked where its name is a secret's. The caller reads
/// `/departure: expected a day after 08/08/2025, received "01/08/2025"`. Where nothing stands at `path`, the rule's name
/// `required` makes it `missing, expected ..`.
///
/// `about(args, "/departure", "future", "a day after 08/08/2025")`
pub fn about(arguments: &Value, path: &str, rule: &str, expected: impl Into<String>) -> Issue {
    Issue::about(arguments, path, rule, expected)
}

/// What the check of one call came to.
#[derive(Debug)]
pub(crate) enum Admission {
    /// It may run, with these arguments.
    Admitted {
        /// Instead of those that came, where something was coerced.
        coerced: Option<Value>,
        /// For `_meta`: what was coerced, what is worth telling.
        disclosed: Vec<(&'static str, Value)>,
    },
    /// It must not run.
    Refused {
        /// The first issues.
        issues: Vec<Issue>,
        /// How many there are in all.
        total: usize,
        /// Did a rule break, and not the schema?
        by_rule: bool,
    },
}

/// Checks the arguments of one call. `schema` is `None` where the tool's own can't be used: rules run all the same.
pub(crate) fn admit(
    schema: Option<&Schema>,
    declaration: &Declaration,
    class: EffectClass,
    given: &Value,
    now: Timestamp,
    principal: &Principal,
) -> Admission {
    let terms = Terms {
        mode: declaration.mode,
        strict_names: declaration.strict_names,
        drop_nulls: class == EffectClass::Read,
    };
    let checked = schema
        .map(|schema| check(schema, given, &terms))
        .unwrap_or_default();
    let refuses = terms.mode != Mode::Warn;
    if checked.total > 0 && refuses {
        return Admission::Refused {
            issues: checked.issues,
            total: checked.total,
            by_rule: false,
        };
    }
    let disclosed = disclosed(&checked);
    let coerced = checked.coerced.map(|coerced| coerced.arguments);
    let arguments = coerced.as_ref().unwrap_or(given);
    let mut broken: Vec<Issue> = declaration
        .rules
        .iter()
        .flat_map(|rule| rule.broken(arguments, now, principal))
        .collect();
    if broken.is_empty() {
        return Admission::Admitted { coerced, disclosed };
    }
    let total = broken.len();
    broken.truncate(MOST_ISSUES);
    Admission::Refused {
        total,
        issues: broken,
        by_rule: true,
    }
}

/// What is told beside a result, under the gateway's own keys.
fn disclosed(checked: &Checked) -> Vec<(&'static str, Value)> {
    let mut out = Vec::new();
    if let Some(coerced) = &checked.coerced {
        let changes = coerced
            .changes
            .iter()
            .map(|change| json!({ "path": change.path, "from": change.from, "to": change.to }));
        out.push(("candor/coerced", changes.collect()));
    }
    let notices: Vec<Value> = checked
        .notices
        .iter()
        .map(|notice| json!(format!("{}: {}", notice.path, notice.text)))
        .chain(
            checked
                .issues
                .iter()
                .map(|issue| json!(format!("{}: expected {}", issue.path, issue.expected))),
        )
        .collect();
    if !notices.is_empty() {
        out.push(("candor/notices", Value::Array(notices)));
    }
    out
}

#[cfg(test)]
mod tests {
    use candor_core::contract::schema::Formats;

    use super::*;

    fn schema() -> Schema {
        let text = r#"{"type":"object","properties":{"guests":{"type":"integer","maximum":9},"from":{"type":"string"}},
            "required":["guests"],"additionalProperties":false}"#;
        Schema::compile(text, Formats::Annotate).expect("it is a schema")
    }

    fn ruled() -> Declaration {
        Declaration::writes().rule(|arguments, now, principal| {
            if arguments["guests"] == json!(2) && now == Timestamp::UNIX_EPOCH && principal.id == "ann" {
                return vec![about(arguments, "/guests", "no_pairs", "not two")];
            }
            Vec::new()
        })
    }

    fn admitted(given: &Value) -> Admission {
        let (class, now, ann) = (EffectClass::Write, Timestamp::UNIX_EPOCH, Principal::new("ann"));
        admit(Some(&schema()), &ruled(), class, given, now, &ann)
    }

    #[test]
    fn everything_wrong_is_told_at_once_and_rules_wait() {
        let Admission::Refused {
            issues,
            total,
            by_rule,
        } = admitted(&json!({ "guests": 1000, "form": "x" }))
        else {
            panic!("it breaks the schema");
        };
        assert_eq!((total, by_rule), (2, false));
        assert_eq!(issues[0].path, "/guests");
    }

    #[test]
    fn a_rule_sees_coerced_arguments_the_moment_and_the_caller() {
        let Admission::Refused { issues, by_rule, .. } = admitted(&json!({ "guests": "2" })) else {
            panic!("the rule forbids it");
        };
        assert!(by_rule);
        assert_eq!(
            issues,
            [about(&json!({ "guests": 2 }), "/guests", "no_pairs", "not two")]
        );
        assert_eq!(issues[0].received.as_deref(), Some("2"));
    }

    #[test]
    fn what_was_coerced_is_disclosed() {
        let Admission::Admitted { coerced, disclosed } = admitted(&json!({ "guests": "3" })) else {
            panic!("nothing is wrong");
        };
        assert_eq!(coerced, Some(json!({ "guests": 3 })));
        let expected = json!([{ "path": "/guests", "from": "\"3\"", "to": "3" }]);
        assert_eq!(disclosed, [("candor/coerced", expected)]);
    }

    #[test]
    fn a_tool_without_a_usable_schema_still_has_its_rules() {
        let (class, now, ann) = (EffectClass::Write, Timestamp::UNIX_EPOCH, Principal::new("ann"));
        let refused = admit(None, &ruled(), class, &json!({ "guests": 2 }), now, &ann);
        assert!(matches!(refused, Admission::Refused { by_rule: true, .. }));
    }

    #[test]
    fn secrets_in_issues_are_masked() {
        let arguments = json!({ "password": "correct horse" });
        let issue = about(&arguments, "/password", "strength", "a longer one");
        assert_eq!(issue.received.as_deref(), Some("\"[masked]\""));
    }
}
