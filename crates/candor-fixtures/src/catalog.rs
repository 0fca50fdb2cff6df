//! The scripts that come with this crate, and how a script is found and checked.

use std::path::Path;

use serde::Deserialize;

use crate::{
    Fault,
    script::{Script, Step, Tool},
};

/// A script that comes with this crate.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Embedded {
    /// The name it is asked for by.
    pub name: &'static str,
    /// Its JSON text.
    pub text: &'static str,
}

macro_rules! embed {
    ($($name:literal),+ $(,)?) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../scripts/", $name, ".json")) }),+]
    };
}

/// Every script that comes with this crate: the demo's first, then the faults.
pub const CATALOG: &[Embedded] = embed![
    // The demo.
    "rooms", "flights", "reports", "tickets", "notes", "payments",
    // The faults: every way a call can end.
    "results", "mapped", "errors", "broken", "silence", "asking", "pages", "stale", "unlisted", "noise",
    "gone", "echo", "look",
];

impl Embedded {
    /// Its script, read and checked.
    ///
    /// # Errors
    ///
    /// None for those that come with this crate: a test reads them all.
    pub fn script(&self) -> Result<Script, Fault> {
        parse(self.name, self.text)
    }
}

/// The embedded script of this name.
///
/// # Errors
///
/// [`Fault::UnknownName`] with the names there are.
pub fn embedded(name: &str) -> Result<Script, Fault> {
    CATALOG
        .iter()
        .find(|entry| entry.name == name)
        .ok_or_else(|| unknown(name))?
        .script()
}

/// The script of this name, or in this file.
///
/// # Errors
///
/// No such name or file, or not a script.
pub fn load(source: &Path) -> Result<Script, Fault> {
    let name = source.to_string_lossy();
    if let Some(entry) = CATALOG.iter().find(|entry| entry.name == name) {
        return entry.script();
    }
    let text = std::fs::read_to_string(source).map_err(|fault| Fault::File {
        path: source.to_owned(),
        source: fault,
    })?;
    parse(&name, &text)
}

/// Reads a script and checks what its types can't: every play says what really happened, and every list is there.
///
/// # Errors
///
/// [`Fault::Script`] or [`Fault::ScriptSilent`], with the place.
pub fn parse(name: &str, text: &str) -> Result<Script, Fault> {
    let script: Script = serde_json::from_str(text).map_err(|source| Fault::Script {
        name: name.to_owned(),
        source,
    })?;
    let silent = |what: String| Fault::ScriptSilent {
        name: name.to_owned(),
        what,
    };
    for tool in &script.tools {
        let tool_name = tool
            .name()
            .ok_or_else(|| silent("a tool's definition has no name".to_owned()))?;
        for (at, play) in tool.plays.iter().enumerate() {
            if !play
                .steps
                .iter()
                .any(|step| matches!(step, Step::Done(_) | Step::Undone(_)))
            {
                return Err(silent(format!(
                    "play {at} of {tool_name} has neither \"done\" nor \"undone\""
                )));
            }
        }
    }
    let plays = script
        .tools
        .iter()
        .flat_map(|tool| &tool.plays)
        .flat_map(|play| &play.steps);
    for step in plays
        .chain(script.methods.values().flatten())
        .chain(&script.start)
    {
        if let Step::Relist(list) = step
            && !script.lists.contains_key(list)
        {
            return Err(silent(format!("there is no list \"{list}\" to relist")));
        }
    }
    Ok(script)
}

impl Tool {
    /// The name in its definition.
    #[must_use]
    pub fn name(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Named {
            name: String,
        }
        serde_json::from_str::<Named>(self.definition.get())
            .ok()
            .map(|named| named.name)
    }
}

fn unknown(name: &str) -> Fault {
    let known: Vec<_> = CATALOG.iter().map(|entry| entry.name).collect();
    Fault::UnknownName {
        name: name.to_owned(),
        known: known.join(", "),
    }
}
