//! Makes a mapping of what a file says about the results of one tool.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::time::Duration;

use candor_core::contract::effect::{Source, Sourced};
use candor_core::contract::mapping::parts::PartsClause;
use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::mapping::{Mapping, ReferenceClause, StateTool, ValueList, Values};
use candor_core::contract::terms::Refusal;
use candor_core::contract::text::{TextClause, TextPattern};

use super::build::{Builder, list};
use super::fault::FaultKind;
use super::keys::{Code, Deadline, Listed, Path, Placed};
use super::raw::{RawOutcome, RawParts, RawText};

/// Most clauses about texts of one tool.
const MOST_TEXTS: usize = 32;
/// No caller is kept for the end of accepted work for a shorter time.
const SHORTEST_WAIT: Duration = Duration::from_millis(100);
/// Nor for a longer one: a host gives up then.
const LONGEST_WAIT: Duration = Duration::from_secs(60);

/// The values of one list.
type Lists = (ValueList, Option<Placed<Vec<Placed<Listed>>>>);

impl Builder<'_, '_> {
    pub(super) fn mapping(&mut self, placed: Placed<RawOutcome>) -> Option<Mapping> {
        let raw = placed.value;
        if raw.pointer.is_none() && raw.parts.is_none() && raw.failed_where.is_none() {
            self.reader
                .fault::<()>(placed.span.clone(), FaultKind::MissingKey { key: "pointer" });
        }
        let lists = [
            (ValueList::Completed, raw.completed),
            (ValueList::Accepted, raw.accepted),
            (ValueList::Rejected, raw.rejected),
            (ValueList::Failed, raw.failed),
            (ValueList::Partial, raw.partial),
        ];
        let without_pointer = raw.pointer.is_none() && (raw.parts.is_some() || raw.failed_where.is_some());
        let values = if without_pointer {
            for (list, items) in lists {
                if let Some(items) = items {
                    self.alone::<()>(items.key, list.as_str(), "pointer");
                }
            }
            Values::default()
        } else {
            self.values(&placed.key, lists)
        };
        let parts = match raw.parts {
            Some(parts) => Some(self.parts(parts)?),
            None => None,
        };
        let state = self.state_tool(raw.state_tool, raw.state_argument, raw.wait);
        let reference = self.reference(raw.reference, raw.reference_name, state);
        Some(Mapping {
            document: raw.from.map(|placed| placed.value.0).unwrap_or_default(),
            pointer: raw.pointer.and_then(|path| path.value.0).map(|path| path.0),
            values,
            code: pointer(raw.code),
            message: pointer(raw.message),
            reference,
            suggestion: pointer(raw.suggestion),
            retry_after: pointer(raw.retry_after),
            parts,
            failed_where: list(raw.failed_where).map(|path| path.value.0).collect(),
            nothing_done: BTreeSet::new(),
        })
    }

    /// The lists of one field: at least one value, and none with two meanings.
    fn values(&mut self, of: &Range<usize>, lists: [Lists; 5]) -> Values {
        let mut values = Values::default();
        let none_written = lists
            .iter()
            .all(|(_, items)| items.as_ref().is_none_or(|items| items.value.is_empty()));
        for (meaning, items) in lists {
            for Placed {
                value: Listed(value),
                span,
                ..
            } in list(items)
            {
                if let Err(two) = values.add(meaning, value) {
                    self.reader.fault::<()>(span, FaultKind::TwoMeanings(two));
                }
            }
        }
        if none_written {
            self.reader.fault::<()>(of.clone(), FaultKind::NoValues);
        }
        values
    }

    fn parts(&mut self, placed: Placed<RawParts>) -> Option<PartsClause> {
        let raw = placed.value;
        let lists = [
            (ValueList::Completed, raw.completed),
            (ValueList::Accepted, raw.accepted),
            (ValueList::Rejected, raw.rejected),
            (ValueList::Failed, raw.failed),
            (ValueList::Partial, raw.partial),
        ];
        let values = self.values(&placed.key, lists);
        Some(PartsClause {
            items: pointer(raw.items)?,
            name: pointer(raw.name),
            pointer: pointer(raw.pointer)?,
            values,
            code: pointer(raw.code),
        })
    }

