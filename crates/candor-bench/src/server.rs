//! The server at the other end: answers at once, from prepared texts, so that what is measured is not it.

use std::cell::LazyCell;
use std::io::{BufRead, BufWriter, Write, stdin, stdout};

use serde_json::{Value, json};

/// The schema of every tool here: ten properties, as real tools have them.
fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "query": { "type": "string", "minLength": 1 },
            "limit": { "type": "integer", "minimum": 1, "maximum": 1000 },
            "offset": { "type": "integer", "minimum": 0 },
            "order": { "enum": ["ascending", "descending"] },
            "since": { "type": "string", "format": "date" },
            "until": { "type": "string", "format": "date" },
            "exact": { "type": "boolean" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "owner": { "type": "object", "properties": { "name": { "type": "string" }, "id": { "type": "integer" } } },
            "code": { "type": "string", "pattern": "^[A-Z]{2}[0-9]{4}$" },
        },
        "required": ["query", "limit"],
        "additionalProperties": false,
    })
}

/// What the tool `promised` says of its answers, so that each is checked.
fn promise() -> Value {
    let row = json!({
        "type": "object",
        "properties": {
            "id": { "type": "integer" },
            "name": { "type": "string" },
            "price": { "type": "number" },
            "tags": { "type": "array", "items": { "type": "string" } },
            "open": { "type": "boolean" },
        },
        "required": ["id", "name"],
    });
    json!({ "type": "object", "properties": { "rows": { "type": "array", "items": row } }, "required": ["rows"] })
}

fn rows(bytes: usize) -> String {
    let mut rows = Vec::new();
    let mut size = 0;
    for id in 0.. {
        let row =
            json!({ "id": id, "name": format!("row {id}"), "price": 12.5, "tags": ["a", "b"], "open": true });
        size += row.to_string().len() + 1;
        rows.push(row);
        if size > bytes {
            break;
        }
    }
    json!({ "content": [{ "type": "text", "text": "rows" }], "structuredContent": { "rows": rows } })
        .to_string()
}

/// Serves on stdin and stdout until the other side closes.
pub(crate) fn serve() -> anyhow::Result<()> {
    let text = "It is \"so\", he said.\nThen: ünïcödé. ".repeat(25);
    let small = json!({ "content": [{ "type": "text", "text": text }] }).to_string();
    // Made when they are first asked for: what is measured at the start is not this.
    let (middle, large) = (LazyCell::new(|| rows(10_000)), LazyCell::new(|| rows(1_000_000)));
    let tools: Vec<Value> = ["small", "rows", "promised", "large"]
        .iter()
        .map(|name| match *name {
            "promised" => json!({ "name": name, "inputSchema": schema(), "outputSchema": promise() }),
            _ => json!({ "name": name, "inputSchema": schema() }),
        })
        .collect();
    let mut out = BufWriter::new(stdout().lock());
    let mut input = stdin().lock();
    let mut line = String::new();
    while input.read_line(&mut line)? > 0 {
        let message: Value = serde_json::from_str(&line)?;
        line.clear();
        let Some(id) = message.get("id") else { continue };
        let own;
        let result = match message.pointer("/method").and_then(Value::as_str) {
            Some("tools/call") => match message.pointer("/params/name").and_then(Value::as_str) {
                Some("small") => &small,
                Some("rows" | "promised") => &*middle,
                _ => &*large,
            },
            Some("tools/list") => {
                own = json!({ "tools": tools }).to_string();
                &own
            }
            _ => {
                own = json!({ "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": { "name": "bench", "version": "1" } }).to_string();
                &own
            }
        };
        writeln!(out, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}")?;
        out.flush()?;
    }
    Ok(())
}
