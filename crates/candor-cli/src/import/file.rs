//! One config on disk: read whole, kept beside before a change, written whole or not at all.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt, chown};
use std::path::{Path, PathBuf};
use std::process;

use candor_gateway::clock;
use sha2::{Digest, Sha256};

use super::document::{Document, Syntax, line_and_column};
use super::fault::FileFault;
use crate::times;

/// The most bytes a config may have.
const LIMIT: u64 = 16 * 1024 * 1024;

/// What follows the config's name in a backup's.
const BACKUP: &str = ".candor-backup-";

/// How many backups of one millisecond are told apart.
const MOST_AT_ONCE: u32 = 100;

/// A config as it was read.
#[derive(Debug)]
pub(crate) struct ConfigFile {
    /// How its place is told.
    pub(crate) told: String,
    /// The file itself, links followed.
    real: PathBuf,
    /// What it says.
    pub(crate) document: Document,
}

/// What was in a config before Candor changed it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Backup {
    /// Where it is kept.
    pub(super) path: PathBuf,
    /// The beginning of the digest of what Candor then wrote, in hex.
    written: String,
}

impl ConfigFile {
    /// Reads a config.
    pub(crate) fn read(path: &Path, told: String) -> Result<Self, FileFault> {
        let unreadable = |source| FileFault::Unreadable {
            place: told.clone(),
            source,
        };
        let real = path.canonicalize().map_err(unreadable)?;
        let about = fs::metadata(&real).map_err(unreadable)?;
        if !about.is_file() {
            return Err(FileFault::NotAFile { place: told });
        }
        let syntax = match path.extension().and_then(|extension| extension.to_str()) {
            Some("toml") => Syntax::Toml,
            Some("yaml" | "yml") => return Err(FileFault::Yaml { place: told }),
            _ => Syntax::Json,
        };
        let bytes = bytes(&real).map_err(unreadable)?;
        if bytes.len() as u64 > LIMIT {
            return Err(FileFault::TooLarge {
                place: told,
                size: about.len(),
                limit: LIMIT,
            });
        }
        let text = String::from_utf8(bytes).map_err(|fault| FileFault::NotText {
            place: told.clone(),
            at: fault.utf8_error().valid_up_to(),
        })?;
        let document = Document::parse(text.clone(), syntax).map_err(|fault| {
            let (line, column) = line_and_column(&text, fault.at);
            FileFault::Malformed {
                place: told.clone(),
                line,
                column,
                problem: fault.problem,
            }
        })?;
        Ok(Self { told, real, document })
    }

    /// The document that the file would be with another text.
    pub(super) fn with_text(&self, text: String) -> Result<Document, FileFault> {
        Document::parse(text, self.document.syntax).map_err(|_| FileFault::Misread {
            place: self.told.clone(),
        })
    }

    /// Puts another text in the place of the one that was read, and keeps that beside it.
    pub(super) fn change(&self, text: &str) -> Result<PathBuf, FileFault> {
        let about = self.writable()?;
        let backup = self.keep(text, &about)?;
        self.replace(text, &about).inspect_err(|_| {
            // Without a change there is nothing to go back to.
            let _ = fs::remove_file(&backup);
        })?;
        Ok(backup)
    }

    /// Puts another text in the place of the one that was read.
    pub(super) fn put(&self, text: &str) -> Result<(), FileFault> {
        self.replace(text, &self.writable()?)
    }

    fn writable(&self) -> Result<fs::Metadata, FileFault> {
        let about = fs::metadata(&self.real).map_err(|source| FileFault::Unreadable {
            place: self.told.clone(),
            source,
        })?;
        if about.permissions().readonly() {
            return Err(FileFault::ReadOnly {
                place: self.told.clone(),
            });
        }
        Ok(about)
    }

