//! The hosts that are known, and where each keeps its configs.

use std::env;
use std::path::{Path, PathBuf};

/// A program that starts MCP servers.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Host {
    /// As one types it.
    pub(crate) word: &'static str,
    /// As it calls itself.
    pub(crate) title: &'static str,
    places: &'static [(Root, &'static str)],
}

/// What a place is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Root {
    /// The user's home.
    Home,
    /// Where programs keep their files: `~/.config` (or `XDG_CONFIG_HOME`), on macOS `~/Library/Application Support`.
    Support,
    /// `~/.config` (or `XDG_CONFIG_HOME`) on every system.
    Config,
    /// `CODEX_HOME`, else `~/.codex`.
    Codex,
    /// The folder that Candor was started in, taken as a project. Such files are often shared with other people.
    Project,
}

/// Every known host. JSON but for Codex; where the servers stand inside is found out by `servers`.
pub(crate) const HOSTS: &[Host] = &[
    Host {
        word: "claude-desktop",
        title: "Claude Desktop",
        places: &[(Root::Support, "Claude/claude_desktop_config.json")],
    },
    Host {
        word: "claude-code",
        title: "Claude Code",
        places: &[(Root::Project, ".mcp.json")],
    },
    Host {
        word: "cursor",
        title: "Cursor",
        places: &[
            (Root::Home, ".cursor/mcp.json"),
            (Root::Project, ".cursor/mcp.json"),
        ],
    },
    Host {
        word: "vscode",
        title: "VS Code",
        places: &[
            (Root::Support, "Code/User/mcp.json"),
            (Root::Project, ".vscode/mcp.json"),
        ],
    },
    Host {
        word: "windsurf",
        title: "Windsurf",
        places: &[(Root::Home, ".codeium/windsurf/mcp_config.json")],
    },
    Host {
        word: "codex",
        title: "Codex",
        places: &[(Root::Codex, "config.toml")],
    },
    Host {
        word: "gemini",
        title: "Gemini CLI",
        places: &[
            (Root::Home, ".gemini/settings.json"),
            (Root::Project, ".gemini/settings.json"),
        ],
    },
    Host {
        word: "zed",
        title: "Zed",
        places: &[
            (Root::Config, "zed/settings.json"),
            (Root::Project, ".zed/settings.json"),
        ],
    },
    Host {
        word: "continue",
        title: "Continue",
        places: &[(Root::Home, ".continue/config.json")],
    },
];

/// A config that may be there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    /// Whose it is; `None` for a file that was named.
    pub(crate) host: Option<&'static Host>,
    /// The file.
    pub(crate) path: PathBuf,
    /// Does it belong to a project, and so to everybody who works on it?
    pub(crate) shared: bool,
}

/// What the places depend on.
#[derive(Debug, Clone)]
pub(crate) struct Surroundings {
    home: Option<PathBuf>,
    config: Option<PathBuf>,
    codex: Option<PathBuf>,
    here: PathBuf,
}

impl Surroundings {
    /// Those of this process.
    pub(crate) fn of_process() -> Self {
        let folder = |name: &str| {
            env::var_os(name)
                .map(PathBuf::from)
                .filter(|path| path.is_absolute())
        };
        let home = folder("HOME");
        let under_home = |name: &str| home.as_ref().map(|home| home.join(name));
        Self {
            config: folder("XDG_CONFIG_HOME").or_else(|| under_home(".config")),
            codex: folder("CODEX_HOME").or_else(|| under_home(".codex")),
            here: env::current_dir().unwrap_or_default(),
            home,
        }
    }

    /// Where this host's configs would be, whether they are there or not.
    pub(crate) fn places(&self, host: &'static Host) -> Vec<Place> {
        let place = |(root, name): &(Root, &str)| {
            Some(Place {
                host: Some(host),
                path: self.root(*root)?.join(name),
                shared: *root == Root::Project,
            })
        };
        let mut places: Vec<Place> = host.places.iter().filter_map(place).collect();
        // Started in the home folder, a project's file and the user's own are one.
        places.dedup_by(|later, earlier| later.path == earlier.path);
        places
    }

    /// The configs that are there, of all hosts or of these.
    pub(crate) fn found(&self, hosts: &[&'static Host]) -> Vec<Place> {
        let wanted = HOSTS
            .iter()
            .filter(|host| hosts.is_empty() || hosts.contains(host));
        wanted
            .flat_map(|host| self.places(host))
            .filter(|place| place.path.symlink_metadata().is_ok())
            .collect()
    }

    /// A file that was named, with its host if its place is one of those known.
    pub(crate) fn named(&self, path: &Path) -> Place {
        let whole = self.here.join(path);
        let known = HOSTS
            .iter()
            .flat_map(|host| self.places(host))
            .find(|place| place.path == whole);
        known.unwrap_or(Place {
            host: None,
            path: path.to_owned(),
            shared: false,
        })
    }

    /// A path as it is told: with `~` for the user's home.
    pub(crate) fn told(&self, path: &Path) -> String {
        match self.home.as_ref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(inside) => format!("~/{}", inside.display()),
            None => path.display().to_string(),
        }
    }

    fn root(&self, root: Root) -> Option<PathBuf> {
        match root {
            Root::Home => self.home.clone(),
            Root::Support if cfg!(target_os = "macos") => {
                Some(self.home.as_ref()?.join("Library").join("Application Support"))
            }
            Root::Support | Root::Config => self.config.clone(),
            Root::Codex => self.codex.clone(),
            Root::Project => Some(self.here.clone()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn surroundings(home: &str, here: &str) -> Surroundings {
        Surroundings {
            home: Some(home.into()),
            config: Some(Path::new(home).join(".config")),
            codex: Some("/c".into()),
            here: here.into(),
        }
    }

    #[test]
    fn each_host_has_a_place_and_a_word_of_its_own() {
        let around = surroundings("/h", "/p");
        for host in HOSTS {
            assert!(!around.places(host).is_empty(), "{}", host.word);
            let same = HOSTS.iter().filter(|other| other.word == host.word);
            assert_eq!(same.count(), 1, "{}", host.word);
        }
        assert_eq!(
            around.named(Path::new(".mcp.json")).host.map(|host| host.word),
            Some("claude-code")
        );
        assert!(around.named(Path::new(".mcp.json")).shared);
        assert_eq!(
            around
                .named(Path::new("/c/config.toml"))
                .host
                .map(|host| host.word),
            Some("codex")
        );
        assert_eq!(around.named(Path::new("other.json")).host, None);
    }

    #[test]
    fn in_the_home_folder_one_file_is_not_two() {
        let cursor = HOSTS.iter().find(|host| host.word == "cursor").unwrap();
        assert_eq!(surroundings("/h", "/p").places(cursor).len(), 2);
        let at_home = surroundings("/h", "/h").places(cursor);
        assert_eq!((at_home.len(), at_home[0].shared), (1, false));
    }

    #[test]
    fn a_home_is_told_as_a_tilde() {
        let around = surroundings("/h", "/p");
        assert_eq!(
            around.told(Path::new("/h/.cursor/mcp.json")),
            "~/.cursor/mcp.json"
        );
        assert_eq!(around.told(Path::new("/hh/x")), "/hh/x");
    }
}
