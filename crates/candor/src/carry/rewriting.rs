//! Tasks of 2025-11-25 through rmcp, which dropped them: a rewriting of single messages on both sides of rmcp. Pure.
//!
//! Inwards, what rmcp would drop goes where it keeps things (`_meta`, `experimental`), and the four task methods get
//! names that rmcp does not know, so that they reach `on_custom_request`. Outwards the other way round. Messages of
//! 2026-07-28 (they name their revision in `_meta`) pass untouched, and so does everything that has nothing to do with
//! tasks.

use serde_json::{Map, Value, json};

/// In `_meta` of a `tools/call`: the caller's `params.task`.
pub(crate) const TASK: &str = "candor/task";
/// In `capabilities.experimental`: the capability `tasks`, of either side.
pub(crate) const TASKS: &str = "candor/tasks";
/// In a tool's `_meta`: its `execution.taskSupport`.
pub(crate) const SUPPORT: &str = "candor/taskSupport";
/// In a result's `_meta`: what stands in the place of the whole result.
pub(crate) const INSTEAD: &str = "candor/instead";
/// In `_meta` of `initialize` and `tools/list`: the messages of this connection are rewritten.
pub(crate) const CARRIED: &str = "candor/carried";
/// Before the name of a task method.
pub(crate) const PREFIX: &str = "candor/";

const METHODS: [&str; 4] = ["tasks/get", "tasks/result", "tasks/list", "tasks/cancel"];
const REVISION: &str = "io.modelcontextprotocol/protocolVersion";

/// Rewrites a message of the client as rmcp is to see it. `false`: nothing was changed.
pub(crate) fn inwards(message: &mut Value) -> bool {
    let Some(message) = message.as_object_mut() else {
        return false;
    };
    let Some(method) = message.get("method").and_then(Value::as_str).map(str::to_owned) else {
        return false;
    };
    if names_its_revision(message) {
        return false;
    }
    match method.as_str() {
        "initialize" => {
            let Some(params) = object_at(message, "params") else {
                return false;
            };
            tasks_to_experimental(params);
            marked(params)
        }
        "tools/list" => object_at(message, "params").is_some_and(marked),
        "tools/call" => object_at(message, "params").is_some_and(task_to_meta),
        method if METHODS.contains(&method) => {
            message.insert("method".to_owned(), json!(format!("{PREFIX}{method}")));
            true
        }
        _ => false,
    }
}

/// Rewrites a message of rmcp as the client is to see it. `false`: nothing was changed.
pub(crate) fn outwards(message: &mut Value) -> bool {
    let Some(message) = message.as_object_mut() else {
        return false;
    };
    let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) else {
        return false;
    };
    if let Some(instead) = result
        .get_mut("_meta")
        .and_then(Value::as_object_mut)
        .and_then(|meta| meta.shift_remove(INSTEAD))
    {
        message.insert("result".to_owned(), instead);
        return true;
    }
    let announced = result.contains_key("protocolVersion") && tasks_from_experimental(result);
    let Some(tools) = result.get_mut("tools").and_then(Value::as_array_mut) else {
        return announced;
    };
    let supported = tools
        .iter_mut()
        .filter_map(Value::as_object_mut)
        .filter_map(support_from_meta)
        .count();
    announced || supported > 0
}

/// The text of a message, rewritten; `None` where it stays as it is (also where it is no JSON: that is rmcp's to say).
pub(crate) fn rewritten(text: &[u8], how: fn(&mut Value) -> bool) -> Option<String> {
    let mut value: Value = serde_json::from_slice(text).ok()?;
    how(&mut value).then(|| value.to_string())
}

/// May the rewriting have something to do here? Cheap.
pub(crate) fn may_concern(text: &[u8]) -> bool {
    // A JSON text may write any letter as an escape. rmcp's own messages don't, and a client's that do are still
    // answered, only not as tasks.
    const WORDS: [&str; 4] = ["task", "candor/", "\"initialize\"", "tools/list"];
    std::str::from_utf8(text).is_ok_and(|text| WORDS.iter().any(|word| text.contains(word)))
}

fn names_its_revision(message: &Map<String, Value>) -> bool {
    message
        .get("params")
        .and_then(|params| params.get("_meta")?.get(REVISION))
        .is_some()
}

/// The object at `key`, made where there is none. `None`: something else is there.
fn object_at<'a>(parent: &'a mut Map<String, Value>, key: &str) -> Option<&'a mut Map<String, Value>> {
    let there = parent.entry(key).or_insert_with(|| Value::Object(Map::new()));
    if there.is_null() {
        *there = Value::Object(Map::new());
    }
    there.as_object_mut()
}

fn marked(params: &mut Map<String, Value>) -> bool {
    let Some(meta) = object_at(params, "_meta") else {
        return false;
    };
    meta.insert(CARRIED.to_owned(), Value::Bool(true));
    true
}

fn tasks_to_experimental(params: &mut Map<String, Value>) {
    let Some(capabilities) = params.get_mut("capabilities").and_then(Value::as_object_mut) else {
        return;
    };
    let Some(tasks) = capabilities
        .get("tasks")
        .filter(|tasks| tasks.is_object())
        .cloned()
    else {
        return;
    };
    if let Some(experimental) = object_at(capabilities, "experimental") {
        experimental.insert(TASKS.to_owned(), tasks);
    }
}

