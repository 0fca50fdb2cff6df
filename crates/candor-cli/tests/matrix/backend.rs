//! The backend as a script: three tools over one file, in which every call that came and every booking that was made is a line.

use serde_json::{Value, json};

use crate::{class::Class, fault::Fault};

/// The words by which the truth file says that a call came. Whatever else a call does is another line.
pub(crate) const RECEIVED: &str = "received";

/// The backend when all is well.
pub(crate) fn well() -> Value {
    script(&json!({}), |tool| plays(tool, &honest(tool)))
}

/// The backend when `fault` befalls the first call of this class. What looks at it is not answered until later.
pub(crate) fn with(fault: Fault, class: Class) -> Value {
    let methods = match fault {
        Fault::GoneBefore => json!({ "tools/list": ["usual", { "die": { "exit": 0 } }] }),
        Fault::PipeFull | Fault::Unread => json!({ "tools/list": ["usual", "freeze"] }),
        _ => json!({}),
    };
    script(&methods, |tool| {
        if tool == class.tool() {
            plays(tool, &befallen(fault, tool))
        } else if fault == Fault::Nothing || class.others_are_answered() {
            plays(tool, &honest(tool))
        } else {
            json!([{ "steps": [{ "undone": RECEIVED }, { "wait": "never" }] }])
        }
    })
}

fn script(methods: &Value, plays_of: impl Fn(&str) -> Value) -> Value {
    let tool = |name: &str| {
        let definition = json!({ "name": name, "description": "Of the fault matrix.", "inputSchema": { "type": "object" } });
        json!({ "definition": definition, "plays": plays_of(name) })
    };
    let release = json!({
        "definition": { "name": "release", "description": "Lets the rest of a call happen.", "inputSchema": { "type": "object" } },
        "plays": [{ "steps": [{ "undone": RECEIVED }, { "release": "late" }, { "result": { "content": [] } }] }],
    });
    json!({
        "about": "Books rooms, and fails in one way.",
        "server": { "name": "bookings", "version": "1.0.0" },
        "methods": methods,
        "tools": [tool("list_bookings"), tool("book_room"), tool("book_once"), release],
    })
}

/// A tool's plays. What may be repeated knows what it has done: it books once, and a second request is served well.
fn plays(tool: &str, first: &[Value]) -> Value {
    if tool != "book_once" {
        return json!([{ "steps": first }]);
    }
    let again = [json!({ "undone": RECEIVED }), answer(tool)];
    json!([
        { "when": { "before": "done" }, "steps": again },
        { "when": { "before": "undone" }, "steps": honest(tool) },
        { "steps": first },
    ])
}

fn honest(tool: &str) -> Vec<Value> {
    vec![json!({ "undone": RECEIVED }), work(tool), answer(tool)]
}

fn befallen(fault: Fault, tool: &str) -> Vec<Value> {
    let never = json!({ "wait": "never" });
    let late = json!({ "wait": "late" });
    let end = json!({ "wait": "eof" });
    let rest = match fault {
        // Those that befall the server elsewhere, or Candor, or the ledger.
        Fault::Nothing
        | Fault::GoneBefore
        | Fault::PipeFull
        | Fault::Unread
        | Fault::LedgerShut
        | Fault::Killed(_) => vec![work(tool), answer(tool)],
        Fault::Swallowed => vec![json!({ "die": { "exit": 0 } })],
        Fault::CrashBefore => vec![json!({ "die": "kill" })],
        Fault::CrashAfter => vec![work(tool), json!({ "die": "kill" })],
        Fault::TimeoutBefore => vec![never],
        Fault::TimeoutLateWrite => vec![end, work(tool)],
        Fault::TimeoutAfter => vec![work(tool), never],
        Fault::LateAnswer => vec![work(tool), late, answer(tool)],
        Fault::AnsweredTwice => vec![work(tool), answer(tool), contrary(tool)],
        Fault::SlowAccept => vec![accepted(tool), end, work(tool)],
        Fault::LateAccept => vec![late, accepted(tool), end, work(tool)],
        Fault::LedgerGone => vec![late, work(tool), answer(tool)],
    };
    let mut steps = vec![json!({ "undone": RECEIVED })];
    steps.extend(rest);
    steps
}

fn work(tool: &str) -> Value {
    match tool {
        "list_bookings" => json!({ "undone": "looked" }),
        _ => json!({ "done": "booked" }),
    }
}

fn answer(tool: &str) -> Value {
    match tool {
        "list_bookings" => structured(&json!({ "bookings": "{{done book_room}}" })),
        _ => structured(&json!({ "status": "booked", "confirmation": "R-14" })),
    }
}

/// The contrary of what was answered: the room was taken.
fn contrary(tool: &str) -> Value {
    match tool {
        "list_bookings" => json!({ "error": { "code": -32000, "message": "the list is not to be had" } }),
        _ => structured(&json!({ "status": "taken" })),
    }
}

/// Taken on. There is nothing to take on of a look: it is answered late.
fn accepted(tool: &str) -> Value {
    match tool {
        "list_bookings" => answer(tool),
        _ => structured(&json!({ "status": "queued", "confirmation": "R-14" })),
    }
}

fn structured(value: &Value) -> Value {
    json!({ "result": { "content": [{ "type": "text", "text": "see the structure" }], "structuredContent": value } })
}
