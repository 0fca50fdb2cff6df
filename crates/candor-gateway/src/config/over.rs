//! An operator's own word stands over a pack's, clause by clause.

use std::collections::BTreeSet;

use super::build::ToolConfig;

impl ToolConfig {
    /// These clauses, and those of `below` where these say nothing. Of lists, these come first.
    #[must_use]
    pub fn over(mut self, below: &Self) -> Self {
        let own: BTreeSet<&str> = self.rules.iter().map(|rule| rule.value.name()).collect();
        let more: Vec<_> = below
            .rules
            .iter()
            .filter(|rule| !own.contains(rule.value.name()))
            .cloned()
            .collect();
        self.rules.extend(more);
        for (refusal, source) in &below.nothing_done_on {
            self.nothing_done_on
                .entry(*refusal)
                .or_insert_with(|| source.clone());
        }
        Self {
            effect: self.effect.or_else(|| below.effect.clone()),
            arguments: self.arguments.or_else(|| below.arguments.clone()),
            strict_names: self.strict_names.or_else(|| below.strict_names.clone()),
            output: self.output.or_else(|| below.output.clone()),
            formats: self.formats.or_else(|| below.formats.clone()),
            deadline: self.deadline.or_else(|| below.deadline.clone()),
            nothing_done_on: self.nothing_done_on,
            outcome: self.outcome.or_else(|| below.outcome.clone()),
            rules: self.rules,
        }
    }
}
