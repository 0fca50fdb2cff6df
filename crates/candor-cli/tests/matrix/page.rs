//! `docs/fault-matrix.md`: the matrix as a table.

use std::path::Path;

use crate::{
    class::Class,
    fault::Fault,
    seen::{Claim, Record, Seen},
};

/// Where the page is.
const PAGE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/fault-matrix.md");

const HEAD: &str = "\
# The fault matrix

What Candor claims when things go wrong, against what really happened. Every row is a fault, every column a class of
call. Each cell is played with real processes: a server that books rooms and writes every call it gets and every booking it
makes to a file, Candor before it, and a host. Then Candor is started once more, with the server well again. A cell has three lines:

- *told*: what the caller was told, by the first words of the answer where Candor wrote it, else by outcome and effect; `nothing` where no
  answer came, because Candor was killed;
- *recorded*: what `candor calls` says in the end, and on what evidence; `nothing` where no such call is in the ledger. A read's record waits
  for nobody, so where Candor is killed as soon as the verdict is there, it has reached the disk or not: `nothing or` what it says if it has;
- *truth*: what the server's file says in the end.

These laws hold for every cell, and the test fails where one does not:

- no claim goes beyond the truth: `completed` and `applied` only where there is exactly the one booking, `not_applied` only where there is none;
- a read changes nothing;
- nothing is sent twice but what may be repeated, and no more calls came than Candor counts attempts;
- with read-back nothing stays unknown once the server answers again;
- what nobody knows the end of is on the list of `candor calls --unsettled`, and nothing that is known is;
- every intent on disk has an end after the restart, and the ledger verifies;
- what a caller was told stands in the ledger, or the answer itself said `recorded: false`; that of a known read claims nothing of its
  record, which waits for nobody.

`cargo test -p candor-cli --test matrix` plays it; `UPDATE=1` before it writes this page. `CANDOR_MATRIX='crash before'` plays the
cells with that in their name and prints all that was seen of them.

The contracts: *read* is declared to only read. A *write* has its outcome read from a field. An *idempotent write* has that, and may be sent twice
in all. A *write with read-back* has a tool that lists the bookings; while the fault lasts that one is not answered either, or, in the last
column, it is. Its contract names a window, after which the server is no more at work on a call: 1 s, and 8 s where the server does the work
late.

";

/// Holds the page to what was seen, or writes it.
pub(crate) fn check(seen: &[Seen]) {
    let page = format!("{HEAD}{}", table(seen));
    if std::env::var_os("UPDATE").is_some() {
        std::fs::write(PAGE, page).unwrap();
        return;
    }
    let written = std::fs::read_to_string(Path::new(PAGE)).unwrap_or_default();
    let differs = page.lines().zip(written.lines()).find(|(now, then)| now != then);
    assert!(
        page == written,
        "docs/fault-matrix.md is not what was seen; UPDATE=1 writes it. The first difference, now and then:\n{differs:#?}"
    );
}

fn table(seen: &[Seen]) -> String {
    let columns: Vec<&str> = Class::ALL.iter().map(|class| class.name()).collect();
    let mut table = format!(
        "| fault | {} |\n|{}\n",
        columns.join(" | "),
        " --- |".repeat(columns.len() + 1)
    );
    for (fault, row) in Fault::ALL.iter().zip(seen.chunks(Class::ALL.len())) {
        let cells = Class::ALL
            .iter()
            .zip(row)
            .map(|(class, seen)| cell(*fault, *class, seen));
        table += &format!(
            "| {} | {} |\n",
            fault.name(),
            cells.collect::<Vec<_>>().join(" | ")
        );
    }
    table
}

/// The record of a read, whole.
const READ: &str = "reported, not_applied (asserted)";

fn cell(fault: Fault, class: Class, seen: &Seen) -> String {
    let told = match &seen.told {
        None => "nothing".to_owned(),
        Some(told) => {
            let words = if seen.opening.chars().any(char::is_lowercase) || seen.opening.is_empty() {
                words(told)
            } else {
                format!("**{}**", seen.opening)
            };
            if told.record == Record::Missing {
                format!("{words}, not recorded")
            } else {
                words
            }
        }
    };
    let recorded = match &seen.recorded {
        None => "nothing".to_owned(),
        Some(claim) => format!("{} ({})", words(claim), claim.evidence),
    };
    let recorded = if fault.races_a_read() && class == Class::Read && ["nothing", READ].contains(&&*recorded)
    {
        format!("nothing or {READ}")
    } else {
        recorded
    };
    let times = |count: usize| match count {
        0 => "never".to_owned(),
        1 => "once".to_owned(),
        more => format!("{more} times"),
    };
    let mut truth = format!("asked {}", times(seen.truth.received));
    if class.writes() {
        truth += &format!(", booked {}", times(seen.truth.done));
    }
    format!("told: {told}<br>recorded: {recorded}<br>truth: {truth}")
}

fn words(claim: &Claim) -> String {
    format!("{}, {}", claim.outcome, claim.effect)
}
