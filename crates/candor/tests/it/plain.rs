//! Results that a tool makes by itself: nothing is changed in them but `_meta`.

use serde_json::json;

use crate::rooms::macros;
use crate::ways::{call, clients, ends, first_text, meta};

#[tokio::test]
async fn a_plain_result_keeps_every_byte_of_its_own() {
    for (way, client) in clients(&macros()).await {
        let result = call(&client, "plain", json!({})).await.expect("a result");
        assert_eq!(result.content.len(), 1, "{way}");
        assert_eq!(first_text(&result), "as it was", "{way}");
        let structured = result.structured_content.as_ref().map(ToString::to_string);
        assert_eq!(
            structured.as_deref(),
            Some(r#"{"price":1.10,"b":1,"a":2}"#),
            "{way}"
        );
        assert_ne!(result.is_error, Some(true), "{way}");
        assert_eq!(
            ends(&result),
            ("reported", "unknown"),
            "{way}: a tool's own verdict is a claim"
        );
        assert_eq!(meta(&result)["own/key"], json!(1), "{way}");
        assert_eq!(
            meta(&result)["candor/claimed"],
            json!({ "outcome": "completed" }),
            "{way}"
        );
    }
}

#[tokio::test]
async fn a_plain_error_stays_and_its_effect_follows_from_what_the_tool_may_change() {
    for (way, client) in clients(&macros()).await {
        let result = call(&client, "plain_error", json!({})).await.expect("a result");
        assert_eq!(
            (first_text(&result), result.is_error),
            ("no room", Some(true)),
            "{way}"
        );
        assert_eq!(result.structured_content, None, "{way}");
        assert_eq!(
            ends(&result),
            ("failed", "not_applied"),
            "{way}: declared as only reading"
        );
    }
}

#[tokio::test]
async fn a_protocol_error_of_a_tools_own_passes() {
    for (way, client) in clients(&macros()).await {
        let error = call(&client, "protocol_error", json!({}))
            .await
            .expect_err("it refuses");
        assert_eq!(
            (error.code.0, error.message.as_ref()),
            (-32042, "go there"),
            "{way}"
        );
        assert_eq!(error.data, Some(json!({ "url": "x" })), "{way}");
    }
}
