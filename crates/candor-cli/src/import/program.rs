//! Programs: which one is Candor, and whether one can be found.

use std::ffi::OsStr;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The name of this program, as one types it.
const NAME: &str = "candor";

/// Is this command Candor, by its name, or the program that was said to be it?
pub(crate) fn is_candor(command: &str, said: Option<&str>) -> bool {
    Path::new(command).file_name() == Some(OsStr::new(NAME)) || said == Some(command)
}

/// What a host should start: `candor` in files that other people share, who keep it elsewhere; else the full path,
/// since a host that was started from a desktop does not look where a shell looks.
pub(super) fn for_hosts(shared: bool) -> String {
    if shared {
        return NAME.to_owned();
    }
    let own = env::current_exe().ok();
    // A link in PATH stays where it is when a new version comes; what it leads to may not.
    let in_path = find(NAME, env::var_os("PATH").as_deref());
    let same = |path: &PathBuf| {
        own.as_ref()
            .is_some_and(|own| path.canonicalize().ok() == own.canonicalize().ok())
    };
    let chosen = in_path.filter(same).or(own);
    chosen.map_or_else(|| NAME.to_owned(), |path| path.display().to_string())
}

/// The file that this command starts, looked for as the system does.
pub(crate) fn find(command: &str, path: Option<&OsStr>) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(PathBuf::from(command)).filter(|file| is_executable(file));
    }
    env::split_paths(path?)
        .map(|folder| folder.join(command))
        .find(|file| is_executable(file))
}

fn is_executable(file: &Path) -> bool {
    fs::metadata(file).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn candor_is_told_from_what_only_sounds_like_it() {
        assert!(is_candor("candor", None) && is_candor("/opt/x/candor", None));
        assert!(is_candor("./build/of-today", Some("./build/of-today")));
        assert!(!is_candor("candor-x", None) && !is_candor("candor/server", None));
        assert!(!is_candor("npx", Some("./build/of-today")));
    }

    #[test]
    fn a_command_is_looked_for_as_the_system_does() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tool");
        fs::write(&file, "").unwrap();
        let path = Some(folder.path().as_os_str());
        assert_eq!(find("tool", path), None, "it is not executable");
        fs::set_permissions(&file, fs::Permissions::from_mode(0o755)).unwrap();
        assert_eq!(find("tool", path), Some(file.clone()));
        assert_eq!(find(file.to_str().unwrap(), None), Some(file));
        assert_eq!((find("tool", None), find("other", path)), (None, None));
    }
}
