//! Asking from inside a running task: through its board, where the questions stand until somebody answers.

use std::sync::Arc;

use futures_util::future::{BoxFuture, join_all};
use serde_json::Value;

use super::answer::{Answer, Misfit};
use super::question::Question;
use super::way::{Cause, MOST_TRIES};

/// What a running task shows and is told. Made by whoever runs tasks, one for each task.
pub trait Board: Send + Sync {
    /// Puts a question on the board: the task is `input_required` until it is answered. Ends with the raw answer
    /// (for a form `{"action": .., "content": ..}`), or with `None` where the task is stopped. `last` says what was wrong
    /// with the last answer.
    ///
    /// Whoever takes answers in should look at them first with [`Question::read`] and refuse what doesn't fit, leaving the
    /// question where it is.
    fn want<'a>(
        &'a self,
        key: &'a str,
        question: &'a Question,
        last: Option<&'a Misfit>,
    ) -> BoxFuture<'a, Option<Value>>;

    /// Takes a question off the board: its time is up. With none left, the task is `working` again.
    fn withdraw(&self, key: &str);

    /// Ends when somebody asks that the task be stopped.
    fn stopped(&self) -> BoxFuture<'_, ()>;
}

/// Asks all at once and waits for each until its deadline. Answers in the order of the questions, as (key, raw, read).
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
    let deadline = tokio::time::Instant::now() + question.wait();
    for _ in 0..MOST_TRIES {
        let wanted = board.want(key, question, last.as_ref());
        match tokio::time::timeout_at(deadline, wanted).await {
            Err(_) => {
                board.withdraw(key);
                return Ok((super::way::expired(), Answer::Expired));
            }
            Ok(None) => return Err(Cause::Left),
            Ok(Some(raw)) => match question.read(&raw) {
                Ok(answer) => return Ok((raw, answer)),
                Err(misfit) => last = Some(misfit),
            },
        }
    }
    Err(Cause::Misfits)
}
