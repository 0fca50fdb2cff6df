//! A law that an input broke.

/// Which law, and what was seen instead.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("broken: {law}; seen: {seen}")]
pub struct Broken {
    /// What should hold for every input.
    pub law: &'static str,
    /// What was seen on this one.
    pub seen: String,
}

/// Fails with `law` unless it was kept. What was seen is only put in words then.
pub(crate) fn law(law: &'static str, kept: bool, seen: impl FnOnce() -> String) -> Result<(), Broken> {
    if kept {
        Ok(())
    } else {
        Err(Broken { law, seen: seen() })
    }
}
