//! An operator's own word stands over a pack's, clause by clause.

use std::collections::BTreeSet;

use super::build::ToolConfig;
use super::recovery::Recovery;

impl ToolConfig {
    /// These clauses, and those of `below` where these say nothing. Of lists, these come first.
    #[must_use]
    pub fn over(mut self, below: &Self) -> Self {
        let own: BTreeSet<&str> = self.rules.iter().map(|rule| rule.rule.value.name()).collect();
        let more: Vec<_> = below
            .rules
            .iter()
            .filter(|rule| !own.contains(rule.rule.value.name()))
            .cloned()
            .collect();
        self.rules.extend(more);
        for (refusal, source) in &below.nothing_done_on {
            self.nothing_done_on
                .entry(refusal.clone())
                .or_insert_with(|| source.clone());
        }
        Self {
            effect: self.effect.or_else(|| below.effect.clone()),
            arguments: self.arguments.or_else(|| below.arguments.clone()),
            strict_names: self.strict_names.or_else(|| below.strict_names.clone()),
            output: self.output.or_else(|| below.output.clone()),
            formats: self.formats.or_else(|| below.formats.clone()),
            deadline: self.deadline.or_else(|| below.deadline.clone()),
            task: self.task.or_else(|| below.task.clone()),
            nothing_done_on: self.nothing_done_on,
            outcome: self.outcome.or_else(|| below.outcome.clone()),
            text: joined(self.text, &below.text),
            lower: joined(self.lower, &below.lower),
            rules: self.rules,
            recovery: self.recovery.over(&below.recovery),
        }
    }
}

fn joined<T: Clone>(mut own: Vec<T>, below: &[T]) -> Vec<T> {
    own.extend_from_slice(below);
    own
}

impl Recovery {
    fn over(self, below: &Self) -> Self {
        Self {
            read_back: self.read_back.or_else(|| below.read_back.clone()),
            retry: self.retry.or_else(|| below.retry.clone()),
            breaker: self.breaker.or_else(|| below.breaker.clone()),
            key_place: self.key_place.or_else(|| below.key_place.clone()),
            confirm: self.confirm.or_else(|| below.confirm.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use candor_core::contract::effect::EffectClass;

    use crate::config::{CommandLine, Config, Pack};

    const PACK: &str = r#"
package = "npm:p"
versions = ">=1"
server = ["s"]
[tools.t]
effect = "write"
deadline = "9s"
rules = [
    { name = "a", check = "true", message = "pack" },
    { name = "b", check = "true", message = "pack" },
]
[tools.t.outcome]
pointer = "/state"
failed = ["no"]
"#;
    const FILE: &str = r#"
[servers.s.tools.t]
effect = "idempotent"
rules = [{ name = "a", check = "true", message = "file" }]
"#;

    #[test]
    fn an_operators_word_stands_over_a_packs_clause_by_clause() {
        let pack = Pack::parse("p", PACK).unwrap();
        let config = Config::parse("candor.toml", FILE, &|_| None).unwrap();
        let command_line = CommandLine::default();
        let terms = config.for_tool_over("s", "t", &command_line, pack.tools.get("t"));
        let class = terms.class.unwrap();
        assert_eq!(class.value, EffectClass::Idempotent);
        assert_eq!(class.source.to_string(), "candor.toml:3");
        assert_eq!(terms.deadline.unwrap().source.to_string(), "pack p:7");
        assert_eq!(terms.mapping.unwrap().source.to_string(), "pack p:12");
        let rules: Vec<_> = terms
            .rules
            .iter()
            .map(|rule| (rule.value.name(), rule.source.to_string()))
            .collect();
        assert_eq!(
            rules,
            [("a", "candor.toml:4".to_owned()), ("b", "pack p:10".to_owned())]
        );
        let alone = config.for_tool_over("s", "t", &command_line, None);
        assert!(alone.deadline.is_none() && alone.mapping.is_none() && alone.rules.len() == 1);
    }
}
