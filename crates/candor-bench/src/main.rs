//! What Candor costs: the same calls direct and through it, in one run on one machine.
//!
//! Figures of two runs, or of two machines, say nothing about each other; the ratios within one run do. Every round
//! plays every way in turn, so that a machine that slows down slows all of them.

mod client;
mod cores;
mod report;
mod server;

use std::env;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use anyhow::{Context, bail};

use crate::client::{Session, Way};
use crate::cores::{Cores, Keep};
use crate::report::{Report, Row};

/// What one way came to, round by round.
#[derive(Debug, Default)]
struct Measured {
    p50: Vec<Duration>,
    p99: Vec<Duration>,
    each: Vec<Duration>,
    resident_kb: u64,
}

/// What stands above the table where it is kept.
const PREFACE: &str = "# What Candor costs

Written by `just bench`, which plays the same calls directly and through Candor in one run: every round plays every way in turn, and
each figure is the median of five rounds. Only the ratios within one run mean something. \"Bytes only\" puts two programs that copy bytes
between host and server: less than that nobody in between can cost. A small call is mostly the wait for another core to wake, which
comes and goes as the scheduler places the processes; \"all on one core\" leaves that out, and \"on two cores\" has it in every call. \"Added\" is the median call less the direct one; \"added before\"
is the same figure of the run before. MB is the most memory that the wrapping process held, pages of its program file included.

";

/// Rounds; each figure is the median over them.
const ROUNDS: usize = 5;

/// One size of answer, and how many calls make one measurement of it.
struct Load {
    tool: &'static str,
    name: &'static str,
    calls: usize,
    place: Place,
}

/// Where the processes run. Most of a small call is the wait for another core to wake, and the scheduler places processes that
/// call each other now on one core and now on two.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Where the scheduler puts them.
    Anywhere,
    /// All on one core: what each costs itself, without any wait for another.
    OneCore,
    /// Host and server on two cores, and what stands between on either.
    Apart,
}

const LOADS: [Load; 6] = [
    Load {
        tool: "small",
        name: "1 kB text",
        calls: 1_500,
        place: Place::Anywhere,
    },
    Load {
        tool: "small",
        name: "1 kB text, all on one core",
        calls: 1_500,
        place: Place::OneCore,
    },
    Load {
        tool: "small",
        name: "1 kB text, host and server on two cores",
        calls: 1_500,
        place: Place::Apart,
    },
    Load {
        tool: "rows",
        name: "10 kB rows",
        calls: 500,
        place: Place::Anywhere,
    },
    Load {
        tool: "promised",
        name: "10 kB rows, output schema",
        calls: 500,
        place: Place::Anywhere,
    },
    Load {
        tool: "large",
        name: "1 MB rows",
        calls: 25,
        place: Place::Anywhere,
    },
];
const WINDOWS: [usize; 2] = [1, 16];

/// Tells a server, through whatever stands before it, to keep to the last core.
pub(crate) const APART: &str = "CANDOR_BENCH_APART";

