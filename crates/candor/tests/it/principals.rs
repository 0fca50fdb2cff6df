//! Who calls: credentials, scopes and what is not there for others.

use axum::extract::Request;
use axum::middleware::{Next, from_fn};
use candor::{Call, NoArguments, Outcome, Principal, Refused, Tool, Tools};
use rmcp::RoleServer;
use rmcp::ServiceExt;
use rmcp::service::RequestContext;
use rmcp::transport::StreamableHttpClientTransport;
use serde_json::json;

use crate::rooms::{macros, tools};
use crate::ways::{Client, call, first_text, over_a_pipe, serve};

fn incidents() -> Tools {
    let who = Tool::new("who", "says who calls")
        .reads()
        .run(|_: NoArguments, call: Call| async move { Outcome::completed(call.principal().id.clone()) });
    let close = Tool::new("close", "closes an incident")
        .writes()
        .requires("incidents:write")
        .run(|_: NoArguments, _call: Call| async move { Outcome::completed(()) });
    let audit = Tool::new("audit", "for acme only")
        .reads()
        .seen_by(|principal| principal.tenant.as_deref() == Some("acme"))
        .run(|_: NoArguments, _call: Call| async move { Outcome::completed(()) });
    Tools::new("incidents", "1.0.0").with(who).with(close).with(audit)
}

async fn as_principal(principal: Principal) -> Client {
    let server = incidents().build().expect("nothing is wrong with it");
    let url = serve(server, |router| {
        router.layer(from_fn(move |mut request: Request, next: Next| {
            request.extensions_mut().insert(principal.clone());
            next.run(request)
        }))
    })
    .await;
    ().serve(StreamableHttpClientTransport::from_uri(url))
        .await
        .expect("the client is let in")
}

#[tokio::test]
async fn the_principal_of_an_http_request_reaches_the_tool() {
    let client = as_principal(Principal::new("ann")).await;
    let result = call(&client, "who", json!({})).await.expect("a result");
    assert_eq!(first_text(&result), "ann");
}

#[tokio::test]
async fn a_missing_scope_is_refused_at_the_protocol() {
    let client = as_principal(Principal::new("ann")).await;
    let error = call(&client, "close", json!({ "wrong": 1 }))
        .await
        .expect_err("it is refused");
    assert_eq!(error.code.0, candor::principal::PERMISSION_DENIED);
    assert_eq!(
        error.data.map(|data| data["scopes"].clone()),
        Some(json!(["incidents:write"]))
    );
    let client = as_principal(Principal::new("ann").with_scope("incidents:write")).await;
    assert!(call(&client, "close", json!({})).await.is_ok());
}

#[tokio::test]
async fn a_scope_found_missing_inside_a_tool_is_refused_likewise() {
    for client in [
        over_a_pipe(macros(), false).await,
        over_a_pipe(tools(), true).await,
    ] {
        let error = call(&client, "inside", json!({}))
            .await
            .expect_err("it is refused");
        assert_eq!(error.code.0, candor::principal::PERMISSION_DENIED);
        assert!(error.message.contains("rooms:audit"), "{}", error.message);
    }
}

#[tokio::test]
async fn a_tool_of_another_tenant_does_not_exist() {
    let acme = as_principal(Principal::new("ann").of_tenant("acme")).await;
    assert!(call(&acme, "audit", json!({})).await.is_ok());
    let other = as_principal(Principal::new("bob").of_tenant("globex")).await;
    let listed = other.list_all_tools().await.expect("they are listed");
    assert!(listed.iter().all(|tool| tool.name != "audit"), "{listed:?}");
    let foreign = call(&other, "audit", json!({}))
        .await
        .expect_err("it is not there");
    let never = call(&other, "audjt", json!({})).await.expect_err("it never was");
    assert_eq!(foreign.code, never.code);
    assert_eq!(foreign.message.replace("audit", "audjt"), never.message);
}

#[tokio::test]
async fn a_bad_credential_runs_nothing() {
    let nobody = |_: &RequestContext<RoleServer>| {
        Err::<Principal, _>(Refused::BadCredential {
            why: "it expired".to_owned(),
        })
    };
    let server = incidents()
        .builder()
        .expect("nothing is wrong")
        .principals(nobody)
        .build()
        .expect("nor here");
    let client = over_a_pipe(server, false).await;
    let error = call(&client, "who", json!({})).await.expect_err("it is refused");
    assert_eq!(error.code.0, candor::principal::PERMISSION_DENIED);
    assert!(error.message.contains("it expired"), "{}", error.message);
}