    fn keep(&self, written: &str, about: &fs::Metadata) -> Result<PathBuf, FileFault> {
        let stamp = stamp();
        for count in 0..MOST_AT_ONCE {
            let again = if count == 0 {
                String::new()
            } else {
                format!(".{count}")
            };
            let path = self.beside(&format!("{BACKUP}{stamp}{again}-{}", digest(written)));
            match new_file(&path, about, self.document.text.as_bytes()) {
                Ok(()) => return Ok(path),
                Err(fault) if fault.kind() == io::ErrorKind::AlreadyExists => {}
                Err(source) => {
                    let _ = fs::remove_file(&path);
                    return Err(FileFault::NotWritten {
                        what: "the backup",
                        place: path,
                        source,
                    });
                }
            }
        }
        Err(FileFault::NotWritten {
            what: "the backup",
            place: self.beside(BACKUP),
            source: io::ErrorKind::AlreadyExists.into(),
        })
    }

    /// Writes a new file, and moves it to the place of the old one if that is still what was read.
    fn replace(&self, text: &str, about: &fs::Metadata) -> Result<(), FileFault> {
        let fresh = self.beside(&format!(".candor-new-{}", process::id()));
        let fault = |source| FileFault::NotWritten {
            what: "the new file",
            place: fresh.clone(),
            source,
        };
        // Of a run that was killed, under the same number: nobody else's.
        let _ = fs::remove_file(&fresh);
        let moved = new_file(&fresh, about, text.as_bytes())
            .map_err(fault)
            .and_then(|()| self.own(&fresh, about))
            .and_then(|()| match bytes(&self.real) {
                Ok(now) if now == self.document.text.as_bytes() => Ok(()),
                _ => Err(FileFault::Changed {
                    place: self.told.clone(),
                }),
            })
            .and_then(|()| fs::rename(&fresh, &self.real).map_err(fault));
        if moved.is_err() {
            let _ = fs::remove_file(&fresh);
            return moved;
        }
        // The move itself is on disk once its folder is; where that can't be asked for, it comes a little later.
        if let Some(folder) = self.real.parent().and_then(|folder| File::open(folder).ok()) {
            let _ = folder.sync_all();
        }
        Ok(())
    }

    /// Gives a new file the old one's owner.
    fn own(&self, fresh: &Path, about: &fs::Metadata) -> Result<(), FileFault> {
        let fault = |source| FileFault::NotOurs {
            place: self.told.clone(),
            source,
        };
        let now = fs::metadata(fresh).map_err(fault)?;
        if (now.uid(), now.gid()) == (about.uid(), about.gid()) {
            return Ok(());
        }
        chown(fresh, Some(about.uid()), Some(about.gid())).map_err(fault)
    }

    fn beside(&self, ending: &str) -> PathBuf {
        let mut name = self.real.file_name().unwrap_or_default().to_owned();
        name.push(ending);
        self.real.with_file_name(name)
    }

    /// The backups of this file, the newest first.
    pub(super) fn backups(&self) -> Vec<Backup> {
        let start = self.beside(BACKUP);
        let folder = self.real.parent().map(fs::read_dir);
        let entries = folder.into_iter().flatten().flatten().flatten();
        let mut backups: Vec<Backup> = entries
            .map(|entry| entry.path())
            .filter_map(|path| {
                let (start, name) = (start.file_name()?.to_str()?, path.file_name()?.to_str()?);
                let (_, written) = name.strip_prefix(start)?.rsplit_once('-')?;
                let written = written.to_owned();
                Some(Backup { path, written })
            })
            .collect();
        backups.sort_by(|a, b| b.path.cmp(&a.path));
        backups
    }
}

impl Backup {
    /// Was this what Candor wrote when it kept the backup?
    pub(super) fn was_followed_by(&self, text: &str) -> bool {
        self.written == digest(text)
    }

    /// What it keeps.
    pub(super) fn text(&self) -> Option<String> {
        String::from_utf8(bytes(&self.path).ok()?).ok()
    }
}

/// A moment of now that sorts as text: `20261130T134612.345Z`.
fn stamp() -> String {
    times::stamp(clock::now().0).replace(['-', ':'], "")
}

