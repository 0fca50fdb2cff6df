//! A candor.toml, as far as it can be checked without a server.

use std::env;
use std::path::Path;

use candor_gateway::config::{Config, LoadFault};

use super::finding::{Finding, Part};

/// Loads a configuration; `given` are variables that a host sets for the server.
pub(super) fn look(path: &Path, told: &str, given: &[(&str, &str)]) -> (Option<Config>, Vec<Finding>) {
    let lookup = |name: &str| {
        let own = given.iter().find(|(own, _)| *own == name);
        own.map(|(_, value)| (*value).to_owned())
            .or_else(|| env::var(name).ok())
    };
    match Config::load(path, &lookup) {
        Ok(config) => {
            let what = match config.servers.len() {
                1 => "contracts for 1 server".to_owned(),
                count => format!("contracts for {count} servers"),
            };
            let found = vec![Part::Config.good("config", told, what)];
            (Some(config), found)
        }
        Err(LoadFault::Unreadable { error, .. }) => {
            let todo = "check the path, its owner and mode";
            let what = format!("can't be read: {error}");
            (
                None,
                vec![Part::Config.problem("config_unreadable", told, what, todo)],
            )
        }
        Err(LoadFault::Invalid { faults, .. }) => {
            let found = faults.iter().map(|fault| {
                let place = format!("{told}:{}:{}", fault.line, fault.column);
                let todo = fault
                    .help()
                    .unwrap_or_else(|| "correct it there; see docs/config.md".to_owned());
                Part::Config.problem("config_invalid", place, fault.kind.to_string(), todo)
            });
            (None, found.collect())
        }
    }
}
