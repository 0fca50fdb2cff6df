//! From what a tool said to the result its caller gets: the one place that makes a `CallToolResult`.
//!
//! Three channels say the same because all of them come from one judgment: `isError` is its flag, the first text block
//! its words, `structuredContent` the value where it is done, the acceptance where it is taken on, and the verdict where
//! it is neither.

use std::sync::Arc;
use std::time::Duration;

use candor_core::contract::effect::EffectClass;
use candor_core::contract::mapping::Reference;
use candor_core::delivery::redaction::KnownSecrets;
use candor_core::delivery::wording;
use candor_core::judgment::ending::{Ending, Scene, Voice};
use candor_core::judgment::finding::Finding;
use candor_core::judgment::judge::{Judgment, judge};
use candor_core::judgment::ruling::Flag;
use candor_core::judgment::told::Told;
use candor_core::judgment::verdict::{Effect, Outcome as Word};
use candor_core::names::{OperationId, ServerName, ToolName};
use candor_core::reading::result::{Asked, read};
use candor_core::wire::members::Opened;
use candor_core::wire::revision::Revision;
use rmcp::ErrorData;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{CallToolResponse, CallToolResult, ContentBlock, MetaObject};
use serde::Serialize;
use serde_json::{Map, Value, json};
use uuid::Uuid;

use crate::catalogue::Compiled;
use crate::facts::Facts;
use crate::outcome::Outcome;
use crate::said::{Said, leave};
use crate::schema::accepted;
use crate::stop::pointing;
use crate::tasks::tools::TASK_ANSWER;

/// Where the verdict stands in `_meta`.
const VERDICT: &str = "candor/verdict";

/// What a result depends on beside what was said: the call and its tool.
#[derive(Debug, Clone)]
pub(crate) struct Finish {
    pub(crate) operation: OperationId,
    pub(crate) server: String,
    pub(crate) tool: String,
    pub(crate) class: EffectClass,
    pub(crate) revision: Revision,
    /// Does the tool have an `outputSchema`? Strict clients hold even errors against it.
    pub(crate) promises_structure: bool,
    /// May an acceptance carry its structure by that schema?
    pub(crate) takes_acceptance: bool,
    /// Values that no text may hold.
    pub(crate) secrets: KnownSecrets,
    /// The tool's schemas; `None` for a call that has no tool.
    pub(crate) compiled: Option<Arc<Compiled>>,
    /// What is told beside: coerced arguments, notices.
    pub(crate) disclosed: Vec<(&'static str, Value)>,
}

impl Finish {
    fn scene(&self, attempts: u32) -> Scene {
        Scene {
            operation: self.operation,
            server: ServerName::from(self.server.as_str()),
            tool: ToolName::from(self.tool.as_str()),
            class: self.class,
            claims_read_only: false,
            attempts,
            elapsed: Duration::ZERO,
            strict_shape: false,
            recorded: false,
            voice: Voice::Library,
            secrets: self.secrets.clone(),
        }
    }

    /// Structure, where the revision knows such a thing (since 2025-06-18).
    fn structure(&self, value: impl FnOnce() -> Value) -> Option<Value> {
        self.revision.has_structured_content().then(value)
    }

    /// The result of a tool that said what became of its call.
    pub(crate) fn told(&self, facts: Facts) -> CallToolResult {
        let scene = self.scene(1);
        let mut told = facts.told;
        // A tool that only reads changes nothing, whatever else it says by default.
        if self.class == EffectClass::Read && told.outcome == Word::Completed {
            told.effect = Effect::NotApplied;
        }
        let ending = Ending::Told(Box::new(told));
        let judgment = judge(&scene, &ending);
        let block = wording::block(&scene, &ending, &judgment);
        let flagged = judgment.ruling.flag == Flag::Set;
        match judgment.verdict.outcome {
            Word::Completed if !flagged => self.done(&judgment, facts.value, facts.content),
            Word::Accepted if !flagged => self.taken_on(&judgment, block.unwrap_or_default()),
            _ => {
                let more = facts
                    .value
                    .as_ref()
                    .map(|value| ContentBlock::text(as_text(value)));
                self.flagged(&judgment, block, more)
            }
        }
    }

