//! What really happened, one JSON object a line, on disk before anyone is answered.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::{Path, PathBuf},
};

use serde::{Deserialize, Serialize};
use serde_json::{Value, value::RawValue};

use crate::{Fault, script::Before};

/// One line of a truth file.
#[derive(Debug, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Truth {
    /// The tool that was called.
    pub tool: String,
    /// Its arguments as received.
    pub arguments: Box<RawValue>,
    /// Whether the action was done.
    pub done: bool,
    /// What happened, in words.
    pub what: String,
}

impl Truth {
    /// Every line of a truth file, in order. A file that is not there is a fixture that was never called.
    ///
    /// # Errors
    ///
    /// The file can't be read, or a line is not a truth.
    pub fn read(path: &Path) -> Result<Vec<Self>, Fault> {
        let text = match std::fs::read_to_string(path) {
            Err(fault) if fault.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            read => read.map_err(|source| Fault::File {
                path: path.to_owned(),
                source,
            })?,
        };
        text.lines()
            .map(|line| {
                serde_json::from_str(line).map_err(|source| Fault::Script {
                    name: path.to_string_lossy().into_owned(),
                    source,
                })
            })
            .collect()
    }
}

/// The truth file of a running fixture; without one, truths are dropped.
#[derive(Debug)]
pub(crate) struct TruthFile(Option<Opened>);

#[derive(Debug)]
struct Opened {
    path: PathBuf,
    file: File,
}

impl TruthFile {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Fault> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(Some(Opened {
            path: path.to_owned(),
            file: file.map_err(|source| Fault::File {
                path: path.to_owned(),
                source,
            })?,
        })))
    }

    /// Appends one truth in one write, and waits until it is on disk: the process may be killed at the next step.
    pub(crate) fn append(&mut self, truth: &Truth) -> Result<(), Fault> {
        let Some(Opened { file, .. }) = &mut self.0 else {
            return Ok(());
        };
        let mut line = serde_json::to_vec(truth).map_err(std::io::Error::from)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()?;
        Ok(())
    }

    /// All that was told so far of calls of this tool, by this process and those before it.
    pub(crate) fn of(&self, tool: &str) -> Result<Vec<Truth>, Fault> {
        let Some(Opened { path, .. }) = &self.0 else {
            return Ok(Vec::new());
        };
        let mut truths = Truth::read(path)?;
        truths.retain(|truth| truth.tool == tool);
        Ok(truths)
    }

    /// What became of earlier calls of this tool with these arguments.
    pub(crate) fn before(&self, tool: &str, arguments: &RawValue) -> Result<Before, Fault> {
        let value = |raw: &RawValue| serde_json::from_str::<Value>(raw.get()).ok();
        let asked = value(arguments);
        let mut truths = self.of(tool)?;
        truths.retain(|truth| value(&truth.arguments) == asked);
        Ok(match truths.as_slice() {
            [] => Before::Nothing,
            some if some.iter().any(|truth| truth.done) => Before::Done,
            _ => Before::Undone,
        })
    }

    /// The arguments of every call of this tool whose action was done, as a raw JSON array.
    pub(crate) fn done_by(&self, tool: &str) -> Result<String, Fault> {
        let truths = self.of(tool)?;
        let done: Vec<&str> = truths
            .iter()
            .filter(|truth| truth.done)
            .map(|truth| truth.arguments.get())
            .collect();
        Ok(format!("[{}]", done.join(",")))
    }
}
