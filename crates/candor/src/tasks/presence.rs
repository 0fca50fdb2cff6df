//! Which process works on a task: each holds a lock on a file of its own beside the store for as long as it lives. The
//! system lets go of it when the process ends, however it ends.

use std::fs::{File, OpenOptions, TryLockError};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// This process's own lock, held until the value is gone.
#[derive(Debug)]
pub(super) struct Presence {
    /// The process's name in the store.
    pub(super) name: String,
    _lock: File,
}

impl Presence {
    /// Takes the lock of a process with this name.
    pub(super) fn begin(store: &Path, name: String) -> io::Result<Self> {
        let path = lock_path(store, &name);
        // Another process that looks for dead ones may hold the new file's lock for a moment.
        for _ in 0..50 {
            let lock = owner_only(
                OpenOptions::new()
                    .read(true)
                    .write(true)
                    .create(true)
                    .truncate(false),
            )
            .open(&path)?;
            match lock.try_lock() {
                Ok(()) if path.exists() => return Ok(Self { name, _lock: lock }),
                Ok(()) | Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(
            io::ErrorKind::WouldBlock,
            "the lock of this process is held by another",
        ))
    }
}

/// Has the process with this name ended? Its lock file is taken away then. One that can't be looked at counts as living:
/// a task that runs must never be called lost.
pub(super) fn has_ended(store: &Path, name: &str) -> bool {
    let path = lock_path(store, name);
    match OpenOptions::new().read(true).write(true).open(&path) {
        Err(error) => error.kind() == io::ErrorKind::NotFound,
        Ok(lock) => {
            let ended = lock.try_lock().is_ok();
            if ended {
                // Another that looks at the same moment finds no file, which says the same.
                let _gone = std::fs::remove_file(&path);
            }
            ended
        }
    }
}

/// Only the owner of the process may read what is kept: arguments, answers, results.
pub(super) fn owner_only(options: &mut OpenOptions) -> &mut OpenOptions {
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(options, 0o600);
    options
}

fn lock_path(store: &Path, name: &str) -> PathBuf {
    let mut path = store.as_os_str().to_owned();
    path.push(format!("-{name}.lock"));
    PathBuf::from(path)
}
