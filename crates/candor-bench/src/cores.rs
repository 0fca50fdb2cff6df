//! On which cores this process, and every one that it starts, may run.

#[cfg(target_os = "linux")]
use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// The cores that this process was given.
pub(crate) struct Cores {
    #[cfg(target_os = "linux")]
    given: CpuSet,
}

#[cfg(target_os = "linux")]
impl Cores {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self {
            given: sched_getaffinity(None)?,
        })
    }

    /// Keeps to one core, or to all that were given. False where the system has no way to.
    pub(crate) fn keep(&self, one: bool) -> anyhow::Result<bool> {
        let mut cores = self.given;
        if one && let Some(first) = (0..CpuSet::MAX_CPU).find(|core| cores.is_set(*core)) {
            cores = CpuSet::new();
            cores.set(first);
        }
        sched_setaffinity(None, &cores)?;
        Ok(true)
    }
}

#[cfg(not(target_os = "linux"))]
impl Cores {
    pub(crate) fn now() -> anyhow::Result<Self> {
        Ok(Self {})
    }

    pub(crate) fn keep(&self, one: bool) -> anyhow::Result<bool> {
        Ok(!one)
    }
}