    /// The codes by which the server says that nothing was done, and the mapping that reads them.
    pub(super) fn nothing_done_on(
        &mut self,
        codes: Option<Placed<Vec<Placed<Code>>>>,
        mapping: &mut Option<Sourced<Mapping>>,
    ) -> BTreeMap<Refusal, Source> {
        let reads = mapping.as_ref().is_some_and(|mapping| {
            let of_parts = mapping.value.parts.as_ref().and_then(|parts| parts.code.as_ref());
            mapping.value.code.is_some() || of_parts.is_some()
        });
        let mut out = BTreeMap::new();
        for code in list(codes) {
            if matches!(code.value.0, Refusal::Code(_)) && !reads {
                self.reader.fault::<()>(code.span.clone(), FaultKind::CodeUnread);
            }
            if let Some(mapping) = mapping {
                mapping.value.nothing_done.insert(match &code.value.0 {
                    Refusal::JsonRpc(code) => code.to_string(),
                    Refusal::Http(status) => status.to_string(),
                    Refusal::Code(code) => code.clone(),
                });
            }
            out.insert(code.value.0, self.source(&code.key));
        }
        out
    }

    /// The clauses about texts, in the order of the file.
    pub(super) fn texts(&mut self, raw: Option<Placed<Vec<Placed<RawText>>>>) -> Vec<Sourced<TextClause>> {
        let mut texts = Vec::new();
        for placed in list(raw) {
            if texts.len() >= MOST_TEXTS {
                self.reader
                    .fault::<()>(placed.key, FaultKind::TooManyTexts { limit: MOST_TEXTS });
                break;
            }
            let source = self.source(&placed.key);
            let (Some(matches), Some(means)) = (placed.value.matches, placed.value.means) else {
                continue;
            };
            match TextPattern::compile(&matches.value.0) {
                Ok(pattern) => {
                    let means = means.value.0;
                    texts.push(Sourced::new(TextClause { pattern, means }, source));
                }
                Err(fault) => {
                    self.reader.fault::<()>(matches.span, FaultKind::Text(fault));
                }
            }
        }
        texts
    }

    /// The tool that shows a reference's state: both of its keys, or none.
    fn state_tool(
        &mut self,
        tool: Option<Placed<String>>,
        argument: Option<Placed<String>>,
        wait: Option<Placed<Deadline>>,
    ) -> Option<Placed<StateTool>> {
        if let (None, Some(wait)) = (&tool, &wait) {
            self.alone::<()>(wait.key.clone(), "wait", "state_tool");
        }
        let wait = wait.and_then(|wait| match wait.value.0 {
            time if (SHORTEST_WAIT..=LONGEST_WAIT).contains(&time) => Some(time),
            _ => self.reader.fault(wait.span, FaultKind::WaitBounds),
        });
        match (tool, argument) {
            (Some(tool), Some(argument)) => Some(Placed {
                value: StateTool {
                    tool: tool.value,
                    argument: argument.value,
                    wait,
                },
                span: tool.span,
                key: tool.key,
            }),
            (Some(tool), None) => self.alone(tool.key, "state_tool", "state_argument"),
            (None, Some(argument)) => self.alone(argument.key, "state_argument", "state_tool"),
            (None, None) => None,
        }
    }

    fn reference(
        &mut self,
        path: Option<Placed<Path>>,
        noun: Option<Placed<String>>,
        state: Option<Placed<StateTool>>,
    ) -> Option<ReferenceClause> {
        match (path, noun, state) {
            (Some(path), noun, state) => Some(ReferenceClause {
                pointer: path.value.0,
                noun: noun.map(|noun| noun.value),
                state: state.map(|state| state.value),
            }),
            (None, Some(noun), _) => self.alone(noun.key, "reference_name", "reference"),
            (None, None, Some(state)) => self.alone(state.key, "state_tool", "reference"),
            (None, None, None) => None,
        }
    }

    fn alone<T>(&mut self, key: Range<usize>, there: &'static str, other: &'static str) -> Option<T> {
        self.reader.fault(key, FaultKind::Alone { key: there, other })
    }
}

fn pointer(placed: Option<Placed<Path>>) -> Option<Pointer> {
    placed.map(|placed| placed.value.0)
}
