//! Each outcome: content, structure and flag say the same, and a strict client takes every one of them.

use candor::{Call, Lang, Listed, NoArguments, Outcome, Tool, Tools, describe};
use candor_core::contract::schema::{Formats, Schema};
use rmcp::model::CallToolResult;
use serde_json::{Value, json};

use crate::rooms::{macros, tools};
use crate::ways::{Client, call, clients, ends, first_text, over_a_pipe, verdict};

struct Expected {
    which: &'static str,
    flagged: bool,
    opening: &'static str,
    ends: (&'static str, &'static str),
}

const EXPECTED: &[Expected] = &[
    Expected {
        which: "completed",
        flagged: false,
        opening: "{",
        ends: ("completed", "applied"),
    },
    Expected {
        which: "content",
        flagged: false,
        opening: "Booked.",
        ends: ("completed", "applied"),
    },
    Expected {
        which: "accepted",
        flagged: false,
        opening: "ACCEPTED, NOT YET DONE:",
        ends: ("accepted", "unknown"),
    },
    Expected {
        which: "rejected",
        flagged: true,
        opening: "NOT DONE:",
        ends: ("rejected", "not_applied"),
    },
    Expected {
        which: "rejected, unknown",
        flagged: true,
        opening: "REJECTED, EFFECT UNKNOWN:",
        ends: ("rejected", "unknown"),
    },
    Expected {
        which: "failed",
        flagged: true,
        opening: "FAILED, EFFECT UNKNOWN:",
        ends: ("failed", "unknown"),
    },
    Expected {
        which: "failed, nothing",
        flagged: true,
        opening: "NOT DONE:",
        ends: ("failed", "not_applied"),
    },
    Expected {
        which: "partial",
        flagged: true,
        opening: "PARTLY DONE:",
        ends: ("partial", "partial"),
    },
    Expected {
        which: "in parts, none",
        flagged: true,
        opening: "NOT DONE:",
        ends: ("failed", "not_applied"),
    },
    Expected {
        which: "in parts, none known",
        flagged: true,
        opening: "UNKNOWN:",
        ends: ("unknown", "unknown"),
    },
    Expected {
        which: "in contradiction",
        flagged: true,
        opening: "UNKNOWN:",
        ends: ("unknown", "unknown"),
    },
    Expected {
        which: "unknown",
        flagged: true,
        opening: "UNKNOWN:",
        ends: ("unknown", "unknown"),
    },
];

/// The three channels, whatever the outcome.
fn agree(result: &CallToolResult, expected: &Expected, way: &str) {
    let which = expected.which;
    assert_eq!(result.is_error == Some(true), expected.flagged, "{way}: {which}");
    assert_eq!(ends(result), expected.ends, "{way}: {which}");
    let text = first_text(result);
    assert!(text.starts_with(expected.opening), "{way}: {which}: {text}");
    assert_eq!(verdict(result)["protocol"], json!("delivered"));
    assert_eq!(verdict(result)["evidence"], json!("declared"));
    assert_eq!(verdict(result)["error"].is_object(), expected.flagged);
}

#[tokio::test]
async fn a_tool_that_promises_no_structure_tells_everything_in_it() {
    for (way, client) in clients(&macros()).await {
        for expected in EXPECTED {
            let result = call(&client, "end", json!({ "which": expected.which }))
                .await
                .expect("a result");
            agree(&result, expected, &way);
            let structured = result.structured_content.as_ref().expect("there is structure");
            match expected.ends.0 {
                "completed" => assert_eq!(structured["id"], json!("b-1")),
                "accepted" => assert_eq!(
                    structured,
                    &json!({ "outcome": "accepted", "reference": "job-4711" })
                ),
                _ => assert_eq!(structured, verdict(&result)),
            }
        }
    }
}

async fn promised(client: &Client, tool: &str) -> Schema {
    let listed = client.list_all_tools().await.expect("they are listed");
    let tool = listed
        .into_iter()
        .find(|listed| listed.name == tool)
        .expect("it is listed");
    let schema = serde_json::to_string(&*tool.output_schema.expect("it promises structure")).expect("JSON");
    Schema::compile(&schema, Formats::Annotate).expect("it can be used")
}

/// What strict clients do: an unflagged result has structure, and whatever structure there is fits the schema.
async fn strictly(client: &Client, way: &str) {
    let schema = promised(client, "end_strictly").await;
    for expected in EXPECTED {
        let result = call(client, "end_strictly", json!({ "which": expected.which }))
            .await
            .expect("a result");
        agree(&result, expected, way);
        match &result.structured_content {
            Some(structured) => assert_eq!(schema.violations(structured, 5).total, 0, "{way}: {structured}"),
            None => assert!(expected.flagged, "{way}: {}", expected.which),
        }
        assert!(
            !expected.flagged || result.structured_content.is_none(),
            "{way}: {}",
            expected.which
        );
    }
}

#[tokio::test]
async fn a_strict_client_takes_every_outcome() {
    for (way, client) in clients(&macros()).await {
        strictly(&client, &way).await;
    }
    for (way, client) in clients(&tools()).await {
        strictly(&client, &format!("no macros, {way}")).await;
    }
}

