//! A file that is there when all of it is written, and not before.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};

/// A file on its way: it has another name beside its place until it is whole.
pub(crate) struct Draft {
    place: PathBuf,
    beside: PathBuf,
    replace: bool,
    file: BufWriter<File>,
}

impl Draft {
    /// Begins a file for its owner alone (0600).
    ///
    /// # Errors
    /// If the place is taken and must not be replaced, or can't be written.
    pub(crate) fn begin(place: &Path, replace: bool) -> anyhow::Result<Self> {
        if !replace && place.symlink_metadata().is_ok() {
            bail!("{} is there already; --force replaces it", place.display());
        }
        let Some(name) = place.file_name() else {
            bail!("{} is no name of a file", place.display());
        };
        let mut beside = name.to_owned();
        beside.push(format!(".{}.partial", std::process::id()));
        let beside = place.with_file_name(beside);
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let file = options
            .open(&beside)
            .with_context(|| format!("{} can't be written", beside.display()))?;
        Ok(Self {
            place: place.to_owned(),
            beside,
            replace,
            file: BufWriter::new(file),
        })
    }

    /// Puts the file in its place, synced.
    ///
    /// # Errors
    /// If it can't be written, or the place was taken meanwhile. Nothing is left then.
    pub(crate) fn finish(self) -> anyhow::Result<()> {
        let Self {
            place,
            beside,
            replace,
            file,
        } = self;
        let placed = file
            .into_inner()
            .map_err(io::IntoInnerError::into_error)
            .and_then(|file| file.sync_all())
            .and_then(|()| put(&beside, &place, replace))
            .and_then(|()| sync_folder(&place));
        if let Err(error) = placed {
            clear(&beside);
            return Err(error).with_context(|| format!("{} could not be written", place.display()));
        }
        Ok(())
    }

    /// Leaves nothing.
    pub(crate) fn abandon(self) {
        clear(&self.beside);
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

/// A link, unlike a new name, is refused by the system where something is already.
fn put(from: &Path, to: &Path, replace: bool) -> io::Result<()> {
    if replace {
        return fs::rename(from, to);
    }
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from),
        Err(error) if error.kind() == ErrorKind::AlreadyExists => Err(error),
        // A file system without links: only there two programs could still meet.
        Err(_) if to.symlink_metadata().is_err() => fs::rename(from, to),
        Err(error) => Err(error),
    }
}

fn sync_folder(place: &Path) -> io::Result<()> {
    let folder = match place.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    if cfg!(unix) {
        File::open(folder)?.sync_all()?;
    }
    Ok(())
}

/// What can't be taken away is named so that nobody takes it for whole.
fn clear(beside: &Path) {
    let _ = fs::remove_file(beside);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<_> = fs::read_dir(folder)
            .unwrap()
            .map(|file| file.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_there_when_it_is_whole() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("calls.jsonl");
        let mut draft = Draft::begin(&place, false).unwrap();
        draft.write_all(b"one\n").unwrap();
        assert!(!place.exists());
        draft.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"one\n");
        assert_eq!(names(folder.path()), ["calls.jsonl"]);
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            assert_eq!(fs::metadata(&place).unwrap().permissions().mode() & 0o777, 0o600);
        }
    }

    #[test]
    fn what_is_there_is_replaced_only_by_force() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("calls.jsonl");
        let early = Draft::begin(&place, false).unwrap();
        fs::write(&place, "someone's").unwrap();
        early.finish().unwrap_err();
        assert!(Draft::begin(&place, false).is_err());
        assert_eq!(fs::read(&place).unwrap(), b"someone's");
        let mut draft = Draft::begin(&place, true).unwrap();
        draft.write_all(b"new").unwrap();
        draft.finish().unwrap();
        assert_eq!(fs::read(&place).unwrap(), b"new");
        Draft::begin(&place, true).unwrap().abandon();
        assert_eq!(names(folder.path()), ["calls.jsonl"]);
    }
}
