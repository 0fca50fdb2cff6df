//! `candor ledger prune`: what would go, what holds the rest, and with `--apply` the deed.

use std::io::{self, Write};

use candor_core::names::OperationId;
use candor_gateway::clock;
use candor_ledger::{
    Held, HeldBecause, Ledger, OpenOptions, PrunePlan, Pruned, Reader, Retention, Verification,
};
use serde_json::{Value, json};

use super::args::PruneArgs;
use super::{sizes, verify};
use crate::calls::say_notes;
use crate::exit::Exit;
use crate::screen::{self, Screen};
use crate::table::{Cell, Column, Tone, render};
use crate::{place, times};

/// How many lines of each list are printed.
const LINES: usize = 20;

/// What was done, and what the ledger looks like now.
struct Done {
    pruned: Pruned,
    verification: Verification,
}

pub(crate) fn run(args: &PruneArgs) -> anyhow::Result<Exit> {
    let reader = Reader::open(&place::ledger(&args.place)?)?;
    if say_notes(&reader) {
        return Ok(Exit::USAGE);
    }
    let retention = Retention {
        age: args.older_than,
        bytes: args.max_size,
    };
    let (plan, done) = if args.apply {
        let (plan, pruned) = apply(&reader, &retention)?;
        let verification = reader.verify()?;
        let done = Done { pruned, verification };
        (plan, Some(done))
    } else {
        (reader.prune_plan(&retention, clock::now().0)?, None)
    };
    screen::print(|out| {
        if args.json {
            let value = as_json(&reader, &retention, &plan, done.as_ref());
            return writeln!(out, "{}", screen::pretty_json(&value));
        }
        print(out, &reader, &retention, &plan, Screen::of_stdout())?;
        match &done {
            None => print_how(out, &plan),
            Some(done) => print_done(out, done),
        }
    })?;
    let sound = done.is_none_or(|done| done.verification.is_clean());
    Ok(if sound { Exit::GOOD } else { Exit::FINDINGS })
}

/// Plans anew with the right to write, and does it.
fn apply(reader: &Reader, retention: &Retention) -> anyhow::Result<(PrunePlan, Pruned)> {
    let options = OpenOptions {
        retention: None,
        ..OpenOptions::default()
    };
    let ledger = Ledger::open(reader.place(), options)?.ledger;
    let plan = ledger.prune_plan(retention, clock::now().0)?;
    let pruned = ledger.prune(&plan)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .build()?;
    runtime.block_on(ledger.close())?;
    Ok((plan, pruned))
}

fn because(held: &Held) -> &'static str {
    match held.because {
        HeldBecause::Open => "open: it has no verdict yet",
        HeldBecause::Unsettled => "unsettled: nobody knows yet what became of it",
        HeldBecause::Damaged => "records before it are missing; candor ledger verify says more",
    }
}

fn word(because: HeldBecause) -> &'static str {
    match because {
        HeldBecause::Open => "open",
        HeldBecause::Unsettled => "unsettled",
        HeldBecause::Damaged => "damaged",
    }
}

const CUTS: [Column; 4] = [
    Column::fixed("instance").cut_to(8),
    Column::fixed("from..to"),
    Column::fixed("records").right(),
    Column::fixed("about").right(),
];

const HELD: [Column; 5] = [
    Column::fixed("id"),
    Column::fixed("since").left_out(1),
    Column::fixed("server").cut_to(5).left_out(2),
    Column::fixed("tool").cut_to(10),
    Column::fixed("why it stays"),
];

fn print(
    out: &mut dyn Write,
    reader: &Reader,
    retention: &Retention,
    plan: &PrunePlan,
    screen: Screen,
) -> io::Result<()> {
    let place = reader.place().display().to_string();
    writeln!(out, "Ledger: {} (times are UTC)", screen::line(&place))?;
    let age = u64::try_from(retention.age.as_millis()).unwrap_or(u64::MAX);
    writeln!(
        out,
        "What may go: calls older than {}, and the oldest beyond {} together.",
        times::span(age),
        sizes::shown(retention.bytes)
    )?;
    if plan.is_empty() {
        writeln!(out, "\nNothing is to go.")?;
    } else if plan.keys > 0 {
        let keys = verify::count(plan.keys, "idempotency key");
        writeln!(
            out,
            "\nTo go: {keys} of calls that were settled a day ago or longer."
        )?;
    }
    if plan.records() > 0 {
        writeln!(
            out,
            "\nTo go: {}, about {}.",
            verify::count(plan.records(), "record"),
            sizes::shown(plan.bytes())
        )?;
        let rows: Vec<Vec<Cell>> = plan
            .cuts
            .iter()
            .take(LINES)
            .map(|cut| {
                vec![
                    Cell::new(cut.instance.to_string()),
                    Cell::new(format!("{}..{}", cut.from, cut.through)),
                    Cell::new(cut.records.to_string()),
                    Cell::new(sizes::shown(cut.bytes)),
                ]
            })
            .collect();
        table(out, &CUTS, &rows, plan.cuts.len(), screen)?;
    }
    if !plan.held.is_empty() {
        writeln!(out, "\nOld enough, and stays:")?;
        let rows: Vec<Vec<Cell>> = plan.held.iter().take(LINES).map(held_row).collect();
        table(out, &HELD, &rows, plan.held.len(), screen)?;
    }
    Ok(())
}