fn tasks_from_experimental(result: &mut Map<String, Value>) -> bool {
    let Some(capabilities) = result.get_mut("capabilities").and_then(Value::as_object_mut) else {
        return false;
    };
    let Some(experimental) = capabilities
        .get_mut("experimental")
        .and_then(Value::as_object_mut)
    else {
        return false;
    };
    let Some(tasks) = experimental.shift_remove(TASKS) else {
        return false;
    };
    if experimental.is_empty() {
        capabilities.shift_remove("experimental");
    }
    capabilities.insert("tasks".to_owned(), tasks);
    true
}

fn task_to_meta(params: &mut Map<String, Value>) -> bool {
    let Some(task) = params.shift_remove("task") else {
        return false;
    };
    if let Some(meta) = object_at(params, "_meta") {
        meta.insert(TASK.to_owned(), task);
    }
    true
}

fn support_from_meta(tool: &mut Map<String, Value>) -> Option<()> {
    let meta = tool.get_mut("_meta")?.as_object_mut()?;
    let support = meta.shift_remove(SUPPORT)?;
    if meta.is_empty() {
        tool.shift_remove("_meta");
    }
    tool.insert("execution".to_owned(), json!({ "taskSupport": support }));
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(how: fn(&mut Value) -> bool, mut message: Value) -> Value {
        assert!(how(&mut message), "something is rewritten: {message}");
        message
    }

    fn untouched(how: fn(&mut Value) -> bool, message: &Value) {
        let mut copy = message.clone();
        assert!(!how(&mut copy));
        assert_eq!(&copy, message);
    }

    #[test]
    fn a_wish_for_a_task_goes_to_meta() {
        let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "slow", "arguments": {"n": 1.10}, "task": {"ttl": 60000}, "_meta": {"progressToken": 7}}});
        let expected = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call",
            "params": {"name": "slow", "arguments": {"n": 1.10}, "_meta": {"progressToken": 7, "candor/task": {"ttl": 60000}}}});
        assert_eq!(after(inwards, call), expected);
    }

    #[test]
    fn the_four_methods_get_names_that_rmcp_does_not_know() {
        for method in METHODS {
            let message = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": {"taskId": "t"}});
            assert_eq!(after(inwards, message)["method"], format!("candor/{method}"));
        }
        untouched(
            inwards,
            &json!({"jsonrpc": "2.0", "id": 1, "method": "tasks/update", "params": {}}),
        );
    }

    #[test]
    fn a_modern_message_passes_untouched() {
        for method in ["tools/call", "tools/list", "tasks/get", "tasks/cancel"] {
            untouched(
                inwards,
                &json!({"jsonrpc": "2.0", "id": 1, "method": method,
                    "params": {"task": {}, "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28"}}}),
            );
        }
    }

    #[test]
    fn capabilities_are_carried_both_ways_and_marked() {
        let hello = json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {"protocolVersion": "2025-11-25",
            "capabilities": {"tasks": {"list": {}}}}});
        let hello = after(inwards, hello);
        assert_eq!(
            hello["params"]["capabilities"]["experimental"]["candor/tasks"],
            json!({"list": {}})
        );
        assert_eq!(hello["params"]["_meta"]["candor/carried"], true);
        let answer = json!({"jsonrpc": "2.0", "id": 0, "result": {"protocolVersion": "2025-11-25",
            "capabilities": {"tools": {}, "experimental": {"candor/tasks": {"list": {}}}}}});
        assert_eq!(
            after(outwards, answer)["result"]["capabilities"],
            json!({"tools": {}, "tasks": {"list": {}}})
        );
    }

    #[test]
    fn a_tool_tells_its_support_where_2025_11_25_looks_for_it() {
        let list = json!({"id": 1, "result": {"tools": [
            {"name": "a", "_meta": {"candor/taskSupport": "optional"}}, {"name": "b", "_meta": {"x": 1}}]}});
        let tools = after(outwards, list)["result"]["tools"].clone();
        assert_eq!(
            tools,
            json!([{"name": "a", "execution": {"taskSupport": "optional"}}, {"name": "b", "_meta": {"x": 1}}])
        );
    }

    #[test]
    fn a_whole_result_is_put_in_place() {
        let result = json!({"id": 1, "result": {"content": [], "_meta": {"candor/instead": {"task": {"taskId": "t"}}}}});
        assert_eq!(
            after(outwards, result),
            json!({"id": 1, "result": {"task": {"taskId": "t"}}})
        );
    }

    #[test]
    fn what_is_no_message_is_left_alone() {
        for text in [
            "",
            "[]",
            "7",
            "{\"method\":3}",
            "{\"method\":\"tools/call\",\"params\":4}",
            "{\"task\"",
        ] {
            assert_eq!(rewritten(text.as_bytes(), inwards), None, "{text}");
            assert_eq!(rewritten(text.as_bytes(), outwards), None, "{text}");
        }
    }
}
