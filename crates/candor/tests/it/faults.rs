//! Two classes of error: what the caller caused is told, what broke inside is masked (F1-17, F7-05).

use rmcp::model::CallToolResult;
use serde_json::json;

use crate::rooms::{macros, tools};
use crate::ways::{call, clients, ends, first_text, verdict};

fn masked(result: &CallToolResult, way: &str) {
    let whole = serde_json::to_string(result).expect("it is JSON");
    for secret in ["hunter22", "postgres", "db.internal"] {
        assert!(!whole.contains(secret), "{way}: {whole}");
    }
    assert_eq!(result.is_error, Some(true), "{way}");
    let verdict = verdict(result);
    assert_eq!(verdict["error"]["kind"], json!("internal"), "{way}");
    assert_eq!(verdict["error"]["code"], json!("CANDOR_PANIC"), "{way}");
    let id = verdict["operationId"].as_str().expect("there is one");
    assert!(
        first_text(result).contains(id),
        "{way}: the correlation id is the operation's: {whole}"
    );
}

#[tokio::test]
async fn a_panic_is_answered_wherever_it_happens_and_tells_nothing() {
    for (way, client) in clients(&macros()).await {
        for tool in ["crash_at_once", "crash_early", "break_down"] {
            let result = call(&client, tool, json!({})).await.expect("a result");
            masked(&result, &format!("{way}: {tool}"));
            assert_eq!(ends(&result), ("failed", "unknown"), "{way}: {tool}");
            assert!(
                first_text(&result).starts_with("FAILED, EFFECT UNKNOWN:"),
                "{}",
                first_text(&result)
            );
        }
        // Declared as only reading: what broke changed nothing.
        let result = call(&client, "crash_late", json!({})).await.expect("a result");
        masked(&result, &way);
        assert_eq!(ends(&result), ("failed", "not_applied"), "{way}");
        assert!(
            first_text(&result).starts_with("NOT DONE:"),
            "{}",
            first_text(&result)
        );
        // And the server is still there.
        let result = call(&client, "end", json!({ "which": "completed" }))
            .await
            .expect("a result");
        assert_eq!(ends(&result), ("completed", "applied"), "{way}");
    }
    for (way, client) in clients(&tools()).await {
        let result = call(&client, "crash_early", json!({})).await.expect("a result");
        masked(&result, &format!("no macros, {way}"));
    }
}

#[tokio::test]
async fn what_the_caller_caused_is_told_although_faults_are_masked() {
    for (way, client) in clients(&macros()).await {
        let result = call(&client, "end", json!({ "which": 7 }))
            .await
            .expect("a result");
        assert!(
            first_text(&result).contains("/which: expected a string, received 7"),
            "{way}: {}",
            first_text(&result)
        );
    }
}
