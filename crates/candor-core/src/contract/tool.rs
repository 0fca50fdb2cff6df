//! One tool as its server lists it, with the terms an operator set: everything a call is checked and read by.

use serde::Deserialize;
use serde_json::Value;
use serde_json::value::RawValue;

use super::effect::{EffectClass, class_from_annotations};
use super::schema::{Formats, Schema, SchemaFault};
use super::terms::ToolTerms;
use crate::known::Known;
use crate::names::ToolName;
use crate::wire::envelope::{present, text_of};
use crate::wire::members::object;

/// Why a tool's schema can't be used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NoSchema {
    /// The tool declares none.
    NotDeclared,
    /// It declares one that can't be used.
    Unusable(SchemaFault),
}

/// One listed tool.
#[derive(Debug)]
pub struct Tool {
    /// Its name.
    pub name: ToolName,
    /// How many tools of the list have this name: one, in a list that is sound.
    pub listed: usize,
    /// What its arguments must look like.
    pub input: Known<Schema, NoSchema>,
    /// What its structured results must look like.
    pub output: Known<Schema, NoSchema>,
    /// Its annotations, as far as they are an object.
    pub annotations: Option<Value>,
    /// What an operator configured for it.
    pub terms: ToolTerms,
}

/// What is known of a tool when a call names it.
#[derive(Debug, Clone)]
pub enum Knowledge {
    /// The server lists it.
    Listed(std::sync::Arc<Tool>),
    /// The server lists tools, and not this one.
    NotListed {
        /// The nearest names that are there.
        nearest: Vec<String>,
    },
    /// The server's tools can't be listed: the call goes through unchecked.
    Unlistable {
        /// Why.
        why: String,
        /// What an operator configured for a tool of this name.
        terms: std::sync::Arc<ToolTerms>,
    },
}

#[derive(Deserialize)]
struct Definition<'a> {
    #[serde(borrow, default, deserialize_with = "present")]
    name: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "inputSchema", deserialize_with = "present")]
    input: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "outputSchema", deserialize_with = "present")]
    output: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "present")]
    annotations: Option<&'a RawValue>,
}

/// The name and the annotations of a definition, read before its terms are looked up.
#[derive(Debug)]
pub struct Listed<'a> {
    /// Its name.
    pub name: ToolName,
    /// Its annotations, as far as they are an object.
    pub annotations: Option<Value>,
    input: Option<&'a RawValue>,
    output: Option<&'a RawValue>,
}

impl<'a> Listed<'a> {
    /// Reads one member of `tools`; `None` where it has no usable name. A bad tool costs only itself.
    pub fn read(raw: &'a RawValue) -> Option<Self> {
        let definition: Definition<'a> = object(raw.get())?;
        let name = text_of(definition.name?.get()).ok()?;
        let annotations = definition
            .annotations
            .and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok())
            .filter(Value::is_object);
        Some(Self {
            name: ToolName::from(name.as_ref()),
            annotations,
            input: definition.input,
            output: definition.output,
        })
    }

    /// The input schema, as it was written.
    pub fn input(&self) -> Option<&'a RawValue> {
        self.input
    }

    /// Compiles it with its terms, as the only tool of its name: one definition can't tell of others.
    pub fn compile(self, terms: ToolTerms) -> Tool {
        let formats = terms.formats.value;
        Tool {
            input: compile(self.input, formats),
            output: compile(self.output, formats),
            name: self.name,
            listed: 1,
            annotations: self.annotations,
            terms,
        }
    }
}

fn compile(raw: Option<&RawValue>, formats: Formats) -> Known<Schema, NoSchema> {
    match raw.filter(|raw| raw.get() != "null") {
        None => Known::Not(NoSchema::NotDeclared),
        Some(raw) => match Schema::compile(raw.get(), formats) {
            Ok(schema) => Known::Is(schema),
            Err(fault) => Known::Not(NoSchema::Unusable(fault)),
        },
    }
}

impl Tool {
    /// Does it declare an `outputSchema`, usable or not?
    pub fn promises_structure(&self) -> bool {
        !matches!(self.output, Known::Not(NoSchema::NotDeclared))
    }

    /// Does an annotation call it read-only, whether anybody trusts that or not?
    pub fn claims_read_only(&self) -> bool {
        self.annotations.as_ref().and_then(class_from_annotations) == Some(EffectClass::Read)
    }
}
