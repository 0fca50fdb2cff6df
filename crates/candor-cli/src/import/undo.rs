//! The way back: the backup, if nobody changed the config since; else Candor taken out of the config as it is now.

use super::document::Document;
use super::fault::FileFault;
use super::file::{Backup, ConfigFile};
use super::outline::unwrapped;
use super::servers::servers;

/// How a config goes back.
#[derive(Debug)]
pub(super) enum WayBack {
    /// To what it was before Candor first changed it, byte for byte.
    Restored {
        /// What it becomes.
        new: Document,
        /// Backups that are no longer needed, the newest first.
        used: Vec<Backup>,
    },
    /// It was changed since (or its backup is gone): only Candor is taken out.
    Unwrapped {
        /// What it becomes.
        new: Document,
        /// The servers that change.
        names: Vec<String>,
    },
    /// There is nothing to undo.
    Nothing,
}

/// Finds the way back. Servers that are named are taken out one by one, since a backup knows only whole files.
/// `said` is a program that was said to be Candor, whatever its name.
pub(super) fn way_back(
    file: &ConfigFile,
    names: &[String],
    said: Option<&str>,
) -> Result<WayBack, FileFault> {
    let backups = file.backups();
    if names.is_empty()
        && let Some((text, used)) = oldest_behind(&file.document.text, &backups)
    {
        return Ok(WayBack::Restored {
            new: file.with_text(text)?,
            used,
        });
    }
    let before = backups
        .iter()
        .find_map(Backup::text)
        .and_then(|text| file.with_text(text).ok());
    let outline = unwrapped(file, names, before.as_ref(), said)?;
    if outline.changed.is_empty() {
        return Ok(WayBack::Nothing);
    }
    let all = servers(&file.document, said);
    let names = outline
        .changed
        .iter()
        .filter_map(|index| all.get(*index))
        .map(|server| server.name.clone())
        .collect();
    Ok(WayBack::Unwrapped {
        new: outline.new,
        names,
    })
}

/// Goes from backup to backup as long as one was followed by exactly what is there.
fn oldest_behind(now: &str, backups: &[Backup]) -> Option<(String, Vec<Backup>)> {
    let mut text = now.to_owned();
    let mut used: Vec<Backup> = Vec::new();
    let next = |text: &str, used: &[Backup]| {
        let fits = |backup: &&Backup| backup.was_followed_by(text) && !used.contains(backup);
        let backup = backups.iter().find(fits)?;
        Some((backup.text()?, backup.clone()))
    };
    while let Some((kept, backup)) = next(&text, &used) {
        text = kept;
        used.push(backup);
    }
    (!used.is_empty()).then_some((text, used))
}
