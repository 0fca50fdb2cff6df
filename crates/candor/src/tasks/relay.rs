//! Asking the user of a 2025-11-25 client for what a task wants, while the client waits for the task's result.
//!
//! That revision has no `tasks/update`: a server asks by requests of its own, and a client that waits in `tasks/result`
//! is there to hear them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{ClientResult, InputRequest, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use serde_json::{Value, json};
use tokio::time::Instant;

use super::board::Tasks;
use super::extension::Resume;
use super::legacy::RELATED;
use super::state::is_gone;
use super::store::Refused;
use super::task::{State, Task, TaskId};
use crate::principal::Principal;

/// How long a user may take for one answer. A task's own wait may end sooner; then the answer is passed over.
const PATIENCE: Duration = Duration::from_secs(60 * 60);
/// How often one thing is asked for while its answers break their form.
const TIMES: u32 = 3;

/// Waits for the end of a task and asks meanwhile. Gives it back unended where the caller has left.
pub(super) async fn until_ended(
    tasks: &Tasks,
    who: &Principal,
    id: &TaskId,
    context: &RequestContext<RoleServer>,
    resume: Option<&(dyn Fn() -> Resume + Send + Sync)>,
) -> Result<Task, Refused> {
    let mut tried: BTreeMap<String, u32> = BTreeMap::new();
    loop {
        let moved = tasks.moves(who, id);
        let task = tasks.get(who, id).await?;
        if task.status().is_final() || context.ct.is_cancelled() {
            return Ok(task);
        }
        if is_gone(task.expiry(), tasks.now()) {
            return Err(Refused::Absent);
        }
        if let Some((key, request)) = next_question(&task, &tried, context) {
            let times = tried.entry(key.clone()).or_default();
            *times += 1;
            ask(tasks, who, &task, (&key, request), context, resume).await?;
            continue;
        }
        // A task of another process makes no noise here, and time passes silently too: look now and then.
        let until = Instant::now() + tasks.terms().poll;
        tokio::select! {
            () = tasks.wait(moved, until) => {}
            () = context.ct.cancelled() => {}
        }
    }
}

/// What is wanted, can be asked of this client, and was not asked too often.
fn next_question(
    task: &Task,
    tried: &BTreeMap<String, u32>,
    context: &RequestContext<RoleServer>,
) -> Option<(String, InputRequest)> {
    let State::InputRequired(wanted) = &task.state else {
        return None;
    };
    let open = wanted
        .iter()
        .filter(|(key, _)| tried.get(*key).copied().unwrap_or_default() < TIMES);
    let mut questions = open.filter_map(|(key, request)| {
        let request: InputRequest = serde_json::from_value(request.clone()).ok()?;
        can_be_asked(&request, context).then(|| (key.clone(), request))
    });
    questions.next()
}

fn can_be_asked(request: &InputRequest, context: &RequestContext<RoleServer>) -> bool {
    let Some(client) = context.client_capabilities() else {
        return false;
    };
    match request {
        InputRequest::Elicitation(_) => client.elicitation.is_some(),
        InputRequest::CreateMessage(_) => client.sampling.is_some(),
        InputRequest::ListRoots(_) => client.roots.is_some(),
        _ => false,
    }
}

async fn ask(
    tasks: &Tasks,
    who: &Principal,
    task: &Task,
    (key, request): (&str, InputRequest),
    context: &RequestContext<RoleServer>,
    resume: Option<&(dyn Fn() -> Resume + Send + Sync)>,
) -> Result<(), Refused> {
    let moved = tasks.moves(who, &task.id);
    let asked = tokio::select! {
        asked = send(task, request, context) => asked,
        () = not_wanted_any_more(tasks, who, task, key, moved) => return Ok(()),
        () = context.ct.cancelled() => return Ok(()),
    };
    let answer = match asked {
        Ok(answer) => answer,
        Err(error) => {
            tracing::debug!(task = %task.id, %error, "a client could not be asked for what a task wants");
            return Ok(());
        }
    };
    let answered = tasks
        .answer_or_resume(
            who,
            &task.id,
            &BTreeMap::from([(key.to_owned(), answer)]),
            resume.map(|resume| resume()),
        )
        .await;
    match answered {
        Ok(_) | Err(Refused::OutOfTurn(_)) => Ok(()),
        Err(refused @ Refused::Invalid(_)) => {
            tracing::debug!(task = %task.id, %refused, "a client's answer was refused");
            Ok(())
        }
        Err(refused) => Err(refused),
    }
}

async fn send(
    task: &Task,
    request: InputRequest,
    context: &RequestContext<RoleServer>,
) -> Result<Value, ServiceError> {
    let request = match request {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return Err(ServiceError::UnexpectedResponse),
    };
    let mut related = rmcp::model::RequestMetaObject::new();
    related.insert(RELATED.to_owned(), json!({ "taskId": task.id.as_str() }));
    let options = PeerRequestOptions::with_timeout(PATIENCE).with_meta(related);
    let handle = context.peer.send_request_with_option(request, options).await?;
    let answer = match handle.await_response().await? {
        ClientResult::ElicitResult(result) => serde_json::to_value(result),
        ClientResult::CreateMessageResult(result) => serde_json::to_value(result),
        ClientResult::ListRootsResult(result) => serde_json::to_value(result),
        _ => return Err(ServiceError::UnexpectedResponse),
    };
    answer.map_err(|_| ServiceError::UnexpectedResponse)
}

/// Returns when somebody else has answered, or the task wants it no more.
async fn not_wanted_any_more(
    tasks: &Tasks,
    who: &Principal,
    task: &Task,
    key: &str,
    mut moved: Option<tokio::sync::watch::Receiver<u64>>,
) {
    loop {
        let wanted: BTreeSet<String> = match tasks.get(who, &task.id).await {
            Ok(Task {
                state: State::InputRequired(wanted),
                ..
            }) => wanted.into_keys().collect(),
            Ok(_) | Err(_) => BTreeSet::new(),
        };
        if !wanted.contains(key) {
            return;
        }
        tasks
            .wait(moved.take(), Instant::now() + tasks.terms().poll)
            .await;
        moved = tasks.moves(who, &task.id);
    }
}
