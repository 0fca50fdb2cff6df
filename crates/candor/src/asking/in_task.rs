//! Asking from inside a running task: through its board, where the questions stand until somebody answers.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{BoxFuture, join_all};
use rmcp::model::InputRequest;
use serde_json::Value;
use tokio::time::Instant;

use super::answer::{Answer, Misfit};
use super::cause::{Cause, Unable};
use super::question::Question;
use super::way::{MOST_TRIES, expired};

/// What a running task shows and is told. Made by whoever runs tasks, one for each task.
pub trait Board: Send + Sync {
    /// Puts a request on the board and waits for its answer for at most `within`; meanwhile the task is
    /// `input_required`. When the time is up the board takes the request off by itself.
    ///
    /// Whoever takes answers in should hold them against the form in the request first, refuse what doesn't fit, and
    /// leave the request where it is.
    fn want<'a>(&'a self, key: &'a str, request: &'a InputRequest, within: Duration) -> BoxFuture<'a, Told>;

    /// Ends when somebody asks that the task be stopped.
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

/// What came of a request on a board.
#[derive(Debug, Clone, PartialEq)]
pub enum Told {
    /// The client's result for the request, raw: for a form `{"action": .., "content": ..}`.
    Answer(Value),
    /// None in time.
    Expired,
    /// The task was told to stop.
    Stopped,
    /// The board can't show it: the task is over, it wants too much already, or its store failed.
    Unable,
}

/// Asks all at once and waits for each until its deadline. Answers in the order of the questions: raw, and read.
pub(super) async fn ask(
    board: &Arc<dyn Board>,
    open: &[(String, Question, Option<Misfit>)],
) -> Vec<Result<(Value, Answer<Value>), Cause>> {
    join_all(
        open.iter()
            .map(|(key, question, last)| one(board, key, question, last.clone())),
    )
    .await
}

async fn one(
    board: &Arc<dyn Board>,
    key: &str,
    question: &Question,
    mut last: Option<Misfit>,
) -> Result<(Value, Answer<Value>), Cause> {
    let deadline = Instant::now() + question.wait();
    for _ in 0..MOST_TRIES {
        let request = question.request(last.as_ref()).map_err(Cause::Faulty)?;
        let left = deadline.saturating_duration_since(Instant::now());
        let raw = match board.want(key, &request, left).await {
            Told::Answer(raw) => raw,
            Told::Expired => return Ok((expired(), Answer::Expired)),
            Told::Stopped => return Err(Cause::Left),
            Told::Unable => return Err(Cause::Unable(Unable::Board)),
        };
        match question.read(&raw) {
            Ok(answer) => return Ok((raw, answer)),
            Err(misfit) => last = Some(misfit),
        }
    }
    Err(Cause::Misfits)
}