#[tokio::test]
async fn an_acceptance_is_never_thrown_away_by_a_schema_that_knows_none() {
    let client = over_a_pipe(macros(), false).await;
    let result = call(&client, "end_too_strictly", json!({}))
        .await
        .expect("a result");
    assert_eq!(result.structured_content, None);
    assert_eq!(
        result.is_error,
        Some(true),
        "or a strict client would refuse it for want of structure"
    );
    assert!(
        first_text(&result).starts_with("ACCEPTED, NOT YET DONE:"),
        "{}",
        first_text(&result)
    );
    assert_eq!(ends(&result), ("accepted", "unknown"));
}

#[tokio::test]
async fn what_a_tool_says_stands_in_the_verdict() {
    let client = over_a_pipe(macros(), true).await;
    let ask = async |which: &str| {
        call(&client, "end", json!({ "which": which }))
            .await
            .expect("a result")
    };
    let result = ask("rejected").await;
    let error = &verdict(&result)["error"];
    assert_eq!(error["code"], json!("ROOM_UNAVAILABLE"));
    assert_eq!(error["kind"], json!("business_rule"));
    assert_eq!(error["retrySameRequest"], json!(false));
    let text = first_text(&result);
    assert!(
        text.contains("Room 12 is taken 14:00-15:00") && text.contains("room 14 is free"),
        "{text}"
    );
    assert!(text.contains("Nothing changed."), "{text}");
    let result = ask("failed, nothing").await;
    assert_eq!(verdict(&result)["error"]["retryAfter"], json!(30));
    assert_eq!(verdict(&result)["error"]["kind"], json!("dependency_unavailable"));
    let result = ask("completed").await;
    assert_eq!(verdict(&result)["reference"], json!("CONF-77"));
    let result = ask("accepted").await;
    assert!(
        first_text(&result).contains("job-4711"),
        "{}",
        first_text(&result)
    );
    let result = ask("partial").await;
    assert_eq!(verdict(&result)["parts"].as_array().map(Vec::len), Some(2));
    let value: Value = serde_json::from_str(&result.content[1].as_text().expect("text").text).expect("JSON");
    assert_eq!(value["id"], json!("b-1"), "what there is of a result follows");
}

#[tokio::test]
async fn of_parts_the_whole_is_no_better_than_what_is_done() {
    for (way, client) in clients(&macros()).await {
        for (which, ending, counted) in [
            ("partial", ("partial", "partial"), 2),
            ("in parts, none", ("failed", "not_applied"), 2),
            ("in parts, none known", ("unknown", "unknown"), 2),
        ] {
            let result = call(&client, "end", json!({ "which": which }))
                .await
                .expect("a result");
            assert_eq!(ends(&result), ending, "{way}: {which}");
            let parts = verdict(&result)["parts"].as_array().map(Vec::len);
            assert_eq!(parts, Some(counted), "{way}: {which}: every part is told");
        }
    }
}

#[tokio::test]
async fn a_tool_that_contradicts_itself_is_believed_in_neither() {
    for (way, client) in clients(&macros()).await {
        let result = call(&client, "end", json!({ "which": "in contradiction" }))
            .await
            .expect("a result");
        assert_eq!(ends(&result), ("unknown", "unknown"), "{way}");
        assert_eq!(
            verdict(&result)["error"]["kind"],
            json!("contract_broken"),
            "{way}"
        );
        let text = first_text(&result);
        assert!(text.contains("can't both be"), "{way}: {text}");
    }
}

#[tokio::test]
async fn a_list_that_is_empty_says_why_and_where_it_was_looked() {
    let list = |full: bool| {
        Tool::new("list", "Lists bookings")
            .reads()
            .run(move |_: NoArguments, _call: Call| async move {
                let found = if full { vec!["b-1".to_owned()] } else { Vec::new() };
                Outcome::completed(Listed::of(
                    "bookings of today",
                    found,
                    "the index was never built",
                ))
            })
    };
    for full in [false, true] {
        let server = Tools::new("t", "1")
            .with(list(full))
            .build()
            .expect("nothing is wrong with it");
        for (way, client) in clients(&server).await {
            let result = call(&client, "list", json!({})).await.expect("a result");
            assert_eq!(ends(&result), ("completed", "not_applied"), "{way}");
            let structured = result.structured_content.as_ref().expect("a list");
            assert_eq!(structured["count"], json!(usize::from(full)), "{way}");
            assert_eq!(structured["searched"], json!("bookings of today"), "{way}");
            let why = (!full).then_some("the index was never built");
            assert_eq!(
                structured.get("emptyBecause").and_then(Value::as_str),
                why,
                "{way}"
            );
            let text = first_text(&result);
            assert_eq!(text.contains("the index was never built"), !full, "{way}: {text}");
            let told = describe(&result, "t", "list", Lang::En);
            assert_eq!(told.starts_with("No matching data:"), !full, "{way}: {told}");
        }
    }
}
