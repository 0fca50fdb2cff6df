//! Arguments: everything wrong at once, rules, coercion, and what stays an error of the protocol (F1-02, F1-17).

use candor::Candor;
use serde_json::json;

use crate::rooms::{Hand, macros, tools};
use crate::ways::{call, clients, ends, first_text, meta, over_a_pipe, raw, verdict};

#[tokio::test]
async fn a_thousand_guests_and_a_bad_date_are_told_at_once() {
    let mut all = clients(&macros()).await;
    all.extend(clients(&tools()).await);
    for (way, client) in all {
        let wrong = json!({ "guests": 1000, "date": "2026-01-02" });
        let result = call(&client, "book", wrong).await.expect("a result");
        assert_eq!(result.is_error, Some(true), "{way}");
        assert_eq!(ends(&result), ("rejected", "not_applied"), "{way}");
        let text = first_text(&result);
        assert!(text.starts_with("NOT DONE: book did not run;"), "{way}: {text}");
        assert!(
            text.contains("/guests: expected") && text.contains("received 1000"),
            "{way}: {text}"
        );
        assert!(
            text.contains("/date: expected dd/mm/yyyy, received \"2026-01-02\""),
            "{way}: {text}"
        );
        let error = &verdict(&result)["error"];
        assert_eq!(error["code"], json!("CANDOR_INVALID_INPUT"), "{way}");
        assert_eq!(error["issues"].as_array().map(Vec::len), Some(2), "{way}");
        assert_eq!(
            result.structured_content, None,
            "{way}: the tool has an outputSchema"
        );
    }
}

#[tokio::test]
async fn a_date_that_is_past_breaks_a_rule_by_the_clock_that_was_passed_in() {
    for client in [
        over_a_pipe(macros(), false).await,
        over_a_pipe(tools(), true).await,
    ] {
        let past = json!({ "guests": 2, "date": "08/08/2025" });
        let result = call(&client, "book", past).await.expect("a result");
        let text = first_text(&result);
        assert!(
            text.starts_with("NOT DONE: book did not run; 1 of its arguments breaks one of its rules."),
            "{text}"
        );
        assert!(
            text.contains("expected a day in the future; it is now 08/08/2025, received"),
            "{text}"
        );
        assert_eq!(verdict(&result)["error"]["issues"][0]["rule"], json!("future"));
        let tomorrow = json!({ "guests": 2, "date": "09/08/2025" });
        let result = call(&client, "book", tomorrow).await.expect("a result");
        assert_eq!(ends(&result), ("completed", "applied"));
    }
}

#[tokio::test]
async fn a_number_in_a_text_is_unwrapped_and_that_is_said() {
    let mut all = clients(&macros()).await;
    all.extend(clients(&tools()).await);
    for (way, client) in all {
        let given = json!({ "guests": "2", "date": "09/08/2025" });
        let result = call(&client, "book", given).await.expect("a result");
        assert_eq!(ends(&result), ("completed", "applied"), "{way}");
        assert_eq!(
            result
                .structured_content
                .as_ref()
                .map(|value| value["guests"].clone()),
            Some(json!(2)),
            "{way}"
        );
        let coerced = json!([{ "path": "/guests", "from": "\"2\"", "to": "2" }]);
        assert_eq!(meta(&result)["candor/coerced"], coerced, "{way}");
    }
}

#[tokio::test]
async fn numbers_kept_exactly_reach_every_kind_of_extractor() {
    let client = over_a_pipe(macros(), false).await;
    let given = |price: &str| {
        serde_json::from_str(&format!(
            r#"{{"guests": 2, "date": "09/08/2025", "price": {price}}}"#
        ))
        .expect("JSON")
    };
    let result = call(&client, "book", given("95.50")).await.expect("a result");
    assert_eq!(
        result
            .structured_content
            .as_ref()
            .map(|value| value["price"].clone()),
        Some(json!(95.5))
    );
    let result = call(&client, "book_as_before", given("1E2"))
        .await
        .expect("a result");
    assert_eq!(first_text(&result), "2 guests, Some(100.0)");
    let exact = r#"{"price":1.10,"id":123456789012345678901234}"#;
    let result = call(&client, "raw", serde_json::from_str(exact).expect("JSON"))
        .await
        .expect("a result");
    assert_eq!(first_text(&result), exact);
}

