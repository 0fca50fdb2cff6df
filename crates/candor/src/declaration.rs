//! What an author declares of a tool beyond what rmcp's `Tool` can say.

use candor_core::arguments::Mode;
use candor_core::contract::effect::EffectClass;
use jiff::Timestamp;
use serde_json::Value;

use crate::arguments::{Issue, Rule};
use crate::asking::Form;
use crate::principal::{Principal, Refused};
use crate::tasks::TaskSupport;

/// Who sees a tool.
type Seen = fn(&Principal) -> bool;

/// What an author declares of one tool. Whatever is not declared has its careful default: a write, seen by everybody,
/// without rules, arguments coerced where nothing can be lost.
#[derive(Debug, Clone)]
pub struct Declaration {
    /// `None`: by the tool's annotations, else a write.
    pub(crate) class: Option<EffectClass>,
    pub(crate) rules: Vec<Rule>,
    pub(crate) scopes: Vec<String>,
    pub(crate) seen: Option<Seen>,
    pub(crate) mode: Mode,
    pub(crate) strict_names: bool,
    pub(crate) exact_numbers: bool,
    pub(crate) forms: Vec<Form>,
    pub(crate) tasks: TaskSupport,
    /// Its task may be run again from its start by another process.
    pub(crate) resumes: bool,
    /// The tool says itself where it becomes a task.
    pub(crate) task_later: bool,
}

impl Default for Declaration {
    fn default() -> Self {
        Self {
            class: None,
            rules: Vec::new(),
            scopes: Vec::new(),
            seen: None,
            mode: Mode::Coerce,
            strict_names: false,
            exact_numbers: false,
            forms: Vec::new(),
            tasks: TaskSupport::Never,
            resumes: false,
            task_later: false,
        }
    }
}

impl Declaration {
    /// Nothing is declared yet; what the tool may change is read from its annotations.
    pub fn new() -> Self {
        Self::default()
    }

    /// It changes nothing, whatever the answer.
    pub fn reads() -> Self {
        Self::of(EffectClass::Read)
    }

    /// It may change something, and a second call may change it again.
    pub fn writes() -> Self {
        Self::of(EffectClass::Write)
    }

    /// It may change something, and a second identical call changes nothing more.
    pub fn idempotent() -> Self {
        Self::of(EffectClass::Idempotent)
    }

    fn of(class: EffectClass) -> Self {
        Self {
            class: Some(class),
            ..Self::default()
        }
    }

    /// Adds a rule beyond JSON Schema; see [`Rule`]. Rules run in this order, and all of them.
    #[must_use]
    pub fn rule(
        mut self,
        rule: impl Fn(&Value, Timestamp, &Principal) -> Vec<Issue> + Send + Sync + 'static,
    ) -> Self {
        self.rules.push(Rule::new(rule));
        self
    }

    /// Asks for a scope. A caller without it is refused at the protocol, before the arguments are looked at.
    #[must_use]
    pub fn requires(mut self, scope: impl Into<String>) -> Self {
        self.scopes.push(scope.into());
        self
    }

    /// Shows the tool to some callers only. For the others it does not exist: not in the list, and unknown when called.
    #[must_use]
    pub fn seen_by(self, seen: fn(&Principal) -> bool) -> Self {
        Self {
            seen: Some(seen),
            ..self
        }
    }

    /// What is done about arguments that break the schema; [`Mode::Coerce`] where nothing is said.
    #[must_use]
    pub fn arguments(self, mode: Mode) -> Self {
        Self { mode, ..self }
    }

    /// Refuses every name that the schema does not list, even where the schema itself is silent about such names.
    #[must_use]
    pub fn strict_names(self) -> Self {
        Self {
            strict_names: true,
            ..self
        }
    }

    /// Hands numbers to the tool exactly as they came, `1.10` and `1E2` too. For tools that take raw JSON; with rmcp's
    /// own `Parameters`, types with serde's `tag`, `untagged` or `flatten` can't read such numbers. (candor's
    /// [`crate::Parameters`] always sees them exactly.)
    #[must_use]
    pub fn exact_numbers(self) -> Self {
        Self {
            exact_numbers: true,
            ..self
        }
    }

    /// Names a form that the tool may ask its user to fill in, so that one that must not be asked (it asks for a secret) or
    /// can't be is found at the start. A form that is not named is looked at when it is asked.
    #[must_use]
    pub fn asks(mut self, form: Form) -> Self {
        self.forms.push(form);
        self
    }

    /// Runs the tool as a task from its beginning, where the caller can take one ([`TaskSupport::Optional`]) or only so
    /// ([`TaskSupport::Required`]). Without [`crate::Builder::tasks`] it runs directly all the same.
    #[must_use]
    pub fn task(self, support: TaskSupport) -> Self {
        Self {
            tasks: support,
            task_later: false,
            ..self
        }
    }

    /// Lets the tool become a task where it says so ([`crate::Call::as_task`]): what it asks before is asked in the call.
    #[must_use]
    pub fn task_where_it_says(self) -> Self {
        Self {
            tasks: TaskSupport::Optional,
            task_later: true,
            ..self
        }
    }

    /// Says that the tool changes nothing before its last question is answered. Its task, where it waits for its user while
    /// the server's process ends, is then taken up again by the answer: the tool runs anew from its start, with the same
    /// arguments and the answers so far, if the store outlives a process. Tools that only read are taken up without it.
    ///
    /// Until its end the task keeps the arguments and the answers in the store.
    #[must_use]
    pub fn resumes(self) -> Self {
        Self {
            resumes: true,
            ..self
        }
    }

    pub(crate) fn is_seen_by(&self, principal: &Principal) -> bool {
        self.seen.is_none_or(|seen| seen(principal))
    }

    /// Has the caller every scope?
    pub(crate) fn permits(&self, principal: &Principal) -> Result<(), Refused> {
        let missing: Vec<String> = self
            .scopes
            .iter()
            .filter(|scope| !principal.scopes.contains(*scope))
            .cloned()
            .collect();
        if missing.is_empty() {
            Ok(())
        } else {
            Err(Refused::MissingScope { scopes: missing })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_missing_scope_is_named() {
        let declaration = Declaration::writes().requires("a").requires("b").requires("c");
        let ann = Principal::new("ann").with_scope("b");
        let missing = Refused::MissingScope {
            scopes: vec!["a".into(), "c".into()],
        };
        assert_eq!(declaration.permits(&ann), Err(missing));
        assert_eq!(declaration.permits(&ann.with_scope("a").with_scope("c")), Ok(()));
    }
}
