//! From which package a server comes, as far as the command that starts it tells.

use std::ffi::OsStr;
use std::fmt;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use serde::Deserialize;

/// Bytes of a package's own description that are read at most.
const DESCRIPTION: u64 = 256 * 1024;
/// Installed Python packages of one environment that are looked through at most.
const INSTALLED: usize = 2_000;
/// Words of a command that are looked at.
const WORDS: usize = 256;

/// Where packages come from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ecosystem {
    /// Packages for Node.
    Npm,
    /// Packages for Python.
    Pypi,
}

/// A package by its name, as in `npm:@upstash/context7-mcp`.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Package {
    /// Where it comes from.
    pub ecosystem: Ecosystem,
    /// Its name, as its ecosystem compares names.
    pub name: String,
}

/// Why a text names no package.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "a package is expected here, such as \"npm:@modelcontextprotocol/server-memory\" or \"pypi:mcp-server-git\""
)]
pub struct PackageFault;

/// What a command tells of the server that it starts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Origin {
    /// The package.
    pub package: Package,
    /// Its version, where it is named or installed where the command says.
    pub version: Option<String>,
}

impl Package {
    fn new(ecosystem: Ecosystem, name: &str) -> Self {
        let name = match ecosystem {
            Ecosystem::Npm => name.to_owned(),
            // PEP 503: case, and which of these signs is used, make no difference.
            Ecosystem::Pypi => name.to_lowercase().replace(['_', '.'], "-"),
        };
        Self { ecosystem, name }
    }
}

impl FromStr for Package {
    type Err = PackageFault;

    fn from_str(text: &str) -> Result<Self, PackageFault> {
        let (ecosystem, name) = text.split_once(':').ok_or(PackageFault)?;
        let ecosystem = match ecosystem {
            "npm" => Ecosystem::Npm,
            "pypi" => Ecosystem::Pypi,
            _ => return Err(PackageFault),
        };
        if name.is_empty() || name.contains(char::is_whitespace) {
            return Err(PackageFault);
        }
        Ok(Self::new(ecosystem, name))
    }
}

impl fmt::Display for Package {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ecosystem = match self.ecosystem {
            Ecosystem::Npm => "npm",
            Ecosystem::Pypi => "pypi",
        };
        write!(out, "{ecosystem}:{}", self.name)
    }
}

impl Origin {
    /// What the words of a command tell: `npx pkg@1.2`, `uvx pkg==1.2`, a program under `node_modules` or in the `bin` of
    /// a Python environment, wherever in the command it stands (`sudo`, `env` and the like come before it).
    pub fn of_command<S: AsRef<OsStr>>(words: &[S]) -> Option<Self> {
        let words: Vec<&OsStr> = words.iter().take(WORDS).map(AsRef::as_ref).collect();
        let runners = words.iter().enumerate().find_map(|(at, word)| {
            let rest = words.get(at + 1..)?;
            of_runner(&program(word), rest)
        });
        runners.or_else(|| {
            words.iter().find_map(|word| {
                let path = Path::new(word);
                in_node_modules(path).or_else(|| in_environment(path))
            })
        })
    }
}

fn program(word: &OsStr) -> String {
    let name = Path::new(word).file_name().unwrap_or(word);
    name.to_string_lossy().into_owned()
}

/// A program that fetches a package and runs it.
fn of_runner(program: &str, rest: &[&OsStr]) -> Option<Origin> {
    let rest: Vec<&str> = rest.iter().filter_map(|word| word.to_str()).collect();
    let rest = rest.as_slice();
    match program {
        "npx" | "bunx" | "pnpx" => npm_word(rest),
        "npm" | "pnpm" | "yarn" | "bun" => match rest {
            ["exec" | "x" | "dlx", rest @ ..] => npm_word(rest),
            _ => None,
        },
        "uvx" => python_word(rest),
        "uv" => match rest {
            ["tool", "run", rest @ ..] => python_word(rest),
            _ => None,
        },
        "pipx" => match rest {
            ["run", rest @ ..] => python_word(rest),
            _ => None,
        },
        _ => None,
    }
}

/// The value of an option that names the package, else the first word that is none.
fn package_word<'w>(words: &[&'w str], naming: &[&str], valued: &[&str]) -> Option<&'w str> {
    let mut words = words.iter();
    let mut first = None;
    while let Some(word) = words.next() {
        if let Some((option, value)) = word.split_once('=')
            && naming.contains(&option)
        {
            return Some(value);
        }
        if naming.contains(word) {
            return words.next().copied();
        }
        if valued.contains(word) {
            words.next();
        } else if !word.starts_with('-') {
            first = Some(*word);
            break;
        }
    }
    first
}

fn npm_word(words: &[&str]) -> Option<Origin> {
    let word = package_word(words, &["-p", "--package"], &["-c", "--call"])?;
    // A scope begins with the sign that parts name and version.
    let at = word.char_indices().skip(1).find(|(_, sign)| *sign == '@');
    let (name, version) = match at {
        Some((at, _)) => (word.get(..at)?, word.get(at + 1..)),
        None => (word, None),
    };
    Some(Origin {
        package: Package::new(Ecosystem::Npm, name),
        version: version.filter(|version| is_exact(version)).map(str::to_owned),
    })
}

fn python_word(words: &[&str]) -> Option<Origin> {
    let valued = ["--with", "-w", "--python", "-p", "--index-url", "-i"];
    let word = package_word(words, &["--from", "--spec"], &valued)?;
    let end = word.find(['=', '@', '<', '>', '~', '!']).unwrap_or(word.len());
    let (name, rest) = word.split_at(end);
    let version = rest.trim_start_matches(['=', '@']);
    let is_pinned = rest.starts_with("==") || rest.starts_with('@');
    let name = name.split_once('[').map_or(name, |(name, _)| name);
    Some(Origin {
        package: Package::new(Ecosystem::Pypi, name.trim()),
        version: (is_pinned && is_exact(version)).then(|| version.to_owned()),
    })
}

