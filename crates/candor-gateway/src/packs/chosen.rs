//! Which pack holds for the server of a session, and for which of its tools.

use std::collections::BTreeSet;

use candor_core::names::ToolName;
use serde_json::value::RawValue;

use super::digest::input_digest;
use super::origin::Origin;
use crate::config::{Pack, ToolConfig};

/// The packs that may be applied in one session, and the one that is.
#[derive(Debug, Default)]
pub struct Packs {
    known: Vec<Pack>,
    origin: Option<Origin>,
    chosen: Option<Chosen>,
}

#[derive(Debug)]
struct Chosen {
    /// Its place among those that are known.
    at: usize,
    /// How it was found.
    by: By,
    /// Its tools whose schemas are those that it was written for.
    fitting: BTreeSet<String>,
    /// Its tools that were said not to fit.
    told: BTreeSet<String>,
}

/// How a pack was found to be the server's.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum By {
    /// Package and version are those that it names.
    Version,
    /// Package or server have its name, their version is not known: only what schemas prove counts.
    Name,
}

impl Packs {
    /// These packs, for a server of this origin. Of two that fit, the first is applied.
    pub fn new(known: Vec<Pack>, origin: Option<Origin>) -> Self {
        let mut packs = Self {
            known,
            origin,
            chosen: None,
        };
        if let Some(origin) = packs.origin.clone() {
            packs.choose(|pack| fits_origin(pack, &origin));
        }
        packs
    }

    /// Does any of them offer a tool as a task?
    pub fn offer_tasks(&self) -> bool {
        let tools = self.known.iter().flat_map(|pack| pack.tools.values());
        tools.into_iter().any(ToolConfig::is_task)
    }

    /// The server says its name. It counts only where the command does not tell the package.
    pub fn note_name(&mut self, name: &str) {
        if self.origin.is_none() && self.chosen.is_none() {
            self.choose(|pack| pack.servers.iter().any(|known| known == name).then_some(By::Name));
        }
    }

    fn choose(&mut self, fits: impl Fn(&Pack) -> Option<By>) {
        let found = self
            .known
            .iter()
            .enumerate()
            .find_map(|(at, pack)| Some((at, pack, fits(pack)?)));
        self.chosen = found.map(|(at, pack, by)| {
            tracing::info!(pack = %pack.name, "a contract pack is applied");
            Chosen {
                at,
                by,
                fitting: BTreeSet::new(),
                told: BTreeSet::new(),
            }
        });
    }

    /// The server's tools are known: those with other schemas than the pack was written for get none of its clauses.
    pub fn check<'d>(&mut self, definitions: impl Iterator<Item = (&'d ToolName, &'d RawValue)>) {
        let Some(chosen) = &mut self.chosen else { return };
        let Some(pack) = self.known.get(chosen.at) else {
            return;
        };
        chosen.fitting.clear();
        for (name, definition) in definitions {
            let name = name.as_str();
            let Some(known) = pack.digests.get(name) else {
                continue;
            };
            if input_digest(definition).is_some_and(|digest| known.contains(&digest)) {
                chosen.fitting.insert(name.to_owned());
            } else if chosen.told.insert(name.to_owned()) {
                tracing::warn!(
                    pack = %pack.name, tool = %name,
                    "the tool's input schema is not the one that the pack was written for; no clause of the pack holds for it"
                );
            }
        }
    }

    /// What the pack says of a tool.
    pub fn tool(&self, name: &ToolName) -> Option<&ToolConfig> {
        let chosen = self.chosen.as_ref()?;
        let pack = self.known.get(chosen.at)?;
        let tool = pack.tools.get(name.as_str())?;
        let counts = match (pack.digests.contains_key(name.as_str()), chosen.by) {
            (true, _) => chosen.fitting.contains(name.as_str()),
            (false, By::Version) => true,
            (false, By::Name) => false,
        };
        counts.then_some(tool)
    }
}

fn fits_origin(pack: &Pack, origin: &Origin) -> Option<By> {
    if pack.package != origin.package {
        return None;
    }
    match &origin.version {
        None => Some(By::Name),
        Some(version) if pack.versions.contain(version) => Some(By::Version),
        Some(version) => {
            tracing::warn!(
                pack = %pack.name, %version,
                "a contract pack knows this package, and not this version of it; it is not applied"
            );
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOOL: &str = r#"{"name":"a","inputSchema":{"type":"object"}}"#;
    const CHANGED: &str = r#"{"name":"a","inputSchema":{"type":"object","required":["x"]}}"#;

    fn definition(text: &str) -> Box<RawValue> {
        RawValue::from_string(text.to_owned()).unwrap()
    }

    fn pack() -> Pack {
        let digest = input_digest(&definition(TOOL)).unwrap();
        let text = format!(
            "package = \"npm:p\"\nversions = \">=1, <2\"\nserver = [\"p-server\"]\n\
             [digests]\na = [\"{digest}\"]\n[tools.a]\neffect = \"read\"\n[tools.b]\neffect = \"read\"\n"
        );
        Pack::parse("p", &text).unwrap()
    }

    /// Which of the tools `a` and `b` get clauses.
    fn applied(command: &str, name: &str, listed: Option<&str>) -> (bool, bool) {
        let words: Vec<&str> = command.split(' ').collect();
        let mut packs = Packs::new(vec![pack()], Origin::of_command(&words));
        packs.note_name(name);
        if let Some(listed) = listed {
            let tool = ToolName::from("a");
            packs.check(std::iter::once((&tool, &*definition(listed))));
        }
        let has = |tool: &str| packs.tool(&ToolName::from(tool)).is_some();
        (has("a"), has("b"))
    }

    #[test]
    fn a_pack_holds_for_its_package_version_and_tools() {
        assert_eq!(applied("npx p@1.5.0", "x", Some(TOOL)), (true, true));
        assert_eq!(
            applied("npx p", "x", Some(TOOL)),
            (true, false),
            "the version is not known"
        );
        assert_eq!(
            applied("./run", "p-server", Some(TOOL)),
            (true, false),
            "only the name is known"
        );
    }

    #[test]
    fn it_does_not_hold_for_another_version_package_server_or_schema() {
        assert_eq!(applied("npx p@2.0.0", "p-server", Some(TOOL)), (false, false));
        assert_eq!(applied("npx q@1.5.0", "p-server", Some(TOOL)), (false, false));
        assert_eq!(applied("./run", "q-server", Some(TOOL)), (false, false));
        assert_eq!(applied("npx p@1.5.0", "x", Some(CHANGED)), (false, true));
        assert_eq!(
            applied("npx p@1.5.0", "x", None),
            (false, true),
            "the list is not known"
        );
        assert_eq!(applied("./run", "p-server", None), (false, false));
    }
}
