//! Whether the loop looks on for a moment before it goes to sleep.
//!
//! Who sleeps must be woken by another core, and goes on with cold caches: to a server that answers within microseconds that
//! costs more than all the rest of the way through Candor. So where the last waits were that short, the next one is spent
//! awake, up to a limit. What is spent in vain is bounded by that, and becomes rarer each time: with slow servers, slow hosts
//! and all of them on one core it is soon next to nothing.

use std::convert::Infallible;
use std::time::{Duration, Instant};

use tokio::task::yield_now;

/// The longest wait that is spent awake.
const LIMIT: Duration = Duration::from_micros(50);
/// A wait that was slept through counts as short up to this: it holds the waking of the other side, and our own.
const SLEPT: Duration = Duration::from_micros(100);
/// So many waits in a row must have been short before one is spent awake,
const LEAST_SHORT: u32 = 4;
/// and at most so many, after one in vain and another.
const MOST_SHORT: u32 = 4096;

/// What is known of the waits for one side.
#[derive(Debug)]
pub(super) struct Linger {
    /// Short waits in a row.
    short: u32,
    /// How many there must be.
    needed: u32,
}

impl Default for Linger {
    fn default() -> Self {
        Self {
            short: 0,
            needed: LEAST_SHORT,
        }
    }
}

impl Linger {
    /// Is the next wait to be spent awake?
    pub(super) fn is_worth_it(&self) -> bool {
        self.short >= self.needed
    }

    /// A wait is over; `awake` where it was to be spent so.
    pub(super) fn note(&mut self, waited: Duration, awake: bool) {
        if waited <= if awake { LIMIT } else { SLEPT } {
            self.short = self.short.saturating_add(1);
            if awake {
                self.needed = (self.needed / 2).max(LEAST_SHORT);
            }
        } else {
            self.short = 0;
            if awake {
                self.needed = (self.needed * 2).min(MOST_SHORT);
            }
        }
    }
}

/// Keeps the loop awake up to the limit, and then leaves it to sleep: it never ends by itself.
pub(super) async fn stay_awake() -> Infallible {
    let began = Instant::now();
    // Whatever else is ready has its turn, and the pipes are looked at, each time.
    while began.elapsed() < LIMIT {
        yield_now().await;
    }
    std::future::pending().await
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHORT: Duration = Duration::from_micros(9);
    const LONG: Duration = Duration::from_millis(2);

    /// Plays these waits, and counts those that were spent awake.
    fn awake(linger: &mut Linger, waits: impl Iterator<Item = Duration>) -> usize {
        waits
            .filter(|wait| {
                let awake = linger.is_worth_it();
                linger.note(*wait, awake);
                awake
            })
            .count()
    }

    #[test]
    fn waits_that_were_short_are_spent_awake() {
        let waits = std::iter::repeat_n(SHORT, 100);
        assert_eq!(awake(&mut Linger::default(), waits), 96);
    }

    #[test]
    fn waits_that_were_long_are_not() {
        let mut linger = Linger::default();
        assert_eq!(awake(&mut linger, std::iter::repeat_n(LONG, 100)), 0);
        let mixed = (0..100).map(|at| if at % 4 == 3 { LONG } else { SHORT });
        assert_eq!(awake(&mut linger, mixed), 0);
    }

    #[test]
    fn what_is_in_vain_becomes_rare() {
        // On one core the other side can't go on before this one sleeps: awake waits are long, all others short.
        let mut linger = Linger::default();
        let mut vain = 0;
        for _ in 0..100_000 {
            let awake = linger.is_worth_it();
            vain += u32::from(awake);
            linger.note(if awake { LONG } else { SHORT }, awake);
        }
        assert!((1..50).contains(&vain), "{vain}");
        // And it comes back where it is worth it again.
        assert!(awake(&mut linger, std::iter::repeat_n(SHORT, 10_000)) > 5_000);
    }
}
