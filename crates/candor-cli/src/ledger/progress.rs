//! How far a long reading is: one line on a terminal, and only where it takes more than two seconds.

use std::io::{IsTerminal, Write, stderr};
use std::time::{Duration, Instant};

const SILENT: Duration = Duration::from_secs(2);
const BETWEEN: Duration = Duration::from_millis(200);

/// A count that is shown from time to time.
pub(crate) struct Progress {
    /// When to show it next; `None` where nobody would see it.
    next: Option<Instant>,
    records: u64,
    shown: bool,
}

impl Progress {
    pub(crate) fn new() -> Self {
        Self {
            next: stderr().is_terminal().then(|| Instant::now() + SILENT),
            records: 0,
            shown: false,
        }
    }

    /// One more record was read.
    pub(crate) fn step(&mut self) {
        self.records += 1;
        // The clock is not looked at for every record.
        if !self.records.is_multiple_of(256) {
            return;
        }
        if let Some(next) = self.next
            && Instant::now() >= next
        {
            self.next = Some(Instant::now() + BETWEEN);
            self.shown = true;
            // Nothing depends on whether this can be written.
            let _ = write!(stderr(), "\r{} records read", self.records);
        }
    }

    /// Takes the line away.
    pub(crate) fn end(&self) {
        if self.shown {
            let _ = write!(stderr(), "\r\u{1b}[K");
        }
    }
}
