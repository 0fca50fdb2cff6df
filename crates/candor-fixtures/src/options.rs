//! Options of the fixtures, parsed by hand: this crate stays free of an argument parser.

use std::{ffi::OsString, path::PathBuf};

use crate::Fault;

/// The options of a playing fixture.
#[derive(Debug, Default, Clone)]
#[non_exhaustive]
pub struct Serve {
    /// `--truth FILE`: where what really happened is appended, one JSON object a line.
    pub truth: Option<PathBuf>,
    /// `--script NAME-OR-FILE`: what `liar` plays.
    pub script: Option<PathBuf>,
    /// `--ledger FILE`: the ledger that `look_in_ledger` looks into.
    pub ledger: Option<PathBuf>,
    /// `--candor FILE`: the program that `look_in_ledger` asks; by default this very program.
    pub candor: Option<PathBuf>,
}

impl Serve {
    const KNOWN: &'static str = "--truth FILE, --script NAME-OR-FILE, --ledger FILE, --candor FILE";

    /// Reads the options of a playing fixture.
    ///
    /// # Errors
    ///
    /// An unknown option or one without its value.
    pub fn parse(arguments: &[OsString]) -> Result<Self, Fault> {
        let mut options = Self::default();
        let mut rest = arguments.iter();
        while let Some(argument) = rest.next() {
            let (option, slot) = match argument.to_str() {
                Some("--truth") => ("--truth", &mut options.truth),
                Some("--script") => ("--script", &mut options.script),
                Some("--ledger") => ("--ledger", &mut options.ledger),
                Some("--candor") => ("--candor", &mut options.candor),
                _ => return Err(unknown(argument, Self::KNOWN)),
            };
            *slot = Some(value(option, "a file", rest.next())?.into());
        }
        Ok(options)
    }
}

/// The options of `tee`: `--in FILE --out FILE -- COMMAND…`.
#[derive(Debug, Clone)]
pub(crate) struct Tee {
    /// Every byte on its way to the command.
    pub(crate) into: PathBuf,
    /// Every byte on its way from the command.
    pub(crate) out_of: PathBuf,
    pub(crate) program: OsString,
    pub(crate) arguments: Vec<OsString>,
}

impl Tee {
    pub(crate) fn parse(arguments: &[OsString]) -> Result<Self, Fault> {
        let (mut into, mut out_of) = (None, None);
        let mut rest = arguments.iter();
        loop {
            let argument = value("tee", "-- and a command", rest.next())?;
            match argument.to_str() {
                Some("--in") => into = Some(value("--in", "a file", rest.next())?),
                Some("--out") => out_of = Some(value("--out", "a file", rest.next())?),
                Some("--") => break,
                _ => return Err(unknown(argument, "--in FILE, --out FILE and then -- COMMAND")),
            }
        }
        Ok(Self {
            into: value("tee", "--in FILE", into)?.into(),
            out_of: value("tee", "--out FILE", out_of)?.into(),
            program: value("--", "a command", rest.next())?.clone(),
            arguments: rest.cloned().collect(),
        })
    }
}

fn value<'a>(
    option: &'static str,
    expected: &'static str,
    value: Option<&'a OsString>,
) -> Result<&'a OsString, Fault> {
    value.ok_or(Fault::ValueMissing { option, expected })
}

fn unknown(argument: &OsString, expected: &'static str) -> Fault {
    Fault::UnknownOption {
        option: argument.to_string_lossy().into_owned(),
        expected,
    }
}
