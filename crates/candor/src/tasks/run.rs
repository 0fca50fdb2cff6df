//! One task while its tool runs: a guard around it, and its end written down.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use uuid::Uuid;

use super::board::Tasks;
use super::desk::{Desk, InTask, Running};
use super::lost;
use super::store::Refused;
use super::task::{End, State, Step};

impl Tasks {
    pub(super) fn run<F, Fut>(&self, running: Arc<Running>, run: F)
    where
        F: FnOnce(InTask) -> Fut + Send + 'static,
        Fut: Future<Output = End> + Send + 'static,
    {
        let tasks = self.clone();
        tokio::spawn(async move {
            let inside = InTask::new(tasks.clone(), Arc::clone(&running));
            // The future is made inside the guard too: a panic before its first await is one as well.
            let ran = AssertUnwindSafe(async move { run(inside).await })
                .catch_unwind()
                .await;
            let (end, message) = match ran {
                Ok(end) => tasks.bounded(&running, end),
                Err(_masked) => {
                    let correlation = Uuid::now_v7();
                    tracing::error!(%correlation, tool = %running.tool, task = %running.id, "a tool panicked in its task");
                    let (end, message) = lost::panicked(&running.tool, running.operation, correlation);
                    (end, Some(message))
                }
            };
            tasks.finish(&running, end, message).await;
        });
    }

    fn bounded(&self, running: &Running, end: End) -> (End, Option<String>) {
        let most = self.0.terms.largest_result;
        let bytes = end
            .held()
            .and_then(|held| serde_json::to_vec(held).ok())
            .map_or(0, |text| text.len());
        if bytes <= most {
            return (end, None);
        }
        let (end, message) = lost::too_large(&running.tool, running.operation, bytes, most);
        (end, Some(message))
    }

    async fn finish(&self, running: &Running, end: End, message: Option<String>) {
        let mut desk = running.desk.lock().await;
        desk.close();
        desk.unsaved = Some(Step {
            message,
            ..Step::to(State::Ended(end))
        });
        self.save(running, &mut desk).await;
    }

    /// An end that could not be written when it came is written when somebody asks.
    pub(super) async fn save_again(&self, running: &Running) {
        let mut desk = running.desk.lock().await;
        if desk.unsaved.is_some() {
            self.save(running, &mut desk).await;
        }
    }

    async fn save(&self, running: &Running, desk: &mut Desk) {
        let Some(step) = desk.unsaved.clone() else { return };
        match self
            .0
            .store
            .change(&running.id, &running.owner, step, self.now())
            .await
        {
            Err(Refused::Store(fault)) => {
                tracing::error!(task = %running.id, %fault, "a task's end could not be written; tried again when asked for");
                return;
            }
            Err(refused) => {
                tracing::warn!(task = %running.id, tool = %running.tool, %refused, "a tool ended after its task had");
            }
            Ok(_) => {}
        }
        desk.unsaved = None;
        self.leave_place(&running.id);
        running.tell();
    }
}
