//! What really happened, one JSON object a line, on disk before anyone is answered.

use std::{
    fs::{File, OpenOptions},
    io::Write,
    path::Path,
};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::Fault;

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
pub(crate) struct TruthFile(Option<File>);

impl TruthFile {
    pub(crate) fn open(path: Option<&Path>) -> Result<Self, Fault> {
        let Some(path) = path else { return Ok(Self(None)) };
        let file = OpenOptions::new().create(true).append(true).open(path);
        Ok(Self(Some(file.map_err(|source| Fault::File {
            path: path.to_owned(),
            source,
        })?)))
    }

    /// Appends one truth in one write, and waits until it is on disk: the process may be killed at the next step.
    pub(crate) fn append(&mut self, truth: &Truth) -> Result<(), Fault> {
        let Some(file) = &mut self.0 else { return Ok(()) };
        let mut line = serde_json::to_vec(truth).map_err(std::io::Error::from)?;
        line.push(b'\n');
        file.write_all(&line)?;
        file.sync_data()?;
        Ok(())
    }
}
