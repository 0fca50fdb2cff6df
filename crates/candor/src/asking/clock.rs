//! Two clocks: the tool's own time, and the time in which a person thinks. Only the first counts against a limit.

use std::time::Duration;

use super::way::Asking;

/// The work took longer than it may, without the time in which users were asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("it took longer than {} s, without the time in which the user was asked", .limit.as_secs_f64())]
pub struct OutOfTime {
    /// How long it may take.
    pub limit: Duration,
}

/// Runs `work` for at most `limit` of time in which nobody is asked. Questions at the same time pause the clock once.
/// Exact to a twentieth of the limit, at most a second, for each question.
pub(crate) async fn limited<F: Future>(
    asking: &Asking,
    limit: Duration,
    work: F,
) -> Result<F::Output, OutOfTime> {
    let step = (limit / 20).clamp(Duration::from_millis(1), Duration::from_secs(1));
    let mut used = Duration::ZERO;
    tokio::pin!(work);
    while used < limit {
        tokio::select! {
            biased;
            done = &mut work => return Ok(done),
            () = tokio::time::sleep(step) => {
                if !asking.is_waiting() {
                    used += step;
                }
            }
        }
    }
    Err(OutOfTime { limit })
}