    /// The call waits as this task for answers, and nothing is done yet.
    pub(crate) fn needs_input(&self, task: &str, asked: &[String]) -> CallToolResult {
        let scene = self.scene(1);
        let told = Told {
            message: Some(asked.join("; ")),
            reference: Some(Reference {
                value: task.to_owned(),
                noun: Some("task".to_owned()),
                state: None,
            }),
            next_step: Some(format!(
                "{TASK_ANSWER} with task {task} takes what the user answers."
            )),
            ..Told::new(Word::InputRequired, Effect::NotApplied)
        };
        let ending = Ending::Told(Box::new(told));
        let judgment = judge(&scene, &ending);
        let block = wording::block(&scene, &ending, &judgment).unwrap_or_default();
        let blocks = vec![ContentBlock::text(block)];
        // As with an acceptance: without the structure that is promised, only an error reaches a strict client's model.
        let mut result = if self.promises_structure {
            CallToolResult::error(blocks)
        } else {
            CallToolResult::success(blocks)
        };
        if !self.promises_structure {
            result.structured_content = self.structure(|| judgment.verdict.to_json(false));
        }
        result.meta = Some(self.meta(&judgment, None));
        result
    }

    /// A call that did not run, or broke: candor's own words.
    pub(crate) fn authored(&self, ending: &Ending) -> CallToolResult {
        let ran = matches!(ending, Ending::Panicked { .. });
        let scene = self.scene(u32::from(ran));
        let judgment = judge(&scene, ending);
        let block = wording::block(&scene, ending, &judgment);
        self.flagged(&judgment, block, None)
    }

    /// Something broke that nobody foresaw: its id, and nothing of what it was.
    pub(crate) fn broke(&self) -> CallToolResult {
        self.authored(&Ending::Panicked {
            correlation: self.operation.uuid().to_string(),
        })
    }

    /// A protocol error in candor's own words, for what a model can't mend.
    pub(crate) fn refused(&self, code: i32, ending: &Ending) -> ErrorData {
        let verdict = judge(&self.scene(0), ending).verdict;
        let message = verdict
            .error
            .as_ref()
            .map(|error| error.message.clone())
            .unwrap_or_default();
        let data = json!({ VERDICT: verdict.to_json(false) });
        ErrorData::new(rmcp::model::ErrorCode(code), message, Some(data))
    }

    /// A result that a tool made by itself: it stays as it is, and the verdict on it is added.
    pub(crate) fn untouched(&self, mut result: CallToolResult, compiled: &Compiled) -> CallToolResult {
        // It came out of JSON values; if it can't be written all the same, nothing is known of it.
        let Ok(raw) = serde_json::to_string(&result) else {
            return self.broke();
        };
        let asked = Asked {
            revision: self.revision,
            as_task: false,
            promises_structure: self.promises_structure,
            output: compiled.output.as_ref(),
            mapping: None,
            text: &[],
            believed: None,
        };
        let reading = read(&Opened::whole(&raw), &asked);
        let judgment = judge(&self.scene(1), &Ending::Replied(Box::new(reading)));
        result.meta = Some(self.meta(&judgment, result.meta.take()));
        // The one thing that is moved: a strict client holds the structure of an error against the outputSchema, and where
        // it breaks that the model is never told of the error.
        if result.is_error == Some(true)
            && let Some(structure) = result
                .structured_content
                .take_if(|value| compiled.is_broken_by(value))
        {
            result.content.push(ContentBlock::text(as_text(&structure)));
        }
        result
    }

    fn done(
        &self,
        judgment: &Judgment,
        value: Option<Value>,
        content: Option<Vec<ContentBlock>>,
    ) -> CallToolResult {
        let breaks = |value: &Value| {
            self.compiled
                .as_ref()
                .is_some_and(|tool| tool.is_broken_by(value))
        };
        let unkept = self.promises_structure && value.as_ref().is_none_or(breaks);
        let value = value.unwrap_or_default();
        let structured = self.revision.has_structured_content()
            && !unkept
            && (self.promises_structure || value.is_object());
        let in_text = || (!value.is_null()).then(|| ContentBlock::text(as_text(&value)));
        let said = match content {
            // What a tool writes for a person must not be all that there is: no other channel carries the value.
            Some(content) if !structured => content.into_iter().chain(in_text()).collect(),
            Some(content) => content,
            None => in_text().into_iter().collect(),
        };
        // As with an acceptance: a strict client throws away what lacks the structure that is promised, and its model would
        // do all of it once more.
        let mut result = if unkept {
            tracing::warn!(tool = %self.tool, "it is done, and its value is not what its outputSchema promises");
            let first = ContentBlock::text(format!(
                "DONE: {} was done. Its result is not what its outputSchema promises, and stands here as text only.",
                self.tool
            ));
            CallToolResult::error([first].into_iter().chain(said).collect())
        } else {
            CallToolResult::success(said)
        };
        result.structured_content = structured.then_some(value);
        result.meta = Some(self.meta(judgment, None));
        result
    }

