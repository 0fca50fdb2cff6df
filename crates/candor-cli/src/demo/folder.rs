//! The demo's files: the ledger and the contract always; what was really received, and the fixtures' truths, only where
//! the user wants to keep them.

use std::fs::{self, DirBuilder, OpenOptions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};

use super::fault::DemoFault;
use super::play::Side;

/// How many names are tried for a fresh folder.
const ATTEMPTS: u32 = 100;

/// Where this run's files are.
#[derive(Debug)]
pub(super) struct Folder {
    path: PathBuf,
    wanted: Wanted,
}

/// What the user wants to find there afterwards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Wanted {
    /// What the page points to: the ledger and the contract.
    Pointers,
    /// Everything.
    Everything,
}

impl Folder {
    /// The folder that the user named, which is made if it is not there; or a fresh one, for this user only, where
    /// temporary files go.
    pub(super) fn open(keep: Option<&Path>) -> Result<Self, DemoFault> {
        let Some(path) = keep else { return Self::fresh() };
        fs::create_dir_all(path).map_err(at(path))?;
        // Absolute: the page's commands must work from anywhere.
        let path = path.canonicalize().map_err(at(path))?;
        if fs::read_dir(&path).map_err(at(&path))?.next().is_some() {
            return Err(DemoFault::FolderInUse { folder: path });
        }
        for part in ["truth", Side::Bare.folder(), Side::Through.folder()] {
            fs::create_dir(path.join(part)).map_err(at(&path))?;
        }
        for side in [Side::Bare, Side::Through] {
            fs::create_dir(path.join("truth").join(side.folder())).map_err(at(&path))?;
        }
        Ok(Self {
            path,
            wanted: Wanted::Everything,
        })
    }

    fn fresh() -> Result<Self, DemoFault> {
        let name = |attempt: u32| match attempt {
            0 => format!("candor-demo-{}", std::process::id()),
            _ => format!("candor-demo-{}-{attempt}", std::process::id()),
        };
        let mut attempt = 0;
        let path = loop {
            let path = std::env::temp_dir().join(name(attempt));
            match DirBuilder::new().mode(0o700).create(&path) {
                Ok(()) => break path,
                // Left by an earlier process with our number.
                Err(fault) if fault.kind() == ErrorKind::AlreadyExists && attempt < ATTEMPTS => attempt += 1,
                Err(fault) => return Err(at(&path)(fault)),
            }
        };
        Ok(Self {
            path,
            wanted: Wanted::Pointers,
        })
    }

    /// The folder itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// The ledger's file.
    pub(super) fn ledger(&self) -> PathBuf {
        self.path.join("ledger.sqlite")
    }

    /// The contract's file.
    pub(super) fn contract(&self) -> PathBuf {
        self.path.join("demo.toml")
    }

    /// Where a fixture is to write what it really did.
    pub(super) fn truth(&self, side: Side, server: &str) -> Option<PathBuf> {
        let file = || {
            self.path
                .join("truth")
                .join(side.folder())
                .join(format!("{server}.jsonl"))
        };
        (self.wanted == Wanted::Everything).then(file)
    }

    /// Writes the contract.
    pub(super) fn write_contract(&self, text: &str) -> Result<(), DemoFault> {
        let path = self.contract();
        fs::write(&path, text).map_err(at(&path))
    }

    /// Keeps what was received, byte for byte, one line each, if that is wanted.
    pub(super) fn keep_received(&self, side: Side, server: &str, lines: &[Vec<u8>]) -> Result<(), DemoFault> {
        if self.wanted != Wanted::Everything {
            return Ok(());
        }
        let path = self.path.join(side.folder()).join(format!("{server}.jsonl"));
        let append = || -> io::Result<()> {
            let mut file = OpenOptions::new().create(true).append(true).open(&path)?;
            for line in lines {
                file.write_all(line)?;
                file.write_all(b"\n")?;
            }
            Ok(())
        };
        append().map_err(at(&path))
    }

    /// Takes a fresh folder away again; what the user named stays, for a look at what went wrong.
    pub(super) fn remove_if_fresh(&self) {
        if self.wanted == Wanted::Pointers {
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}

fn at(path: &Path) -> impl FnOnce(io::Error) -> DemoFault {
    let path = path.to_owned();
    |source| DemoFault::File { path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_with_files_is_left_alone_and_an_empty_one_is_taken() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("mine"), "x").unwrap();
        assert!(matches!(
            Folder::open(Some(folder.path())),
            Err(DemoFault::FolderInUse { .. })
        ));
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        assert!(Folder::open(Some(&folder.path().join("new/one"))).is_ok());
    }

    #[test]
    fn what_is_kept_is_what_came() {
        let folder = tempfile::tempdir().unwrap();
        let kept = Folder::open(Some(folder.path())).unwrap();
        kept.keep_received(Side::Bare, "rooms", &[b"{ \"a\":1 }".to_vec()])
            .unwrap();
        kept.keep_received(Side::Bare, "rooms", &[b"\xff".to_vec()])
            .unwrap();
        assert_eq!(
            fs::read(folder.path().join("bare/rooms.jsonl")).unwrap(),
            b"{ \"a\":1 }\n\xff\n"
        );
    }

    #[test]
    fn a_fresh_folder_holds_no_truth_and_goes_when_told() {
        let fresh = Folder::open(None).unwrap();
        assert_eq!(fresh.truth(Side::Bare, "rooms"), None);
        fresh
            .keep_received(Side::Bare, "rooms", &[b"{}".to_vec()])
            .unwrap();
        assert_eq!(fs::read_dir(fresh.path()).unwrap().count(), 0);
        fresh.remove_if_fresh();
        assert!(!fresh.path().exists());
    }
}
