//! `anyOf` and `oneOf` with no branch that fits: which branch was meant, and what breaks it.
//!
//! "No branch matched" helps nobody. A branch of another type was not meant, nor was one whose constant member differs
//! from what came; of the rest the one with the fewest faults was. Branches that differ in nothing else are told
//! together.

use jsonschema::ValidationError;
use serde_json::Value;

use super::findings::{Breach, Fault, Wanted};

/// Adds the most useful faults of `branches` to `faults`.
pub(super) fn closest<'e>(
    error: &'e ValidationError<'e>,
    rule: &'e str,
    branches: Vec<Vec<Fault<'e>>>,
    faults: &mut Vec<Fault<'e>>,
) {
    let here = error.instance_path().as_str();
    let count = branches.len();
    let merged = |path: &str, rule, breach| Fault {
        path: path.to_owned(),
        rule,
        breach,
        origin: error,
        alternatives: count,
    };
    if let Some(wanted) = all_types(&branches, here) {
        faults.push(merged(here, "type", Breach::Type(wanted)));
        return;
    }
    if let Some(sets) = all_presence(&branches, here) {
        faults.push(merged(here, rule, Breach::Presence(sets)));
        return;
    }
    let meant: Vec<Vec<Fault<'e>>> = branches
        .into_iter()
        .filter(|branch| !branch.is_empty() && type_at(branch, here).is_none())
        .collect();
    if meant.len() > 1
        && let Some((path, options)) = all_options(&meant, here)
    {
        faults.push(merged(&path, "enum", Breach::Options(options)));
        return;
    }
    let closest = meant
        .into_iter()
        .min_by_key(|branch| branch.iter().map(|fault| weight(fault, here)).sum::<usize>());
    match closest {
        Some(branch) => faults.extend(branch.into_iter().map(|mut fault| {
            fault.alternatives = count;
            fault
        })),
        None => faults.push(merged(here, rule, Breach::Other(error.kind()))),
    }
}

/// The types admitted by all branches together, if the type at `here` is what every branch stumbles over.
fn all_types(branches: &[Vec<Fault<'_>>], here: &str) -> Option<Wanted> {
    branches.iter().try_fold(Wanted::default(), |all, branch| {
        Some(all.or(type_at(branch, here)?))
    })
}

fn type_at(branch: &[Fault<'_>], here: &str) -> Option<Wanted> {
    branch.iter().find_map(|fault| match fault.breach {
        Breach::Type(wanted) if fault.path == here => Some(wanted),
        _ => None,
    })
}

/// The sets of members, if branches differ only in which members they require.
fn all_presence<'e>(branches: &[Vec<Fault<'e>>], here: &str) -> Option<Vec<Vec<&'e str>>> {
    branches
        .iter()
        .map(|branch| {
            let names: Option<Vec<&str>> = branch
                .iter()
                .map(|fault| match fault.breach {
                    Breach::Missing(name) if is_child(&fault.path, here) => Some(name),
                    _ => None,
                })
                .collect();
            names.filter(|names| !names.is_empty())
        })
        .collect()
}

/// The values of all branches together, if each stumbles over a constant at the same place, `here` or a member of it.
fn all_options<'e>(branches: &[Vec<Fault<'e>>], here: &str) -> Option<(String, Vec<&'e Value>)> {
    let first = branches.first()?;
    let places = first
        .iter()
        .filter(|fault| is_option(fault) && (fault.path == here || is_child(&fault.path, here)));
    places.into_iter().find_map(|place| {
        let mut all: Vec<&Value> = Vec::new();
        for branch in branches {
            let options = branch.iter().find_map(|fault| match &fault.breach {
                Breach::Options(options) if fault.path == place.path => Some(options),
                _ => None,
            })?;
            for option in options {
                if !all.contains(option) {
                    all.push(option);
                }
            }
        }
        Some((place.path.clone(), all))
    })
}

fn is_option(fault: &Fault<'_>) -> bool {
    matches!(fault.breach, Breach::Options(_))
}

fn is_child(path: &str, of: &str) -> bool {
    path.strip_prefix(of)
        .and_then(|rest| rest.strip_prefix('/'))
        .is_some_and(|step| !step.contains('/'))
}

/// How much a fault speaks against its branch having been meant.
fn weight(fault: &Fault<'_>, here: &str) -> usize {
    match &fault.breach {
        // A differing constant member is how a tagged union says "not this one".
        Breach::Options(options) if options.len() == 1 && is_child(&fault.path, here) => 100,
        Breach::Options(_) if is_child(&fault.path, here) => 20,
        Breach::Missing(_) => 4,
        Breach::UnknownName | Breach::Type(_) => 3,
        _ => 2,
    }
}
