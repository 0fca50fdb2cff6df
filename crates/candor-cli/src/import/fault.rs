//! What can be wrong with a host's config, and with changing it.

use std::io;
use std::path::PathBuf;

/// Why a config could not be read or changed. It was left as it is, whatever the reason.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileFault {
    /// The file is not there, or may not be read.
    #[error("{place} can't be read ({source}); check the path, its owner and mode")]
    Unreadable { place: String, source: io::Error },
    /// Not a regular file.
    #[error("{place} is no regular file; give the config itself")]
    NotAFile { place: String },
    /// More than any config has.
    #[error(
        "{place} has {size} bytes, more than a config is expected to have ({limit}); it was left as it is"
    )]
    TooLarge { place: String, size: u64, limit: u64 },
    /// Not UTF-8.
    #[error(
        "{place} is not UTF-8 text: byte {at} begins no character; save it as UTF-8. It was left as it is"
    )]
    NotText { place: String, at: usize },
    /// A format that is not read.
    #[error(
        "{place} is YAML, which is not changed here; put `candor` in as the command, and `--` and the old command \
         before the args, by hand"
    )]
    Yaml { place: String },
    /// Not JSON (with comments) or TOML.
    #[error("{place}:{line}:{column}: {problem}; correct it there. The file was left as it is")]
    Malformed {
        place: String,
        /// 1-based.
        line: usize,
        /// 1-based, in characters.
        column: usize,
        /// What is there and what was expected.
        problem: String,
    },
    /// Marked as read-only.
    #[error("{place} is read-only and was left as it is; make it writable (chmod u+w) if it may be changed")]
    ReadOnly { place: String },
    /// Somebody else wrote the file since it was read.
    #[error("{place} was changed by another program while it was edited; nothing was written. Run it again")]
    Changed { place: String },
    /// The system refused.
    #[error("{what} {place} could not be written ({source}); the config was left as it is")]
    NotWritten {
        what: &'static str,
        place: PathBuf,
        source: io::Error,
    },
    /// The new file would belong to somebody else.
    #[error("{place} belongs to another user and can't be kept so ({source}); run this as its owner")]
    NotOurs { place: String, source: io::Error },
    /// The edited text does not read as it was meant. A defect of Candor, told as one.
    #[error(
        "the change of {place} would not read as it was meant, so nothing was written. This is a fault of Candor: \
         edit the file by hand, and report its form"
    )]
    Misread { place: String },
}
