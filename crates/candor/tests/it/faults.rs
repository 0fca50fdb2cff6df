//! Two classes of error: what the caller caused is told, what broke inside is masked (F1-17, F7-05).

use std::process::Command;

use rmcp::model::CallToolResult;
use serde_json::json;

use crate::rooms::{macros, tools};
use crate::ways::{call, clients, ends, first_text, over_a_pipe, verdict};

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

/// Set for the child process of the test below.
const CHILD: &str = "CANDOR_TEST_PANICS";

/// Run by the test below only: a panic in a tool, with or without the hook.
#[tokio::test]
async fn child_that_panics() {
    let Ok(how) = std::env::var(CHILD) else { return };
    if how == "quiet" {
        candor::quiet_panics();
    }
    let client = over_a_pipe(macros(), false).await;
    let result = call(&client, "crash_early", json!({})).await.expect("a result");
    masked(&result, &how);
}

#[test]
fn the_message_of_a_panic_stays_off_stderr_where_that_was_asked_for() {
    let stderr = |how: &str| {
        let child = Command::new(std::env::current_exe().expect("it has a path"))
            .args([
                "--exact",
                "faults::child_that_panics",
                "--nocapture",
                "--test-threads",
                "1",
            ])
            .env(CHILD, how)
            .output()
            .expect("it runs");
        assert!(
            child.status.success(),
            "{how}: {}",
            String::from_utf8_lossy(&child.stdout)
        );
        String::from_utf8_lossy(&child.stderr).into_owned()
    };
    assert!(
        stderr("loud").contains("hunter22"),
        "without the hook it is there to be seen"
    );
    assert!(!stderr("quiet").contains("hunter22"));
}