/// `latest`, `^1.2` or `1` are no version that is known beforehand.
fn is_exact(version: &str) -> bool {
    version.starts_with(|c: char| c.is_ascii_digit())
        && version.contains('.')
        && !version.contains(['x', '*', ' '])
}

#[derive(Deserialize)]
struct NodePackage {
    name: Option<String>,
    version: Option<String>,
}

/// `…/node_modules/[@scope/]name/…`: the package's own description says its name and version; the folder may have another
/// name.
fn in_node_modules(path: &Path) -> Option<Origin> {
    let mut folder = PathBuf::new();
    let mut parts = path.components();
    let mut found = None;
    while let Some(part) = parts.next() {
        folder.push(part);
        if part.as_os_str() != "node_modules" {
            continue;
        }
        let name = parts.next()?;
        folder.push(name);
        if name.as_os_str().to_string_lossy().starts_with('@') {
            folder.push(parts.next()?);
        }
        found = Some(folder.clone());
    }
    let described: NodePackage = serde_json::from_str(&beginning(&found?.join("package.json"))?).ok()?;
    Some(Origin {
        package: Package::new(Ecosystem::Npm, &described.name?),
        version: described.version,
    })
}

/// `ENV/bin/program`, where `ENV` is a Python environment: the package whose entry points name the program.
fn in_environment(path: &Path) -> Option<Origin> {
    let name = path.file_name()?.to_str()?;
    let environment = path.parent()?.parent()?;
    if !environment.join("pyvenv.cfg").is_file() {
        return None;
    }
    let pythons = fs::read_dir(environment.join("lib")).ok()?.flatten();
    let packages = pythons.flat_map(|python| {
        fs::read_dir(python.path().join("site-packages"))
            .into_iter()
            .flatten()
    });
    packages.flatten().take(INSTALLED).find_map(|entry| {
        let folder = entry.file_name().into_string().ok()?;
        let (package, version) = folder.strip_suffix(".dist-info")?.rsplit_once('-')?;
        let points = beginning(&entry.path().join("entry_points.txt"))?;
        let names_it = points
            .lines()
            .filter_map(|line| line.split_once('='))
            .any(|(point, _)| point.trim() == name);
        names_it.then(|| Origin {
            package: Package::new(Ecosystem::Pypi, package),
            version: Some(version.to_owned()),
        })
    })
}

fn beginning(file: &Path) -> Option<String> {
    let mut text = String::new();
    File::open(file)
        .ok()?
        .take(DESCRIPTION)
        .read_to_string(&mut text)
        .ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(command: &str) -> Option<(String, Option<String>)> {
        let words: Vec<&str> = command.split(' ').collect();
        let origin = Origin::of_command(&words)?;
        Some((origin.package.to_string(), origin.version))
    }

    #[test]
    fn a_command_that_names_its_package_tells_it() {
        for (command, package, version) in [
            ("npx -y @scope/pkg@1.2.3 --flag", "npm:@scope/pkg", Some("1.2.3")),
            ("npx -y @scope/pkg", "npm:@scope/pkg", None),
            ("npx pkg@latest", "npm:pkg", None),
            ("npx --package=pkg@1.0.0 prog", "npm:pkg", Some("1.0.0")),
            ("/usr/bin/env A=1 npx -p pkg prog", "npm:pkg", None),
            ("pnpm dlx pkg@2.0.1", "npm:pkg", Some("2.0.1")),
            (
                "uvx mcp_server.git==2025.1.14 --repository x",
                "pypi:mcp-server-git",
                Some("2025.1.14"),
            ),
            ("uvx --from pkg[extra]@1.2.0 prog", "pypi:pkg", Some("1.2.0")),
            ("uvx --with other pkg>=1", "pypi:pkg", None),
            ("uv tool run pkg", "pypi:pkg", None),
            ("pipx run --spec pkg==1.0 prog", "pypi:pkg", Some("1.0")),
        ] {
            let expected = Some((package.to_owned(), version.map(str::to_owned)));
            assert_eq!(told(command), expected, "{command}");
        }
        for command in [
            "my-server",
            "node server.js",
            "uv run server.py",
            "npx",
            "python -m x",
        ] {
            assert_eq!(told(command), None, "{command}");
        }
    }

    #[test]
    fn an_installed_program_is_looked_up_where_it_is_installed() {
        let root = tempfile::tempdir().unwrap();
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        write(
            "node_modules/alias/package.json",
            r#"{"name":"@s/p","version":"1.0.1"}"#,
        );
        write("node_modules/broken/package.json", "{");
        write("venv/pyvenv.cfg", "");
        write(
            "venv/lib/python3.13/site-packages/some_server-2.1.0.dist-info/entry_points.txt",
            "[console_scripts]\nsome-server = some:main\n",
        );
        let at = |path: &str| told(&format!("env {}", root.path().join(path).display()));
        let found = |package: &str, version: &str| Some((package.to_owned(), Some(version.to_owned())));
        assert_eq!(at("node_modules/alias/dist/index.js"), found("npm:@s/p", "1.0.1"));
        assert_eq!(at("venv/bin/some-server"), found("pypi:some-server", "2.1.0"));
        assert_eq!(at("node_modules/broken/index.js"), None);
        assert_eq!(at("venv/bin/other"), None);
        assert_eq!(at("bin/some-server"), None);
    }
}
