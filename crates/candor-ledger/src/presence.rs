//! Who is alive: each instance holds a lock on a file of its own for as long as its process lives.
//!
//! The system releases the lock when a process ends, however it ends, so nothing has to be guessed from process
//! ids or times. The files are opened close-on-exec (as all of Rust's are): a child does not keep its parent alive.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};
use std::time::Duration;

use uuid::Uuid;

use crate::place::{Identity, owner_only};

/// This instance's own lock.
#[derive(Debug)]
pub(crate) struct Presence {
    path: PathBuf,
    file: File,
}

impl Presence {
    /// Takes the lock of a new instance. `folder` must exist.
    pub(crate) fn begin(folder: &Path, instance: Uuid) -> io::Result<Self> {
        let path = lock_path(folder, instance);
        let mut options = OpenOptions::new();
        options.read(true).write(true).create(true).truncate(false);
        owner_only(&mut options);
        // A sibling that sweeps may take the new file for one left behind, between its making and its locking.
        for _ in 0..50 {
            let file = options.open(&path)?;
            match file.try_lock() {
                Ok(()) if is_at(&file, &path)? => return Ok(Self { path, file }),
                Ok(()) | Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Error(error)) => return Err(error),
            }
        }
        Err(io::Error::new(
            ErrorKind::WouldBlock,
            "the instance's lock file is held by another program",
        ))
    }

    /// Ends it cleanly: the file goes while the lock is still held, so that nobody sees it unlocked.
    pub(crate) fn end(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)?;
        self.file.unlock()
    }
}

/// Whether another instance lives.
#[derive(Debug)]
pub(crate) enum Life {
    Living,
    Gone(Remains),
}

/// What an ended instance left. Its lock is held through this, so that two cleaners do not meet.
#[derive(Debug)]
pub(crate) struct Remains {
    lock: Option<(PathBuf, File)>,
}

impl Remains {
    /// Takes the lock file away.
    pub(crate) fn clear(self) -> io::Result<()> {
        match self.lock {
            None => Ok(()),
            Some((path, _held)) => std::fs::remove_file(path),
        }
    }
}

/// Looks whether `instance` lives, and takes its lock if it does not.
///
/// A lock that can't be looked at counts as living: a call that runs must never be judged as lost.
pub(crate) fn life(folder: &Path, instance: Uuid) -> Life {
    let path = lock_path(folder, instance);
    // A reader that looks at the same moment holds a shared lock for microseconds; only a real owner holds on.
    for _ in 0..3 {
        match File::open(&path) {
            Err(error) if error.kind() == ErrorKind::NotFound => return Life::Gone(Remains { lock: None }),
            Err(_) => return Life::Living,
            Ok(file) => match file.try_lock() {
                Ok(()) => {
                    return Life::Gone(Remains {
                        lock: Some((path, file)),
                    });
                }
                Err(TryLockError::WouldBlock) => std::thread::sleep(Duration::from_millis(1)),
                Err(TryLockError::Error(_)) => return Life::Living,
            },
        }
    }
    Life::Living
}

/// Looks whether `instance` lives, for a reader: leaves everything as it is.
pub(crate) fn lives(folder: &Path, instance: Uuid) -> bool {
    match File::open(lock_path(folder, instance)) {
        Err(error) => error.kind() != ErrorKind::NotFound,
        Ok(file) => file.try_lock_shared().is_err(),
    }
}

/// The instances that have a lock file, alive or not.
pub(crate) fn known(folder: &Path) -> io::Result<Vec<Uuid>> {
    let mut known = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let name = file?.file_name();
        let stem = name.to_str().and_then(|name| name.strip_suffix(".lock"));
        known.extend(stem.and_then(|stem| Uuid::try_parse(stem).ok()));
    }
    Ok(known)
}

fn lock_path(folder: &Path, instance: Uuid) -> PathBuf {
    folder.join(format!("{instance}.lock"))
}

/// Whether `path` still names this file: it may have been taken away before it was locked.
fn is_at(file: &File, path: &Path) -> io::Result<bool> {
    match Identity::at(path) {
        Ok(named) => Ok(named == Identity::of(&file.metadata()?)),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_instance_lives_until_it_ends() {
        let folder = tempfile::tempdir().unwrap();
        let instance = Uuid::now_v7();
        let presence = Presence::begin(folder.path(), instance).unwrap();
        assert!(lives(folder.path(), instance));
        assert!(matches!(life(folder.path(), instance), Life::Living));
        presence.end().unwrap();
        assert!(!lives(folder.path(), instance));
        assert!(matches!(life(folder.path(), instance), Life::Gone(_)));
        assert!(known(folder.path()).unwrap().is_empty());
    }

    #[test]
    fn a_lock_left_behind_is_cleared_once() {
        let folder = tempfile::tempdir().unwrap();
        let instance = Uuid::now_v7();
        drop(Presence::begin(folder.path(), instance).unwrap());
        assert_eq!(known(folder.path()).unwrap(), [instance]);
        let Life::Gone(remains) = life(folder.path(), instance) else {
            panic!("it has no owner")
        };
        remains.clear().unwrap();
        assert!(known(folder.path()).unwrap().is_empty());
    }
}
