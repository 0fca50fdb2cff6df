//! Asking a legacy client: a request of the server's own inside the call, which waits for it.

use std::time::Duration;

use rmcp::RoleServer;
use rmcp::model::{CancelledNotificationParam, ErrorCode, InputRequest, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestContext, ServiceError};
use serde_json::Value;
use tokio::time::Instant;

use super::answer::Answer;
use super::cause::{Cause, Unable};
use super::offers::Offers;
use super::question::{Means, Question};
use super::way::{MOST_TRIES, expired};

/// What a client answers where the user refused a sampling request (specification, `client/sampling`).
const REFUSED: ErrorCode = ErrorCode(-1);

/// Asks and waits until the question's own deadline, which is the only one; rmcp's are overridden. An answer that doesn't
/// fit is asked for again, within the same deadline.
pub(super) async fn ask(
    context: &RequestContext<RoleServer>,
    offers: &Offers,
    question: &Question,
) -> Result<(Value, Answer<Value>), Cause> {
    let deadline = Instant::now() + question.wait();
    let mut last = None;
    for _ in 0..MOST_TRIES {
        let Some(request) = offers.request(question, last.as_ref()).map_err(Cause::Faulty)? else {
            return Err(Cause::Unable(Unable::Shape));
        };
        let left = deadline.saturating_duration_since(Instant::now());
        let raw = match once(context, request, left).await? {
            Reply::Result(raw) => raw,
            Reply::Expired => return Ok((expired(), Answer::Expired)),
            Reply::Error(code) if code == REFUSED && question.means() == Means::Sampling => {
                return Ok((serde_json::json!({ "action": "decline" }), Answer::Declined));
            }
            Reply::Error(code) => return Err(Cause::Unable(Unable::Refused { code: code.0 })),
        };
        match question.read(&raw) {
            Ok(answer) => return Ok((raw, answer)),
            Err(misfit) => last = Some(misfit),
        }
    }
    Err(Cause::Misfits)
}

/// What came of one request.
enum Reply {
    Result(Value),
    Error(ErrorCode),
    Expired,
}

async fn once(
    context: &RequestContext<RoleServer>,
    request: InputRequest,
    left: Duration,
) -> Result<Reply, Cause> {
    let request = match request {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return Err(Cause::Unable(Unable::Shape)),
    };
    let options = PeerRequestOptions::with_timeout(left);
    let handle = context
        .peer
        .send_request_with_option(request, options)
        .await
        .map_err(|_| Cause::Left)?;
    let id = handle.id.clone();
    let told = tokio::select! {
        told = handle.await_response() => told,
        () = context.ct.cancelled() => {
            // The caller gave up: the question must not stay on the user's screen. Nobody is left to tell of a failure.
            let reason = Some("the call was cancelled".to_owned());
            let _ = context.peer.notify_cancelled(CancelledNotificationParam::new(Some(id), reason)).await;
            return Err(Cause::Left);
        }
    };
    match told {
        Ok(result) => Ok(Reply::Result(serde_json::to_value(&result).unwrap_or_default())),
        Err(ServiceError::Timeout { .. }) => Ok(Reply::Expired),
        Err(ServiceError::McpError(error)) => Ok(Reply::Error(error.code)),
        Err(ServiceError::UnexpectedResponse) => Ok(Reply::Result(Value::Null)),
        Err(_) => Err(Cause::Left),
    }
}
