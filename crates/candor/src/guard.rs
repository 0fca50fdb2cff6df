//! Where a panic stops. rmcp runs each request in a task of its own: a panic there ends the task and nobody is
//! answered. Behind a guard it becomes an answer without a word of the panic's message, which may hold secrets; what
//! goes out is a correlation id.

use std::any::Any;
use std::panic::{AssertUnwindSafe, PanicHookInfo, catch_unwind};
use std::sync::Once;

use futures_util::FutureExt;
use rmcp::ErrorData;
use serde_json::json;
use uuid::Uuid;

tokio::task_local! {
    /// The id that the answer to a panic will carry, so that the hook of [`quiet_panics`] can log the same.
    static CORRELATION: Uuid;
}

/// What ran panicked; nothing more of it is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Panicked {
    /// Found in the log beside the place, and in the answer.
    pub(crate) correlation: Uuid,
}

/// Runs a future behind a guard. It is polled and dropped inside, so a panic before the first `.await` counts too if
/// the caller makes the future inside an `async` block.
pub(crate) async fn guarded<T>(correlation: Uuid, future: impl Future<Output = T>) -> Result<T, Panicked> {
    let caught = CORRELATION
        .scope(correlation, AssertUnwindSafe(future).catch_unwind())
        .await;
    caught.map_err(|message| panicked(correlation, message))
}

/// A request other than a tool's: a panic becomes a masked internal error (-32603).
pub(crate) async fn answered<T>(request: impl Future<Output = Result<T, ErrorData>>) -> Result<T, ErrorData> {
    match guarded(Uuid::now_v7(), request).await {
        Ok(answer) => answer,
        Err(panicked) => Err(masked(panicked.correlation)),
    }
}

/// A notification: nobody waits for an answer.
pub(crate) async fn heard(notification: impl Future<Output = ()>) {
    // The panic is logged; there is no one to tell.
    let _ = guarded(Uuid::now_v7(), notification).await;
}

/// A plain function: `None` where it panicked.
pub(crate) fn computed<T>(function: impl FnOnce() -> T) -> Option<T> {
    computed_in(Uuid::now_v7(), function).ok()
}

/// A plain function, in a call whose id is known.
pub(crate) fn computed_in<T>(correlation: Uuid, function: impl FnOnce() -> T) -> Result<T, Panicked> {
    let caught = CORRELATION.sync_scope(correlation, || catch_unwind(AssertUnwindSafe(function)));
    caught.map_err(|message| panicked(correlation, message))
}

/// The masked answer to a fault that nobody foresaw, as a protocol error: its id, and nothing of what it was.
pub(crate) fn masked(correlation: Uuid) -> ErrorData {
    ErrorData::internal_error(
        format!("An internal fault; correlation id {correlation}."),
        Some(json!({ "candor/correlationId": correlation.to_string() })),
    )
}

/// The id under which a fault of what runs here is told, where it runs behind a guard.
pub(crate) fn correlation() -> Option<Uuid> {
    CORRELATION.try_with(|id| *id).ok()
}

fn panicked(correlation: Uuid, message: Box<dyn Any + Send>) -> Panicked {
    // `panic_any` takes any value, and one whose own drop panics would get past the guard.
    if let Err(again) = catch_unwind(AssertUnwindSafe(|| drop(message))) {
        std::mem::forget(again);
    }
    tracing::error!(%correlation, "a handler panicked");
    Panicked { correlation }
}

/// Keeps the messages of panics that Candor catches off stderr, where hosts log them: they may hold what the code had
/// at hand, connection strings and other people's data. The log gets the place and the correlation id instead (level
/// `ERROR`, target `candor`).
///
/// Panics elsewhere (in `main`, in a task or thread that a tool started by itself) go to the hook that was there
/// before. Call it once, at the start of `main`; later calls change nothing.
pub fn quiet_panics() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |info| match CORRELATION.try_with(|id| *id) {
            Ok(correlation) => log_place(correlation, info),
            Err(_) => before(info),
        }));
    });
}

fn log_place(correlation: Uuid, info: &PanicHookInfo<'_>) {
    let place = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(%correlation, %place, "a panic was caught; its message is left out");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_panic_becomes_an_answer_that_tells_nothing_of_it() {
        let error = answered(async {
            if true {
                panic!("postgres://user:secret@db/x");
            }
            Ok(())
        })
        .await
        .expect_err("it panicked");
        assert_eq!(error.code.0, -32603);
        let text = serde_json::to_string(&error).expect("it is JSON");
        assert!(!text.contains("secret"), "{text}");
        assert!(text.contains("correlation id"), "{text}");
    }

    #[tokio::test]
    async fn what_does_not_panic_passes() {
        assert_eq!(answered(async { Ok(7) }).await.expect("it answers"), 7);
        assert_eq!(computed(|| 7), Some(7));
        assert_eq!(computed(|| -> u8 { panic!("x") }), None);
    }
}
