//! The example `flight`, in every way there is.

use candor::{Candor, Timestamp};
use rmcp::model::ErrorCode;
use serde_json::{Value, json};

use crate::ways::{call, clients, ends, first_text, over_a_pipe, verdict};

#[path = "../../examples/flight/server/mod.rs"]
mod server;

use server::Flights;

/// The server on 08/08/2025.
fn flights() -> Candor<Flights> {
    let now: Timestamp = "2025-08-08T12:00:00Z".parse().expect("a moment");
    Flights::declared()
        .clock(move || now)
        .build()
        .expect("it can start")
}

fn to_singapore(day: &str, passengers: u32) -> Value {
    json!({ "from": "HEL", "to": "SIN", "departureDate": day, "passengers": passengers })
}

/// Paths and expectations of the issues in a verdict.
fn issues(verdict: &Value) -> Vec<(&str, &str)> {
    let issues = verdict["error"]["issues"].as_array().expect("a list").iter();
    let texts = issues.map(|issue| {
        (
            issue["path"].as_str().expect("a text"),
            issue["expected"].as_str().expect("a text"),
        )
    });
    texts.collect()
}

#[tokio::test]
async fn a_booking_is_done_and_proves_it() {
    let server = flights();
    for (number, (way, client)) in clients(&server).await.into_iter().enumerate() {
        let result = call(&client, "book_flight", to_singapore("09/08/2025", 2))
            .await
            .expect(&way);
        assert_eq!(ends(&result), ("completed", "applied"), "{way}");
        let booking = format!("FL-{:04}", number + 1);
        assert_eq!(verdict(&result)["reference"], json!(booking), "{way}");
        let structured = result.structured_content.as_ref().expect("a value");
        assert_eq!(structured["booking"], json!(booking), "{way}");
        assert_ne!(result.is_error, Some(true), "{way}");
    }
}

#[tokio::test]
async fn a_day_must_be_in_the_future() {
    let server = flights();
    let today = "a day in the future; today is 08/08/2025";
    let no_day = "a day that is in the calendar, as dd/mm/yyyy";
    for (way, client) in clients(&server).await {
        for (day, expected) in [
            ("08/08/2025", today),
            ("07/08/2024", today),
            ("31/02/2026", no_day),
        ] {
            let result = call(&client, "book_flight", to_singapore(day, 1))
                .await
                .expect(&way);
            assert_eq!(ends(&result), ("rejected", "not_applied"), "{way}");
            assert_eq!(issues(verdict(&result)), [("/departureDate", expected)], "{way}");
            let text = first_text(&result);
            assert!(
                text.starts_with("NOT DONE: ") && text.contains(expected),
                "{way}: {text}"
            );
        }
    }
}

#[tokio::test]
async fn everything_wrong_is_said_at_once() {
    let server = flights();
    for (way, client) in clients(&server).await {
        let arguments =
            json!({ "from": "Helsinki", "departureDate": "2025-12-12", "passengers": 1000, "to": "SIN" });
        let result = call(&client, "book_flight", arguments).await.expect(&way);
        let paths: Vec<&str> = issues(verdict(&result))
            .into_iter()
            .map(|(path, _)| path)
            .collect();
        assert_eq!(paths, ["/from", "/departureDate", "/passengers"], "{way}");
        for arguments in [
            json!({ "from": "HEL", "to": "SIN", "departureDate": "09/08/2025" }),
            json!({ "from": "HEL", "to": "SIN", "departureDate": "09/08/2025", "passengers": null }),
            json!({ "from": "HEL", "to": "SIN", "departureDate": "09/08/2025", "passengers": { "adults": 2 } }),
        ] {
            let result = call(&client, "book_flight", arguments).await.expect(&way);
            assert_eq!(ends(&result), ("rejected", "not_applied"), "{way}");
            let issues = issues(verdict(&result));
            assert_eq!(
                issues.iter().map(|(path, _)| *path).collect::<Vec<_>>(),
                ["/passengers"],
                "{way}"
            );
        }
        let result = call(
            &client,
            "book_flight",
            json!({ "from": "HEL", "to": "HEL", "departureDate": "09/08/2025", "passengers": 1 }),
        );
        let result = result.await.expect(&way);
        assert_eq!(
            issues(verdict(&result)),
            [("/to", "another airport than the one of departure")],
            "{way}"
        );
    }
}

#[tokio::test]
async fn a_flight_that_is_full_is_refused_and_nothing_changes() {
    let client = over_a_pipe(flights(), true).await;
    for _ in 0..2 {
        call(&client, "book_flight", to_singapore("09/08/2025", 5))
            .await
            .expect("it is answered");
    }
    let result = call(&client, "book_flight", to_singapore("09/08/2025", 3))
        .await
        .expect("it is answered");
    assert_eq!(ends(&result), ("rejected", "not_applied"));
    let error = &verdict(&result)["error"];
    assert_eq!(error["code"], json!("SOLD_OUT"));
    assert_eq!(error["kind"], json!("business_rule"));
    assert_eq!(error["retrySameRequest"], json!(false));
    let result = call(&client, "book_flight", to_singapore("09/08/2025", 2))
        .await
        .expect("it is answered");
    assert_eq!(ends(&result), ("completed", "applied"));
    assert_eq!(result.structured_content.expect("a value")["seatsLeft"], json!(0));
}

#[tokio::test]
async fn a_number_in_a_text_is_read_and_an_unknown_tool_is_not_a_result() {
    let server = flights();
    for (way, client) in clients(&server).await {
        let arguments =
            json!({ "from": "HEL", "to": "OUL", "departureDate": "10/08/2025", "passengers": "2" });
        let result = call(&client, "book_flight", arguments).await.expect(&way);
        assert_eq!(ends(&result), ("completed", "applied"), "{way}");
        let error = call(&client, "book_fligth", json!({})).await.expect_err(&way);
        assert_eq!(error.code, ErrorCode::INVALID_PARAMS, "{way}");
        assert!(error.message.contains("book_flight"), "{way}: {}", error.message);
    }
}
