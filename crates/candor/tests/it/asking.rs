//! Asking the user through the whole wrapper: inside the call before 2026-07-28, in rounds since.

use candor::asking::Text;
use candor::{Call, Candor, Form, NoArguments, Outcome, Stop, Tool, Tools};
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, ElicitationCapability, FormElicitationCapability, Implementation,
    InputRequiredResult,
};
use rmcp::service::{RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::json;

use crate::ways::{call, ends, first_text, over_a_pipe, with_client};

/// A user who always does the same.
#[derive(Clone)]
struct User(ElicitResult);

impl ClientHandler for User {
    fn get_info(&self) -> ClientConfig {
        let mut elicitation = ElicitationCapability::default();
        elicitation.form = Some(FormElicitationCapability::default());
        let mut capabilities = ClientCapabilities::default();
        capabilities.elicitation = Some(elicitation);
        ClientConfig::new(capabilities, Implementation::new("user", "1.0.0"))
    }

    async fn create_elicitation(
        &self,
        _request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        Ok(self.0.clone())
    }
}

fn accepts() -> User {
    User(ElicitResult::new(ElicitationAction::Accept).with_content(json!({ "name": "Ann" })))
}

fn server() -> Candor<Tools> {
    let form = || Form::new("For whom?").required("name", Text::new()).once();
    let greet = Tool::new("greet", "asks for a name").writes().asks(form()).run(
        move |_: NoArguments, call: Call| async move {
            let answer = match call.ask("who", &form()).await?.or_reason() {
                Ok(answer) => answer,
                Err(reason) => return Ok::<_, Stop>(Outcome::Rejected(reason)),
            };
            call.effect_begins();
            Ok(Outcome::completed(format!(
                "hello {}",
                answer["name"].as_str().unwrap_or_default()
            )))
        },
    );
    Tools::new("t", "1")
        .with(greet)
        .build()
        .expect("nothing is wrong with it")
}

#[tokio::test]
async fn an_answer_reaches_the_tool_in_both_eras() {
    for modern in [false, true] {
        let client = with_client(accepts(), server(), modern).await;
        let result = call(&client, "greet", json!({})).await.expect("a result");
        assert_eq!(first_text(&result), "hello Ann", "modern: {modern}");
        assert_eq!(ends(&result), ("completed", "applied"), "modern: {modern}");
    }
}

#[tokio::test]
async fn a_no_is_a_rejection_and_nothing_was_done() {
    for modern in [false, true] {
        let user = User(ElicitResult::new(ElicitationAction::Decline));
        let client = with_client(user, server(), modern).await;
        let result = call(&client, "greet", json!({})).await.expect("a result");
        assert_eq!(ends(&result), ("rejected", "not_applied"), "modern: {modern}");
        assert_eq!(
            first_text(&result),
            "NOT DONE: greet was refused: USER_DECLINED, \"The user was asked and declined.\" Nothing changed.\n\
             The same call gets the same answer while that holds.",
            "modern: {modern}"
        );
    }
}

#[tokio::test]
async fn a_client_that_can_not_ask_is_told_what_is_wanted() {
    for modern in [false, true] {
        let client = over_a_pipe(server(), modern).await;
        let result = call(&client, "greet", json!({})).await.expect("a result");
        assert_eq!(ends(&result), ("rejected", "not_applied"), "modern: {modern}");
        let text = first_text(&result);
        assert!(
            text.contains("INPUT_UNAVAILABLE")
                && text.ends_with("\"What it asks the user: For whom? (name)\"."),
            "{text}"
        );
    }
}

async fn once(
    client: &RunningService<RoleClient, User>,
    params: CallToolRequestParams,
) -> Result<CallToolResponse, rmcp::service::ServiceError> {
    client.call_tool_once(params).await
}

fn answered(round: &InputRequiredResult) -> CallToolRequestParams {
    let mut params = CallToolRequestParams::new("greet");
    params.request_state = round.request_state.clone();
    let answer = json!({ "action": "accept", "content": { "name": "Ann" } });
    params.input_responses = Some([("who".to_owned(), answer)].into());
    params
}

#[tokio::test]
async fn a_sealed_state_holds_for_its_own_call_once() {
    let client = with_client(accepts(), server(), true).await;
    let first = once(&client, CallToolRequestParams::new("greet"))
        .await
        .expect("a round");
    let CallToolResponse::InputRequired(round) = first else {
        panic!("it asks")
    };
    let mut altered = answered(&round);
    altered.request_state = altered
        .request_state
        .map(|state| state.replace(&state[20..22], "__"));
    let error = once(&client, altered)
        .await
        .expect_err("an altered byte")
        .to_string();
    assert!(error.contains("requestState"), "{error}");
    let done = once(&client, answered(&round)).await.expect("a result");
    assert!(matches!(&done, CallToolResponse::Complete(result) if first_text(result) == "hello Ann"));
    let error = once(&client, answered(&round))
        .await
        .expect_err("a second use")
        .to_string();
    assert!(error.contains("requestState"), "{error}");
}

#[tokio::test]
async fn names_beside_the_answers_that_were_asked_for_are_ignored_and_unasked_answers_are_no_consent() {
    let client = with_client(accepts(), server(), true).await;
    let answer = |name: &str| json!({ "action": "accept", "content": { "name": name } });
    // Nobody was asked yet: the question is put all the same.
    let mut unasked = CallToolRequestParams::new("greet");
    unasked.input_responses = Some([("who".to_owned(), answer("Bob"))].into());
    let first = once(&client, unasked).await.expect("a round");
    let CallToolResponse::InputRequired(round) = first else {
        panic!("it asks")
    };
    let mut params = answered(&round);
    let answers = params.input_responses.as_mut().expect("there are some");
    answers.insert("unknown".to_owned(), answer("Eve"));
    let done = once(&client, params).await.expect("a result");
    assert!(matches!(&done, CallToolResponse::Complete(result) if first_text(result) == "hello Ann"));
}
