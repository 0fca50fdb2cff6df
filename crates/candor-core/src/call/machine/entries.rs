//! What a call writes into the record.

use serde_json::{Value, json};

use super::Call;
use crate::contract::clauses::clauses;
use crate::judgment::ending::Scene;
use crate::judgment::judge::Judgment;
use crate::known::Known;
use crate::names::UnixMillis;
use crate::record::bodies::{self, IntentFacts, VerdictFacts};
use crate::record::entry::Concluded;
use crate::record::{Entry, Phase};

impl Call {
    /// The entry of the intent; nothing where there is no ledger.
    pub(super) fn intent(&self, now: UnixMillis) -> Vec<Entry> {
        if !self.circumstances.has_ledger {
            return Vec::new();
        }
        let scene = self.scene(now);
        let coerced = self.coerced.as_ref().map(Value::to_string);
        let class = self.terms().and_then(|terms| terms.class.as_ref());
        let facts = IntentFacts {
            arguments: coerced.as_deref().or(self.request.raw_arguments()),
            class: class.map(|class| class.value.to_string()),
            schema: self.tool.as_ref().and_then(|tool| match &tool.input {
                Known::Is(schema) => Some(bodies::hex(&schema.digest())),
                Known::Not(_) => None,
            }),
            revision: self.request.revision.as_str(),
            host: self.circumstances.host.as_deref(),
            principal: self.circumstances.principal.as_deref(),
            request_id: self.request.id(),
            deadline_ms: u64::try_from(
                self.contract_deadline()
                    .unwrap_or(self.circumstances.deadline)
                    .as_millis(),
            )
            .unwrap_or(u64::MAX),
            disclosed: json!({
                "coerced": self.disclosure.coerced,
                "notices": self.disclosure.notices,
                "findings": self.disclosure.findings,
                "confirmation": self.confirmation_told(),
            }),
            contract: self.terms().map(clauses).unwrap_or_default(),
            key: self.request.key.key(),
        };
        vec![Entry {
            operation: self.operation,
            phase: Phase::Intent,
            at: now,
            server: scene.server.clone(),
            tool: bodies::tool(&scene),
            concluded: None,
            body: of_try(bodies::intent(&scene, now, &facts), self.tries),
        }]
    }

    pub(super) fn verdict_entry(
        &self,
        phase: Phase,
        scene: &Scene,
        judgment: &Judgment,
        facts: &VerdictFacts<'_>,
        now: UnixMillis,
    ) -> Entry {
        Entry {
            operation: self.operation,
            phase,
            at: now,
            server: scene.server.clone(),
            tool: bodies::tool(scene),
            concluded: Some(Concluded::of(&judgment.verdict)),
            body: bodies::verdict(scene, now, judgment, facts),
        }
    }
}

/// The intent of a further try says which it is: what was sent before it is not undone.
fn of_try(body: String, made: u32) -> String {
    match body.strip_prefix('{') {
        Some(rest) if made > 0 => format!("{{\"attempt\":{},{rest}", made.saturating_add(1)),
        _ => body,
    }
}
