//! The table of one run, beside the table of the run before.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};

/// One measurement.
#[derive(Debug)]
pub(crate) struct Row {
    pub(crate) load: String,
    pub(crate) window: usize,
    pub(crate) way: String,
    pub(crate) p50: Duration,
    pub(crate) p99: Duration,
    /// Time over all divided by the number of calls.
    pub(crate) each: Duration,
    pub(crate) resident_kb: u64,
}

/// Everything one run measured.
#[derive(Debug, Default)]
pub(crate) struct Report {
    pub(crate) rows: Vec<Row>,
    /// From the start of the process to the answer of `tools/list`.
    pub(crate) starts: Vec<(String, Duration)>,
    /// One synced write of 4 kB.
    pub(crate) sync: Duration,
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

impl Report {
    /// The figures of an earlier run: p50 in µs by load, window and way.
    pub(crate) fn read(place: &Path) -> Option<Value> {
        serde_json::from_str(&fs::read_to_string(place).ok()?).ok()
    }

    /// Keeps the figures for the next run.
    pub(crate) fn write(&self, place: &Path) -> anyhow::Result<()> {
        let rows: Vec<Value> = self
            .rows
            .iter()
            .map(|row| json!({ "load": row.load, "window": row.window, "way": row.way, "p50": micros(row.p50) }))
            .collect();
        fs::write(place, json!({ "rows": rows }).to_string())?;
        Ok(())
    }

    /// The table, in Markdown.
    pub(crate) fn render(&self, before: Option<&Value>) -> String {
        let mut out = String::from(
            "| answer | window | way | p50 µs | added | of direct | p99 µs | calls/s | of direct | MB | added before |\n\
             | --- | ---: | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: | ---: |\n",
        );
        for row in &self.rows {
            let direct = self.rows.iter().find(|direct| {
                direct.way == "direct" && direct.load == row.load && direct.window == row.window
            });
            let (base, base_each) =
                direct.map_or((1.0, 1.0), |direct| (micros(direct.p50), micros(direct.each)));
            let then = earlier(before, row, &row.way).zip(earlier(before, row, "direct"));
            let then = then.map_or_else(String::new, |(way, direct)| format!("{:.0}", way - direct));
            let _ = writeln!(
                out,
                "| {} | {} | {} | {:.0} | {:.0} | {:.2} | {:.0} | {:.0} | {:.2} | {:.1} | {then} |",
                row.load,
                row.window,
                row.way,
                micros(row.p50),
                micros(row.p50) - base,
                micros(row.p50) / base,
                micros(row.p99),
                1e6 / micros(row.each),
                base_each / micros(row.each),
                f64::from(u32::try_from(row.resident_kb).unwrap_or(u32::MAX)) / 1024.0,
            );
        }
        let _ = writeln!(
            out,
            "\nOne synced write of 4 kB on this disk: {:.0} µs.\n",
            micros(self.sync)
        );
        for (way, start) in &self.starts {
            let _ = writeln!(
                out,
                "- start to the first list, {way}: {:.1} ms",
                micros(*start) / 1e3
            );
        }
        out
    }
}

fn earlier(before: Option<&Value>, row: &Row, way: &str) -> Option<f64> {
    let rows = before?.get("rows")?.as_array()?;
    let same = rows.iter().find(|then| {
        then["load"] == row.load.as_str() && then["window"] == row.window && then["way"] == way
    })?;
    same["p50"].as_f64()
}