fn digest(text: &str) -> String {
    let sum = Sha256::digest(text.as_bytes());
    sum.iter().take(6).map(|byte| format!("{byte:02x}")).collect()
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(LIMIT + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// A new file with the mode of another, on disk when this returns.
fn new_file(path: &Path, like: &fs::Metadata, bytes: &[u8]) -> io::Result<()> {
    let mode = like.permissions().mode() & 0o7777;
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    file.set_permissions(fs::Permissions::from_mode(mode))?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "{ \"mcpServers\": {} }\n";

    fn config(folder: &Path) -> ConfigFile {
        let path = folder.join("mcp.json");
        fs::write(&path, TEXT).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o640)).unwrap();
        ConfigFile::read(&path, "mcp.json".to_owned()).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_change_keeps_the_mode_and_what_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path());
        let backup = file.change("{}").unwrap();
        let path = folder.path().join("mcp.json");
        assert_eq!(fs::read_to_string(&path).unwrap(), "{}");
        assert_eq!(fs::read_to_string(&backup).unwrap(), TEXT);
        for path in [&path, &backup] {
            assert_eq!(fs::metadata(path).unwrap().permissions().mode() & 0o777, 0o640);
        }
        assert_eq!(names(folder.path()).len(), 2, "nothing else is left");
        let backups = file.backups();
        assert_eq!(backups.len(), 1);
        assert!(backups[0].was_followed_by("{}") && !backups[0].was_followed_by("{ }"));
        assert_eq!(backups[0].text().as_deref(), Some(TEXT));
    }

    #[test]
    fn what_somebody_else_wrote_meanwhile_is_not_overwritten() {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path());
        let path = folder.path().join("mcp.json");
        fs::write(&path, "{\"theirs\": 1}").unwrap();
        assert!(matches!(file.change("{}"), Err(FileFault::Changed { .. })));
        assert!(matches!(file.put("{}"), Err(FileFault::Changed { .. })));
        assert_eq!(fs::read_to_string(&path).unwrap(), "{\"theirs\": 1}");
        fs::remove_file(&path).unwrap();
        assert!(file.change("{}").is_err());
        assert_eq!(names(folder.path()), Vec::<String>::new(), "no backup of nothing");
    }

    #[test]
    fn a_link_stays_a_link_and_a_read_only_file_stays() {
        let folder = tempfile::tempdir().unwrap();
        let file = config(folder.path());
        let elsewhere = tempfile::tempdir().unwrap();
        let link = elsewhere.path().join("link.json");
        std::os::unix::fs::symlink(&file.real, &link).unwrap();
        let linked = ConfigFile::read(&link, "link.json".to_owned()).unwrap();
        let backup = linked.change("{}").unwrap();
        assert!(link.symlink_metadata().unwrap().is_symlink());
        assert_eq!(fs::read_to_string(&link).unwrap(), "{}");
        assert_eq!(
            backup.parent(),
            file.real.parent(),
            "the backup is beside the file itself"
        );
        fs::set_permissions(&file.real, fs::Permissions::from_mode(0o440)).unwrap();
        let closed = ConfigFile::read(&link, "link.json".to_owned()).unwrap();
        assert!(matches!(closed.change(TEXT), Err(FileFault::ReadOnly { .. })));
        assert_eq!(fs::read_to_string(&link).unwrap(), "{}");
    }

    #[test]
    fn what_is_no_config_is_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let read = |name: &str, bytes: &[u8]| {
            let path = folder.path().join(name);
            fs::write(&path, bytes).unwrap();
            ConfigFile::read(&path, name.to_owned()).unwrap_err().to_string()
        };
        assert!(read("a.json", b"{\n  \"a\": }").contains("a.json:2:8"));
        assert!(read("b.toml", b"a = 1\nb = [\n").contains("b.toml:"));
        assert!(read("c.json", b"{\"a\": \"\xff\"}").contains("byte 7"));
        assert!(read("d.yaml", b"a: 1").contains("YAML"));
        let missing = ConfigFile::read(&folder.path().join("no"), "no".to_owned()).unwrap_err();
        assert!(matches!(missing, FileFault::Unreadable { .. }));
        let is_folder = ConfigFile::read(folder.path(), "x".to_owned()).unwrap_err();
        assert!(matches!(is_folder, FileFault::NotAFile { .. }));
    }
}
