//! What is found out before a server serves anybody, and what is said where the wrapper is not there.

use std::sync::Arc;

use candor::asking::Text;
use candor::{Call, Candor, Declaration, Form, NoArguments, Outcome, Reason, StartFault, Tool, Tools};
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::model::object;
use rmcp::{ServerHandler, tool, tool_handler, tool_router};
use serde_json::json;

use crate::ways::{call, ends, first_text, over_a_pipe};

fn tool(name: &str) -> candor::ToolBuilder {
    Tool::new(name, "does nothing")
}

fn nothing(_: NoArguments, _: Call) -> std::future::Ready<Outcome<()>> {
    std::future::ready(Outcome::completed(()))
}

#[test]
fn faults_of_an_author_are_named_with_their_tool() {
    let twice = Tools::new("t", "1")
        .with(tool("a").run(nothing))
        .with(tool("a").run(nothing))
        .build();
    assert!(matches!(twice, Err(StartFault::TwiceNamed { tool }) if tool == "a"));
    let scalar = tool("b").run(|_: String, _: Call| async { Outcome::completed(()) });
    let fault = Tools::new("t", "1")
        .with(scalar)
        .build()
        .expect_err("its arguments are no object");
    assert!(
        matches!(&fault, StartFault::Arguments { tool, .. } if tool == "b"),
        "{fault}"
    );
    assert!(fault.to_string().contains("\"b\""), "{fault}");
}

#[test]
fn a_form_that_asks_for_a_secret_is_found_at_the_start() {
    let form = Form::new("Sign in").required("password", Text::new());
    let fault = Tools::new("t", "1")
        .with(tool("a").asks(form).run(nothing))
        .build()
        .expect_err("it asks for a secret");
    assert!(
        matches!(&fault, StartFault::Form { tool, .. } if tool == "a"),
        "{fault}"
    );
    assert!(fault.to_string().contains("password"), "{fault}");
}

#[derive(Clone)]
struct Broken {
    router: ToolRouter<Self>,
}

#[tool_router(router = router)]
impl Broken {
    #[tool(
        description = "promises what nobody can check",
        output_schema = Arc::new(object(json!({ "type": "nonsense" })))
    )]
    async fn promise(&self) -> Outcome<()> {
        Outcome::completed(())
    }

    #[tool(description = "refuses")]
    async fn refuse(&self) -> Outcome<()> {
        Outcome::Rejected(Reason::new("CLOSED", "the desk is closed"))
    }

    #[tool(description = "converts in a task of its own")]
    async fn apart(&self) -> Result<rmcp::model::CallToolResponse, rmcp::ErrorData> {
        use rmcp::handler::server::tool::IntoCallToolResult;
        let refused = Outcome::<()>::Rejected(Reason::new("CLOSED", "the desk is closed"));
        tokio::spawn(async { refused.into_call_tool_result() })
            .await
            .expect("it ends")
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Broken {}

fn broken() -> Broken {
    Broken {
        router: Broken::router(),
    }
}

#[test]
fn a_declared_tool_with_a_schema_of_no_use_is_found_at_the_start() {
    let fault = Candor::builder(broken())
        .tool("promise", Declaration::reads())
        .build()
        .expect_err("it is found");
    assert!(
        matches!(&fault, StartFault::Schema { tool, which: "outputSchema", .. } if tool == "promise"),
        "{fault}"
    );
    assert!(
        Candor::builder(broken())
            .tool("refuse", Declaration::reads())
            .build()
            .is_ok()
    );
}

#[tokio::test]
async fn an_outcome_without_the_wrapper_is_still_no_success() {
    let client = over_a_pipe(broken(), false).await;
    let result = call(&client, "refuse", json!({})).await.expect("a result");
    assert_eq!(result.is_error, Some(true));
    assert!(
        first_text(&result).starts_with("NOT DONE:"),
        "{}",
        first_text(&result)
    );
    assert!(first_text(&result).contains("CLOSED"), "{}", first_text(&result));
}

#[tokio::test]
async fn an_outcome_converted_elsewhere_keeps_its_words_and_loses_its_evidence() {
    let client = over_a_pipe(Candor::new(broken()), false).await;
    let result = call(&client, "apart", json!({})).await.expect("a result");
    assert_eq!(result.is_error, Some(true));
    assert!(first_text(&result).contains("CLOSED"), "{}", first_text(&result));
    assert_eq!(
        ends(&result),
        ("failed", "unknown"),
        "a flag alone, as of any tool"
    );
}

#[tokio::test]
async fn secrets_that_were_named_are_in_no_text() {
    let leaks = tool("leaks").run(|_: NoArguments, _: Call| async {
        Outcome::<()>::Failed(Reason::new("DOWN", "key sk-own-000111222 was refused"))
    });
    let tools = Tools::new("t", "1").with(leaks);
    let server = tools
        .builder()
        .and_then(|builder| builder.secrets(["sk-own-000111222"]).build());
    let client = over_a_pipe(server.expect("nothing is wrong with it"), true).await;
    let result = call(&client, "leaks", json!({})).await.expect("a result");
    let whole = serde_json::to_string(&result).expect("it is JSON");
    assert!(
        whole.contains("was refused") && !whole.contains("000111222"),
        "{whole}"
    );
}
