//! One bounded run of a target: the corpus as it stands, then seeded mutations of it. What breaks is kept as a file.

use std::any::Any;
use std::fs;
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use crate::broken::Broken;
use crate::mutate::{Material, mutated};
use crate::random::{Random, seed_of};
use crate::target::Target;

/// What one run does.
#[derive(Debug, Clone)]
pub struct Plan {
    /// The folder whose files are the first inputs; it may be missing.
    pub corpus: PathBuf,
    /// The folder for inputs that break something, and for the input at work: where the process itself ends (a stack
    /// that overflows), that file is what is left.
    pub kept: PathBuf,
    /// What the mutations depend on, beside the corpus.
    pub seed: u64,
    /// How many mutations.
    pub rounds: u32,
}

/// What a run that broke nothing did.
#[derive(Debug, Clone)]
pub struct Report {
    /// Inputs of the corpus.
    pub corpus: usize,
    /// Inputs made.
    pub made: u32,
    /// How long the slowest input took. For people: a shared machine makes this no measure for a test.
    pub slowest: Duration,
    /// That input.
    pub slowest_input: Vec<u8>,
}

/// Why a run ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// An input broke a law, or panicked.
    #[error(
        "target {target}: {why}\nthe input is kept in {file}; when it is mended, add it to the corpus, so that it stays so"
    )]
    Found {
        /// The target.
        target: &'static str,
        /// What broke.
        why: Why,
        /// Where the input is.
        file: String,
    },
    /// A file of the run can't be read or written.
    #[error("{file} can't be read or written: {error}")]
    File {
        /// Which one.
        file: String,
        /// What the system says.
        error: io::Error,
    },
}

/// What one input did.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Why {
    /// It broke a law.
    #[error("{0}")]
    Broken(Broken),
    /// It panicked.
    #[error("panicked: {message}")]
    Panicked {
        /// What the panic said.
        message: String,
    },
}

/// Runs a target: every file of the corpus, then mutations of them and of each other.
///
/// # Errors
/// The first input that breaks a law or panics, and files that can't be used.
pub fn run(target: &Target, plan: &Plan) -> Result<Report, Failure> {
    let corpus = read_corpus(&plan.corpus)?;
    fs::create_dir_all(&plan.kept).map_err(|error| file_fault(&plan.kept, error))?;
    let mut report = Report {
        corpus: corpus.len(),
        made: 0,
        slowest: Duration::ZERO,
        slowest_input: Vec::new(),
    };
    for input in &corpus {
        try_one(target, plan, input, &mut report)?;
    }
    let mut random = Random::new(seed_of(target.name, plan.seed));
    let material = Material {
        words: target.words,
        corpus: &corpus,
    };
    // Now and then a mutation is mutated further: so a run walks away from its corpus.
    let mut last = Vec::new();
    for _ in 0..plan.rounds {
        let from = match random.below(4) {
            0 => &last,
            _ => random.pick(&corpus).unwrap_or(&last),
        };
        let input = mutated(from, material, &mut random);
        try_one(target, plan, &input, &mut report)?;
        report.made += 1;
        last = input;
    }
    Ok(report)
}

fn try_one(target: &Target, plan: &Plan, input: &[u8], report: &mut Report) -> Result<(), Failure> {
    let at_work = plan.kept.join(format!("{}-at-work", target.name));
    fs::write(&at_work, input).map_err(|error| file_fault(&at_work, error))?;
    let began = Instant::now();
    let done = catch_unwind(AssertUnwindSafe(|| (target.check)(input)));
    let took = began.elapsed();
    if took > report.slowest {
        report.slowest = took;
        report.slowest_input = input.to_vec();
    }
    let why = match done {
        Ok(Ok(())) => return Ok(()),
        Ok(Err(broken)) => Why::Broken(broken),
        Err(panic) => Why::Panicked {
            message: said(panic.as_ref()),
        },
    };
    let file = plan.kept.join(format!(
        "{}-{:016x}",
        target.name,
        seed_of(&String::from_utf8_lossy(input), 0)
    ));
    fs::write(&file, input).map_err(|error| file_fault(&file, error))?;
    Err(Failure::Found {
        target: target.name,
        why,
        file: file.display().to_string(),
    })
}

fn said(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
    text.or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "(no text)".to_owned())
}

/// The files of a corpus, by name, so that a run does not depend on the order of a folder.
fn read_corpus(folder: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(file_fault(folder, error)),
    };
    let mut files = Vec::new();
    for entry in entries {
        let path = entry.map_err(|error| file_fault(folder, error))?.path();
        if path.is_file() {
            files.push(path);
        }
    }
    files.sort();
    files
        .iter()
        .map(|file| fs::read(file).map_err(|error| file_fault(file, error)))
        .collect()
}

fn file_fault(file: &Path, error: io::Error) -> Failure {
    Failure::File {
        file: file.display().to_string(),
        error,
    }
}
