//! Carries `candor doctor` out: looks at one part after the other, then tells all.

use anyhow::bail;
use candor_gateway::clock;

use super::args::DoctorArgs;
use super::finding::{Finding, Weight};
use super::{config, hosts, ledger, probe, report};
use crate::exit::Exit;
use crate::import::hosts::Surroundings;
use crate::place;
use crate::screen::{self, Screen};

pub(crate) fn run(args: &DoctorArgs) -> anyhow::Result<Exit> {
    if let Some(absent) = args.files.iter().find(|file| !file.exists()) {
        bail!("{} is not there; name a host's config that is", absent.display());
    }
    let findings = look(args)?;
    screen::print(|out| {
        if args.json {
            writeln!(out, "{}", screen::pretty_json(&report::json(&findings)))
        } else {
            out.write_all(report::text(&findings, Screen::of_stdout()).as_bytes())
        }
    })?;
    let is_clean = findings.iter().all(|finding| finding.weight != Weight::Problem);
    Ok(if is_clean { Exit::GOOD } else { Exit::FINDINGS })
}

fn look(args: &DoctorArgs) -> anyhow::Result<Vec<Finding>> {
    let around = Surroundings::of_process();
    let seen = hosts::look(&around, &args.files);
    let mut findings = seen.findings;
    if args.probe {
        findings.extend(probe::look(&seen.targets, args.timeout));
    }
    let mut configured = None;
    if let Some(path) = &args.config {
        let (config, found) = config::look(path, &around.told(path), &[]);
        findings.extend(found);
        configured = config.and_then(|config| config.ledger);
    }
    // The same order as for a wrapped server: what was typed, what is configured, the usual place.
    let place = match (&args.place.ledger, configured) {
        (None, Some(configured)) => configured.value.into(),
        _ => place::ledger(&args.place)?,
    };
    let mut places = vec![place];
    for other in seen.ledgers {
        if !places.contains(&other) {
            places.push(other);
        }
    }
    let now_ms = clock::now().0;
    findings.push(ledger::clock(now_ms));
    for place in &places {
        findings.extend(ledger::look(place, &around.told(place), now_ms));
    }
    Ok(findings)
}
