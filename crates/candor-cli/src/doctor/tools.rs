//! The tools a server lists: what in them keeps hosts or Candor from using them.

use std::collections::BTreeMap;

use candor_core::contract::terms::ToolTerms;
use candor_core::contract::tool::{Listed, NoSchema, Tool};
use candor_core::known::Known;
use candor_core::wire::envelope::text_of;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::finding::{Finding, Part};
use crate::screen;

/// The longest name that the common hosts take.
const LONGEST_NAME: usize = 64;

/// How many findings one server gets.
const MOST: usize = 50;

/// How many names one finding tells.
const NAMES_TOLD: usize = 5;

#[derive(Deserialize)]
struct Described<'a> {
    #[serde(borrow, default)]
    description: Option<&'a RawValue>,
}

/// Looks at every tool.
pub(super) fn look(place: &str, tools: &[Box<RawValue>]) -> Vec<Finding> {
    let mut findings = Vec::new();
    let mut times: BTreeMap<String, usize> = BTreeMap::new();
    let mut undescribed = Vec::new();
    for (index, raw) in tools.iter().enumerate() {
        let Some(listed) = Listed::read(raw) else {
            let what = format!("tool {} of its list has no name that is a text", index + 1);
            findings.push(Part::Servers.problem("tool_without_name", place, what, AUTHOR));
            continue;
        };
        let name = listed.name.as_str().to_owned();
        if !is_described(raw) {
            undescribed.push(name.clone());
        }
        findings.extend(about_name(place, &name));
        findings.extend(about_schemas(place, &name, &listed.compile(ToolTerms::default())));
        *times.entry(name).or_default() += 1;
    }
    for (name, count) in times.iter().filter(|(_, count)| **count > 1) {
        let what = format!(
            "{} is listed {count} times; hosts differ in which one they take",
            told(name)
        );
        findings.push(Part::Servers.problem("tool_twice", place, what, AUTHOR));
    }
    if !undescribed.is_empty() {
        let what = format!(
            "{} without a description: {}",
            count(undescribed.len()),
            names(&undescribed)
        );
        let note = Part::Servers.note("no_description", place, what);
        findings.push(note.todo("a model can only guess what they do; tell the server's author"));
    }
    if findings.len() > MOST {
        let more = findings.len() - MOST;
        findings.truncate(MOST);
        findings.push(Part::Servers.note("more", place, format!("and {more} findings more")));
    }
    findings
}

/// What to do about a server's own fault.
const AUTHOR: &str = "update the server, or tell its author; its other tools are not concerned";

fn is_described(raw: &RawValue) -> bool {
    let described: Result<Described<'_>, _> = serde_json::from_str(raw.get());
    let text = described.ok().and_then(|tool| {
        text_of(tool.description?.get())
            .ok()
            .map(std::borrow::Cow::into_owned)
    });
    text.is_some_and(|text| !text.trim().is_empty())
}

fn about_name(place: &str, name: &str) -> Option<Finding> {
    let length = name.chars().count();
    if length > LONGEST_NAME {
        let what = format!(
            "{} has {length} characters; common hosts take {LONGEST_NAME}",
            told(name)
        );
        return Some(Part::Servers.problem("name_too_long", place, what, AUTHOR));
    }
    let usual = |letter: char| letter.is_ascii_alphanumeric() || "_-./".contains(letter);
    if name.is_empty() || !name.chars().all(usual) {
        let what = format!("{} has characters that common hosts refuse in a name", told(name));
        return Some(Part::Servers.problem("name_characters", place, what, AUTHOR));
    }
    None
}

fn about_schemas(place: &str, name: &str, tool: &Tool) -> Vec<Finding> {
    let mut findings = Vec::new();
    match &tool.input {
        Known::Not(NoSchema::NotDeclared) => {
            let what = format!(
                "{} declares no inputSchema, which every tool must have",
                told(name)
            );
            findings.push(Part::Servers.problem("no_schema", place, what, AUTHOR));
        }
        Known::Not(NoSchema::Unusable(fault)) => {
            let what = format!("{}: inputSchema: {fault}", told(name));
            findings.push(Part::Servers.problem("schema_unusable", place, what, AUTHOR));
        }
        Known::Is(_) => {}
    }
    if let Known::Not(NoSchema::Unusable(fault)) = &tool.output {
        let what = format!("{}: outputSchema: {fault}", told(name));
        findings.push(Part::Servers.problem("schema_unusable", place, what, AUTHOR));
    }
    findings
}

/// A foreign name, short enough to be read.
fn told(name: &str) -> String {
    format!("`{}`", screen::cut(&screen::line(name), LONGEST_NAME))
}

fn names(names: &[String]) -> String {
    let shown: Vec<String> = names.iter().take(NAMES_TOLD).map(|name| told(name)).collect();
    let more = names.len().saturating_sub(NAMES_TOLD);
    let more = if more > 0 {
        format!(" and {more} more")
    } else {
        String::new()
    };
    format!("{}{more}", shown.join(", "))
}

/// A number of tools.
pub(super) fn count(number: usize) -> String {
    format!("{number} tool{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn codes(tools: &[Value]) -> Vec<&'static str> {
        let tools: Vec<Box<RawValue>> = tools
            .iter()
            .map(|tool| serde_json::value::to_raw_value(tool).unwrap())
            .collect();
        look("s", &tools).iter().map(|finding| finding.code).collect()
    }

    #[test]
    fn each_fault_of_a_tool_is_found_and_a_sound_one_is_left_alone() {
        let sound = json!({ "name": "a_tool", "description": "d", "inputSchema": { "type": "object" } });
        assert_eq!(codes(std::slice::from_ref(&sound)), Vec::<&str>::new());
        let with = |key: &str, value: Value| {
            let mut tool = sound.clone();
            tool[key] = value;
            tool
        };
        for (tool, code) in [
            (with("name", json!(7)), "tool_without_name"),
            (with("name", json!("x".repeat(65))), "name_too_long"),
            (with("name", json!("a tool")), "name_characters"),
            (with("inputSchema", json!({ "type": 5 })), "schema_unusable"),
            (with("inputSchema", json!(null)), "no_schema"),
            (
                with("outputSchema", json!({ "$ref": "https://example.com/x" })),
                "schema_unusable",
            ),
            (with("description", json!(" ")), "no_description"),
        ] {
            assert_eq!(codes(std::slice::from_ref(&tool)), [code], "{tool}");
        }
        assert_eq!(codes(&[with("name", json!("x".repeat(64)))]), Vec::<&str>::new());
        assert_eq!(codes(&[sound.clone(), sound.clone()]), ["tool_twice"]);
    }

    #[test]
    fn a_server_full_of_faults_does_not_fill_the_page() {
        let tools: Vec<Value> = (0..200).map(|_| json!({ "name": 1 })).collect();
        let codes = codes(&tools);
        assert_eq!((codes.len(), codes.last()), (MOST + 1, Some(&"more")));
    }
}
