//! Makes a mapping of what a file says about the results of one tool.

use std::ops::Range;

use candor_core::contract::mapping::pointer::Pointer;
use candor_core::contract::mapping::{Mapping, ReferenceClause, StateTool, ValueList, Values};

use super::build::{Builder, list};
use super::fault::FaultKind;
use super::keys::{Listed, Path, Placed};
use super::raw::RawOutcome;

impl Builder<'_, '_> {
    pub(super) fn mapping(&mut self, placed: Placed<RawOutcome>) -> Option<Mapping> {
        let raw = placed.value;
        let mut values = Values::default();
        let lists = [
            (ValueList::Completed, raw.completed),
            (ValueList::Accepted, raw.accepted),
            (ValueList::Rejected, raw.rejected),
            (ValueList::Failed, raw.failed),
            (ValueList::Partial, raw.partial),
        ];
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
            self.reader.fault::<()>(placed.key.clone(), FaultKind::NoValues);
        }
        let state = self.state_tool(raw.state_tool, raw.state_argument);
        let reference = self.reference(raw.reference, raw.reference_name, state);
        Some(Mapping {
            document: raw.from.map(|placed| placed.value.0).unwrap_or_default(),
            pointer: pointer(raw.pointer)?,
            values,
            code: pointer(raw.code),
            message: pointer(raw.message),
            reference,
            suggestion: pointer(raw.suggestion),
        })
    }

    /// The tool that shows a reference's state: both of its keys, or none.
    fn state_tool(
        &mut self,
        tool: Option<Placed<String>>,
        argument: Option<Placed<String>>,
    ) -> Option<Placed<StateTool>> {
        match (tool, argument) {
            (Some(tool), Some(argument)) => Some(Placed {
                value: StateTool {
                    tool: tool.value,
                    argument: argument.value,
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