#[tokio::test]
async fn what_serde_refuses_is_an_issue_and_no_protocol_error() {
    let macros = over_a_pipe(macros(), false).await;
    let tools = over_a_pipe(tools(), true).await;
    for (client, tool, path) in [
        (&macros, "day", "/day"),
        (&macros, "day_as_before", ""),
        (&tools, "day", "/day"),
    ] {
        let result = call(client, tool, json!({ "day": "Friday" }))
            .await
            .expect("a result, and not -32602");
        assert_eq!(result.is_error, Some(true), "{tool}");
        assert_eq!(ends(&result), ("rejected", "not_applied"), "{tool}");
        assert!(
            first_text(&result).contains("only Monday is open"),
            "{tool}: {}",
            first_text(&result)
        );
        let issue = &verdict(&result)["error"]["issues"][0];
        assert_eq!(issue["path"], json!(path), "{tool}");
        assert!(
            !first_text(&result).contains("schema"),
            "{tool}: it fits the schema: {}",
            first_text(&result)
        );
        let result = call(client, tool, json!({ "day": "Monday" }))
            .await
            .expect("a result");
        assert_eq!(first_text(&result), "Monday", "{tool}");
    }
}

#[tokio::test]
async fn missing_null_and_mistyped_fields_are_results() {
    let client = over_a_pipe(macros(), false).await;
    for given in [
        json!({}),
        json!({ "which": null }),
        json!({ "which": { "a": 1 } }),
    ] {
        let result = call(&client, "end", given.clone())
            .await
            .expect("a result, and not -32602");
        assert_eq!(
            verdict(&result)["error"]["kind"],
            json!("invalid_input"),
            "{given}"
        );
        assert_eq!(
            verdict(&result)["error"]["issues"][0]["path"],
            json!("/which"),
            "{given}"
        );
    }
}

#[tokio::test]
async fn a_server_by_hand_is_checked_on_every_page_of_its_list() {
    for (way, client) in clients(&Candor::new(Hand)).await {
        for tool in ["first", "second"] {
            let result = call(&client, tool, json!({ "guests": 1000, "gests": 1 }))
                .await
                .expect("a result");
            let text = first_text(&result);
            assert!(
                text.starts_with(&format!("NOT DONE: {tool} did not run; 2 of its arguments")),
                "{way}: {text}"
            );
            let result = call(&client, tool, json!({ "guests": "3" }))
                .await
                .expect("a result");
            assert_eq!(first_text(&result), "3 guests", "{way}");
            assert_eq!(ends(&result), ("reported", "unknown"), "{way}: nobody said more");
            // It fits the schema, and not the i8 that the handler reads it as.
            let result = call(&client, tool, json!({ "guests": -1000 }))
                .await
                .expect("a result, and not -32602");
            assert_eq!(ends(&result), ("rejected", "not_applied"), "{way}");
        }
    }
}

#[tokio::test]
async fn an_unknown_tool_is_a_protocol_error_with_the_nearest_names() {
    let mut all = clients(&macros()).await;
    all.extend(clients(&tools()).await);
    for (way, client) in all {
        let error = call(&client, "bok", json!({})).await.expect_err("there is none");
        assert_eq!(error.code.0, -32602, "{way}");
        assert!(error.message.contains("book"), "{way}: {}", error.message);
    }
    let client = over_a_pipe(Candor::new(Hand), false).await;
    let error = call(&client, "secnd", json!({}))
        .await
        .expect_err("there is none");
    assert!(error.message.contains("second"), "{}", error.message);
}

#[tokio::test]
async fn a_malformed_call_is_a_protocol_error_that_names_what_is_wrong() {
    for (params, word) in [
        (json!({ "name": "book", "arguments": "{}" }), "arguments"),
        (json!({ "name": "book", "arguments": [1] }), "arguments"),
        (json!({ "arguments": {} }), "name"),
        (json!({ "name": 7 }), "name"),
    ] {
        let answer = raw(macros(), params.clone()).await;
        assert_eq!(answer["error"]["code"], json!(-32602), "{params}");
        let message = answer["error"]["message"].as_str().unwrap_or_default();
        assert!(message.contains(&format!("\"{word}\"")), "{params}: {message}");
    }
}

#[tokio::test]
async fn absent_and_null_arguments_are_an_empty_object() {
    for arguments in [
        json!({ "name": "book" }),
        json!({ "name": "book", "arguments": null }),
    ] {
        let answer = raw(macros(), arguments).await;
        let text = answer["result"]["content"][0]["text"]
            .as_str()
            .unwrap_or_default();
        assert!(
            text.contains("/guests: missing") && text.contains("/date: missing"),
            "{answer}"
        );
    }
}