fn held_row(held: &Held) -> Vec<Cell> {
    vec![
        Cell::new(OperationId::new(held.operation).short()),
        Cell::toned(times::moment(held.at_ms), Tone::Faint),
        Cell::new(screen::line(&held.server)),
        Cell::new(screen::line(&held.tool)),
        Cell::toned(because(held), Tone::Open),
    ]
}

fn table(
    out: &mut dyn Write,
    columns: &[Column],
    rows: &[Vec<Cell>],
    all: usize,
    screen: Screen,
) -> io::Result<()> {
    for line in render(columns, rows, screen).lines {
        writeln!(out, "  {line}")?;
    }
    if all > rows.len() {
        writeln!(out, "  and {} more; --json tells all", all - rows.len())?;
    }
    Ok(())
}

fn print_how(out: &mut dyn Write, plan: &PrunePlan) -> io::Result<()> {
    if plan.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "\nNothing was changed. The same command with --apply does it. The file does not shrink: freed pages are used again."
    )
}

fn print_done(out: &mut dyn Write, done: &Done) -> io::Result<()> {
    writeln!(out, "\nGone: {}.", verify::count(done.pruned.records, "record"))?;
    let left = verify::count(done.verification.entries(), "record");
    if done.verification.is_clean() {
        return writeln!(out, "What is left was verified: {left}, all hold.");
    }
    writeln!(
        out,
        "What is left ({left}) is NOT as it was written: candor ledger verify says where."
    )
}

fn as_json(reader: &Reader, retention: &Retention, plan: &PrunePlan, done: Option<&Done>) -> Value {
    json!({
        "ledger": reader.place().display().to_string(),
        "olderThanMs": u64::try_from(retention.age.as_millis()).unwrap_or(u64::MAX),
        "maxBytes": retention.bytes,
        "records": plan.records(),
        "bytes": plan.bytes(),
        "cuts": plan.cuts.iter().map(|cut| json!({
            "instance": cut.instance,
            "from": cut.from,
            "through": cut.through,
            "records": cut.records,
            "bytes": cut.bytes,
        })).collect::<Vec<_>>(),
        "keys": plan.keys,
        "held": plan.held.iter().map(|held| json!({
            "operationId": held.operation,
            "server": held.server,
            "tool": held.tool,
            "at": times::stamp(held.at_ms),
            "instance": held.instance,
            "sequence": held.sequence,
            "because": word(held.because),
        })).collect::<Vec<_>>(),
        "applied": done.map(|done| json!({
            "records": done.pruned.records,
            "clean": done.verification.is_clean(),
            "left": done.verification.entries(),
        })),
    })
}

#[cfg(test)]
mod tests {
    use candor_ledger::Cut;
    use uuid::Uuid;

    use super::*;
    use crate::written::{BEGIN, Written};

    fn plan() -> PrunePlan {
        let held = |id: u128, because| Held {
            instance: Uuid::nil(),
            sequence: 3,
            operation: Uuid::from_u128(id),
            server: "rooms".into(),
            tool: "book\u{1b}[2J".into(),
            at_ms: BEGIN,
            because,
        };
        PrunePlan {
            cuts: (0..22)
                .map(|number| Cut {
                    instance: Uuid::nil(),
                    from: number * 10 + 1,
                    through: number * 10 + 8,
                    records: 8,
                    bytes: 4_000,
                })
                .collect(),
            held: vec![
                held(0x8f2c_1a90, HeldBecause::Unsettled),
                held(0x8f2c_1a91, HeldBecause::Open),
                held(0x8f2c_1a92, HeldBecause::Damaged),
            ],
            keys: 2,
            keys_until_ms: BEGIN,
        }
    }

    #[test]
    fn a_plan_names_what_goes_and_what_stays_and_why() {
        let written = Written::new();
        let screen = Screen {
            width: Some(100),
            colour: false,
        };
        let mut out = Vec::new();
        print(
            &mut out,
            &written.reader(),
            &Retention::default(),
            &plan(),
            screen,
        )
        .unwrap();
        print_how(&mut out, &plan()).unwrap();
        insta::assert_snapshot!("plan", written.fixed(&String::from_utf8(out).unwrap()));
        let value = as_json(&written.reader(), &Retention::default(), &plan(), None);
        assert_eq!(value["held"][2]["because"], "damaged");
        assert_eq!(
            (&value["records"], &value["applied"]),
            (&json!(176), &Value::Null)
        );
    }

    #[test]
    fn an_empty_plan_says_so_and_offers_nothing() {
        let written = Written::new();
        let screen = Screen {
            width: None,
            colour: false,
        };
        let mut out = Vec::new();
        let nothing = PrunePlan::default();
        print(
            &mut out,
            &written.reader(),
            &Retention::default(),
            &nothing,
            screen,
        )
        .unwrap();
        print_how(&mut out, &nothing).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.ends_with("Nothing is to go.\n"), "{text}");
    }
}
