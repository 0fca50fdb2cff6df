//! On which cores this process, and every one that it starts, may run.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this process was given.
pub(crate) struct Cores {
    #[cfg(target_os = "linux")]
    given: CpuSet,
}

/// Which of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Keep {
    /// All that were given.
    All,
    /// The first alone.
    First,
    /// The last alone.
    Last,
}

#[cfg(target_os = "linux")]
impl Cores {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self {
            given: sched_getaffinity(None)?,
        })
    }

    /// Keeps to these cores. False where the system has no way to, or only one.
    pub(crate) fn keep(&self, which: Keep) -> anyhow::Result<bool> {
        let mut given = (0..CpuSet::MAX_CPU).filter(|core| self.given.is_set(*core));
        let one = match which {
            Keep::All => None,
            Keep::First => given.next(),
            Keep::Last => given.next_back(),
        };
        let mut cores = self.given;
        if let Some(one) = one {
            cores = CpuSet::new();
            cores.set(one);
        }
        sched_setaffinity(None, &cores)?;
        Ok(self.given.count() > 1)
    }
}

#[cfg(not(target_os = "linux"))]
impl Cores {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self {})
    }

    pub(crate) fn keep(&self, which: Keep) -> anyhow::Result<bool> {
        Ok(which == Keep::All)
    }
}