    fn taken_on(&self, judgment: &Judgment, block: String) -> CallToolResult {
        let blocks = vec![ContentBlock::text(block)];
        // A strict client throws away a result whose structure breaks the schema, and the model would never know that
        // something runs. As an error it is let through, and the words are the same.
        let mut result = if self.takes_acceptance {
            CallToolResult::success(blocks)
        } else {
            tracing::warn!(tool = %self.tool, "its outputSchema admits no acceptance; see candor::output_schema");
            CallToolResult::error(blocks)
        };
        let reference = judgment.verdict.reference.as_deref().unwrap_or_default();
        if self.takes_acceptance {
            result.structured_content = self.structure(|| accepted(reference));
        }
        result.meta = Some(self.meta(judgment, None));
        result
    }

    fn flagged(
        &self,
        judgment: &Judgment,
        block: Option<String>,
        more: Option<ContentBlock>,
    ) -> CallToolResult {
        let first = ContentBlock::text(block.unwrap_or_default());
        let mut result = CallToolResult::error([first].into_iter().chain(more).collect());
        if !self.promises_structure {
            result.structured_content = self.structure(|| judgment.verdict.to_json(false));
        }
        result.meta = Some(self.meta(judgment, None));
        result
    }

    /// `_meta` with the verdict first. What stood under candor's own keys was not candor's.
    fn meta(&self, judgment: &Judgment, before: Option<MetaObject>) -> MetaObject {
        let mut members = Map::new();
        members.insert(VERDICT.to_owned(), judgment.verdict.to_json(false));
        if !judgment.findings.is_empty() {
            let findings: &[Finding] = &judgment.findings;
            members.insert("candor/findings".to_owned(), json!(findings));
        }
        for (key, value) in &self.disclosed {
            members.insert((*key).to_owned(), value.clone());
        }
        let before = before.map(|before| before.0).unwrap_or_default();
        members.extend(claimed(before));
        MetaObject(members)
    }
}

/// What a tool put under candor's own keys is a claim and stands under the gateway's names for claims: `candor/claimed` for
/// a verdict, `candor/claimed.coerced` for another.
pub(crate) fn claimed(members: Map<String, Value>) -> impl Iterator<Item = (String, Value)> {
    members
        .into_iter()
        .map(|(key, value)| match key.strip_prefix("candor/") {
            Some("verdict") => ("candor/claimed".to_owned(), value),
            Some(rest) if !matches!(rest, "claimed" | "correlationId") && !rest.starts_with("claimed.") => {
                (format!("candor/claimed.{rest}"), value)
            }
            _ => (key, value),
        })
}

/// A value as text: a string as it is, anything else as JSON.
fn as_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    }
}

impl<T: Serialize + 'static> IntoCallToolResult for Outcome<T> {
    fn into_call_tool_result(self) -> Result<CallToolResponse, ErrorData> {
        let facts = match Facts::of(self) {
            Ok(facts) => facts,
            Err(error) => {
                tracing::error!(%error, "a tool's value can't be written as JSON");
                return Err(pointing(Said::Broke));
            }
        };
        match leave(Said::Outcome(Box::new(facts))) {
            Ok(Value::Object(pointer)) => {
                let mut result = CallToolResult::success(Vec::new());
                result.meta = Some(MetaObject(pointer));
                Ok(result.into())
            }
            // Nobody finishes it: the server is not wrapped, or the tool converts in a task of its own. What there is to
            // say is said without the tool's name and schema.
            Err(Said::Outcome(facts)) => Ok(alone().told(*facts).into()),
            _ => Err(pointing(Said::Broke)),
        }
    }
}

fn alone() -> Finish {
    Finish {
        operation: OperationId::new(Uuid::now_v7()),
        server: String::new(),
        tool: "the tool".to_owned(),
        class: EffectClass::Write,
        revision: Revision::V2025_11_25,
        promises_structure: false,
        takes_acceptance: true,
        secrets: KnownSecrets::default(),
        compiled: None,
        disclosed: Vec::new(),
    }
}
