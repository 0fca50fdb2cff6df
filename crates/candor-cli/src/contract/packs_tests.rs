//! Every built-in pack against recorded calls of the server that it is for: good ones and bad ones, without a server.

use std::path::Path;

use candor_gateway::config::{CommandLine, Config};
use candor_gateway::packs::{built_in, input_digest};

use super::recorded::Recorded;
use super::replay::replay;

/// Servers whose every good call needs a network or a database.
const NO_GOOD_CALL: [&str; 3] = ["mysql", "context7", "awsdocs"];

#[test]
fn every_pack_judges_its_recorded_calls_as_expected() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../contracts/recorded");
    let mut faults = Vec::new();
    for pack in built_in().unwrap() {
        let recorded = Recorded::load(&folder.join(format!("{}.jsonl", pack.name))).unwrap();
        let (mut lowered, mut left) = (0, 0);
        for (name, definition) in &recorded.tools {
            let known = pack.digests.get(name);
            let fits = known.is_none_or(|known| known.contains(&input_digest(definition).unwrap()));
            assert!(fits, "{}: another schema of {name} was recorded", pack.name);
        }
        for call in &recorded.calls {
            let place = format!("{}.jsonl:{} {}", pack.name, call.line, call.tool);
            let nothing = CommandLine::default();
            let terms =
                |tool: &str| Config::default().for_tool_over("", tool, &nothing, pack.tools.get(tool));
            let definition = recorded.tools.get(&call.tool).map(AsRef::as_ref);
            assert!(definition.is_some(), "{place}: its definition is not recorded");
            let found = replay(call, definition, &terms).unwrap();
            let expected = call
                .expect
                .as_ref()
                .unwrap_or_else(|| panic!("{place}: nothing is expected"));
            let differs = found.differs(expected);
            if !differs.is_empty() {
                faults.push(format!("{place}: {}\n  {}", differs.join("; "), found.text));
            }
            if found.flagged {
                lowered += 1;
            } else {
                left += 1;
            }
        }
        // A pack that flags nothing is of no use, and one that leaves nothing alone is wrong.
        let has_good = !NO_GOOD_CALL.contains(&pack.name.as_str());
        assert!(
            lowered > 0 && (left > 0) == has_good,
            "{}: {lowered}, {left}",
            pack.name
        );
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
