//! A machine of one test: its home, its project, its programs. Nothing of the real one is looked at.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::harness::scene::candor;

/// One host's sample, and where it belongs.
pub(super) struct Sample {
    /// The host's word.
    pub(super) host: &'static str,
    /// Its place under the home folder.
    pub(super) place: &'static str,
    /// Its text.
    pub(super) text: &'static str,
    /// The servers that have a command, in order, with what starts them.
    pub(super) servers: &'static [(&'static str, &'static [&'static str])],
}

#[cfg(target_os = "macos")]
const CLAUDE_DESKTOP: &str = "Library/Application Support/Claude/claude_desktop_config.json";
#[cfg(not(target_os = "macos"))]
const CLAUDE_DESKTOP: &str = ".config/Claude/claude_desktop_config.json";

/// A sample of every known host.
pub(super) const SAMPLES: &[Sample] = &[
    Sample {
        host: "claude-desktop",
        place: CLAUDE_DESKTOP,
        text: include_str!("samples/claude-desktop.json"),
        servers: &[
            (
                "filesystem",
                &[
                    "npx",
                    "-y",
                    "@modelcontextprotocol/server-filesystem",
                    "/home/ada/notes",
                ],
            ),
            (
                "github",
                &[
                    "docker",
                    "run",
                    "-i",
                    "--rm",
                    "-e",
                    "GITHUB_PERSONAL_ACCESS_TOKEN",
                    "ghcr.io/github/github-mcp-server",
                ],
            ),
        ],
    },
    Sample {
        host: "claude-code",
        place: "project/.mcp.json",
        text: include_str!("samples/claude-code.json"),
        servers: &[("git", &["uvx", "mcp-server-git"])],
    },
    Sample {
        host: "cursor",
        place: ".cursor/mcp.json",
        text: include_str!("samples/cursor.json"),
        servers: &[
            (
                "search",
                &["npx", "-y", "search-mcp", "--api-key", "SENTINEL-cursor-args"],
            ),
            ("notes", &["uvx"]),
        ],
    },
    Sample {
        host: "vscode",
        place: "project/.vscode/mcp.json",
        text: include_str!("samples/vscode.json"),
        servers: &[("playwright", &["npx", "@playwright/mcp@latest", "--headless"])],
    },
    Sample {
        host: "windsurf",
        place: ".codeium/windsurf/mcp_config.json",
        text: include_str!("samples/windsurf.json"),
        servers: &[("local", &["npx", "-y", "local-mcp"])],
    },
    Sample {
        host: "codex",
        place: ".codex/config.toml",
        text: include_str!("samples/codex.toml"),
        servers: &[("docs", &["npx", "-y", "docs-mcp"]), ("git", &["uvx"])],
    },
    Sample {
        host: "gemini",
        place: ".gemini/settings.json",
        text: include_str!("samples/gemini.json"),
        servers: &[("files", &["uvx"])],
    },
    Sample {
        host: "zed",
        place: ".config/zed/settings.json",
        text: include_str!("samples/zed.json"),
        servers: &[
            (
                "linear",
                &[
                    "npx",
                    "-y",
                    "mcp-remote",
                    "https://linear.example/mcp",
                    "--header",
                    "Authorization: Bearer SENTINEL-zed-arg",
                ],
            ),
            ("older", &["uvx", "older-mcp"]),
        ],
    },
    Sample {
        host: "continue",
        place: ".continue/config.json",
        text: include_str!("samples/continue.json"),
        servers: &[("#1", &["uvx", "mcp-server-sqlite", "--db-path", "x.db"])],
    },
];

/// The folders of one machine.
pub(super) struct Machine {
    folder: tempfile::TempDir,
}

/// What a command said.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) code: Option<i32>,
    pub(super) out: String,
    pub(super) errors: String,
}

impl Machine {
    /// A machine without any config. `npx`, `uvx` and `docker` start a fixture there, and note how they were called.
    pub(super) fn bare() -> Self {
        let machine = Self {
            folder: tempfile::tempdir().unwrap(),
        };
        for folder in ["project", "bin", "calls"] {
            fs::create_dir(machine.path(folder)).unwrap();
        }
        for name in ["npx", "uvx", "docker"] {
            machine.program(name, "exec \"$CANDOR_UNDER_TEST\" fixture liar --script rooms");
        }
        machine
    }

    /// A machine with every sample in its place.
    pub(super) fn with_samples() -> Self {
        let machine = Self::bare();
        for sample in SAMPLES {
            machine.write(sample.place, sample.text);
        }
        machine
    }

    /// A program on this machine's PATH: notes its words, then does this.
    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        let calls = self.path("calls").join(name);
        let note = format!(
            "for word in {name} \"$@\"; do printf '%s\\n' \"$word\"; done > '{}'",
            calls.display()
        );
        fs::write(&path, format!("#!/bin/sh\n{note}\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// How a program was called last: its own name and its words.
    pub(super) fn called(&self, name: &str) -> Vec<String> {
        let noted = fs::read_to_string(self.path("calls").join(name)).unwrap_or_default();
        noted.lines().map(str::to_owned).collect()
    }

    pub(super) fn path(&self, place: &str) -> PathBuf {
        self.folder.path().join(place)
    }

    pub(super) fn write(&self, place: &str, text: &str) {
        let path = self.path(place);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    pub(super) fn read(&self, place: &str) -> String {
        fs::read_to_string(self.path(place)).unwrap()
    }

    /// Every file of the home, with its text.
    pub(super) fn files(&self) -> Vec<(PathBuf, Vec<u8>)> {
        let mut found = Vec::new();
        let mut folders = vec![self.folder.path().to_owned()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else {
                    found.push((path.clone(), fs::read(&path).unwrap()));
                }
            }
        }
        found.sort();
        found
    }

    /// A command on this machine, in its project.
    pub(super) fn command(&self, program: impl AsRef<std::ffi::OsStr>) -> Command {
        let mut command = Command::new(program);
        let path = format!("{}:/usr/bin:/bin", self.path("bin").display());
        command
            .env_clear()
            .env("HOME", self.folder.path())
            .env("PATH", path)
            .env("CANDOR_UNDER_TEST", candor())
            .current_dir(self.path("project"));
        command
    }

    /// Runs Candor on this machine.
    pub(super) fn candor(&self, words: &[&str]) -> Said {
        let Output {
            status,
            stdout,
            stderr,
        } = self.command(candor()).args(words).output().unwrap();
        let home = self.folder.path().canonicalize().unwrap();
        let clean = |bytes: Vec<u8>| {
            String::from_utf8(bytes)
                .unwrap()
                .replace(&*home.to_string_lossy(), "HOME")
                .replace(&*self.folder.path().to_string_lossy(), "HOME")
        };
        Said {
            code: status.code(),
            out: clean(stdout),
            errors: clean(stderr),
        }
    }

    /// The names beside a file that are not its own.
    pub(super) fn beside(&self, place: &str) -> Vec<String> {
        let path = self.path(place);
        let own = path.file_name().unwrap().to_owned();
        let entries = fs::read_dir(path.parent().unwrap_or(Path::new("."))).unwrap();
        let names = entries
            .map(|entry| entry.unwrap().file_name())
            .filter(|name| *name != own);
        let mut names: Vec<String> = names.map(|name| name.into_string().unwrap()).collect();
        names.sort();
        names
    }
}