fn main() -> anyhow::Result<()> {
    if env::args().nth(1).as_deref() == Some("serve") {
        if env::var_os(APART).is_some() {
            Cores::now()?.keep(Keep::Last)?;
        }
        return server::serve();
    }
    let own = env::current_exe()?;
    let candor = own.with_file_name("candor");
    if !candor.is_file() {
        bail!(
            "{} is not there; run: cargo build --release -p candor-cli",
            candor.display()
        );
    }
    let folder = env::temp_dir().join(format!("candor-bench-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let measured = measure(&own, &candor, &folder);
    fs::remove_dir_all(&folder)?;
    let report = measured?;
    // The table of last time stays beside the new one, so that what became slower is seen.
    let kept = env::args()
        .position(|arg| arg == "--write")
        .map(|at| {
            env::args()
                .nth(at + 1)
                .context("--write STEM: the place for STEM.md and STEM.json is missing")
        })
        .transpose()?
        .map(PathBuf::from);
    let before = kept
        .as_ref()
        .and_then(|stem| Report::read(&stem.with_extension("json")));
    let text = report.render(before.as_ref());
    std::io::stdout().write_all(text.as_bytes())?;
    if let Some(stem) = kept {
        report.write(&stem.with_extension("json"))?;
        fs::write(stem.with_extension("md"), format!("{PREFACE}{text}"))?;
    }
    Ok(())
}

fn ways(own: &Path, candor: &Path, folder: &Path) -> Vec<Way> {
    let serve = [own.display().to_string(), "serve".to_owned()];
    let through = |name, options: &[&str]| {
        let mut command = vec![candor.display().to_string()];
        command.extend(options.iter().map(|option| (*option).to_owned()));
        command.push("--".to_owned());
        command.extend(serve.clone());
        Way { name, command }
    };
    let ledger = folder.join("ledger.sqlite").display().to_string();
    vec![
        Way {
            name: "direct",
            command: serve.to_vec(),
        },
        // The floor: what two more processes that only copy bytes cost.
        Way {
            name: "bytes only",
            command: vec![
                "sh".to_owned(),
                "-c".to_owned(),
                "cat | \"$0\" serve | cat".to_owned(),
                own.display().to_string(),
            ],
        },
        through("no ledger, no check", &["--no-ledger", "--arguments", "off"]),
        through("no ledger", &["--no-ledger"]),
        through("ledger, read", &["--ledger", &ledger, "--read", "*"]),
        through("ledger", &["--ledger", &ledger]),
    ]
}

fn measure(own: &Path, candor: &Path, folder: &Path) -> anyhow::Result<Report> {
    let ways = ways(own, candor, folder);
    let mut report = Report::default();
    for way in &ways {
        let mut starts: Vec<Duration> = Vec::new();
        for _ in 0..ROUNDS {
            let begun = Instant::now();
            let session = Session::open(way, false)?;
            starts.push(begun.elapsed());
            session.close()?;
        }
        report.starts.push((way.name.to_owned(), median(starts)));
    }
    let cores = Cores::now()?;
    for load in &LOADS {
        let start_on = match load.place {
            Place::Anywhere | Place::Apart => Keep::All,
            Place::OneCore => Keep::First,
        };
        if !cores.keep(start_on)? && load.place != Place::Anywhere {
            continue;
        }
        for window in WINDOWS {
            let mut rows: Vec<Measured> = ways.iter().map(|_| Measured::default()).collect();
            for _ in 0..ROUNDS {
                for (way, row) in ways.iter().zip(&mut rows) {
                    cores.keep(start_on)?;
                    let mut session = Session::open(way, load.place == Place::Apart)?;
                    if load.place == Place::Apart {
                        // Only this process: what it started has all of them.
                        cores.keep(Keep::First)?;
                    }
                    session.play(load.tool, window, load.calls / 10 + window)?;
                    let took = session.play(load.tool, window, load.calls)?;
                    row.resident_kb = row.resident_kb.max(session.resident_kb());
                    session.close()?;
                    row.p50.push(took.p50);
                    row.p99.push(took.p99);
                    row.each.push(took.total / u32::try_from(load.calls)?);
                }
            }
            for (way, row) in ways.iter().zip(rows) {
                report.rows.push(Row {
                    load: load.name.to_owned(),
                    window,
                    way: way.name.to_owned(),
                    p50: median(row.p50),
                    p99: median(row.p99),
                    each: median(row.each),
                    resident_kb: row.resident_kb,
                });
            }
        }
    }
    report.sync = sync_cost(folder)?;
    Ok(report)
}

/// What one synced write of 4 kB costs on this disk, the median of 100.
fn sync_cost(folder: &Path) -> anyhow::Result<Duration> {
    let mut file = fs::File::create(folder.join("sync"))?;
    let page = [7_u8; 4096];
    let mut costs = Vec::new();
    for _ in 0..100 {
        let begun = Instant::now();
        file.write_all(&page)?;
        file.sync_data()?;
        costs.push(begun.elapsed());
    }
    Ok(median(costs))
}

/// The middle one; zero of none.
fn median(mut values: Vec<Duration>) -> Duration {
    values.sort_unstable();
    values.get(values.len() / 2).copied().unwrap_or_default()
}
