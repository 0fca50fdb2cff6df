//! The wire as it comes in the field. Each test has a bound, and an end that can be seen.

mod ids;
mod lines;
mod load;
mod servers;

use crate::harness::frame;

/// A script with these tools, each given by its name and its steps.
fn script(start: &str, tools: &[(&str, &str)]) -> String {
    let tools: Vec<String> = tools
        .iter()
        .map(|(name, steps)| {
            format!(
                r#"{{ "definition": {{ "name": "{name}", "description": "As it says.", "inputSchema": {{ "type": "object" }} }},
                     "plays": [{{ "steps": [{{ "done": "done" }}, {steps}] }}] }}"#
            )
        })
        .collect();
    format!(
        r#"{{ "about": "Odd on the wire.", "server": {{ "name": "wire", "version": "1" }}, "start": [{start}], "tools": [{}] }}"#,
        tools.join(",")
    )
}

/// The first text of a result; of an error its message.
fn told(answer: &str) -> String {
    let value = frame::value(answer);
    let text = value["result"]["content"][0]["text"]
        .as_str()
        .or(value["error"]["message"].as_str());
    text.unwrap_or_else(|| panic!("no text in {answer}")).to_owned()
}

/// A tool that answers well.
const GOOD: (&str, &str) = (
    "good",
    r#"{ "result": { "content": [{ "type": "text", "text": "well" }] } }"#,
);

/// Tells the host that a call has reached the server.
const HELD: &str =
    r#"{ "notify": { "method": "notifications/message", "params": { "level": "info", "data": "held" } } }"#;
