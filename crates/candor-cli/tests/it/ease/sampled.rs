//! What the samples say before and after, read by readers that are not Candor's.

use serde_json::Value;

use super::machine::Sample;

/// What a sample says, read by a reader that is not Candor's. Comments and trailing commas are what such a reader
/// does not know; those of the samples are simple enough to be taken out here.
pub(super) fn parsed(sample: &Sample, text: &str) -> Value {
    if sample.place.ends_with(".toml") {
        let table: toml::Table = text.parse().unwrap();
        return serde_json::to_value(table).unwrap();
    }
    let mut plain = String::new();
    for line in text.lines() {
        let line = match line
            .find("// ")
            .filter(|at| *at == 0 || line[..*at].ends_with([' ', '\t']))
        {
            Some(at) => &line[..at],
            None => line,
        };
        let line = match (line.find("/*"), line.find("*/")) {
            (Some(start), Some(end)) => format!("{}{}", &line[..start], &line[end + 2..]),
            _ => line.to_owned(),
        };
        plain.push_str(line.trim());
    }
    let plain = plain.replace(", }", "}").replace(",}", "}").replace(",]", "]");
    serde_json::from_str(&plain).unwrap_or_else(|fault| panic!("{}: {fault}\n{plain}", sample.host))
}

/// The table of a sample that holds command, args and env of a server.
pub(super) fn launch<'a>(config: &'a Value, name: &str) -> &'a Value {
    if let Some(index) = name.strip_prefix('#') {
        let index: usize = index.parse().unwrap();
        return &config["experimental"]["modelContextProtocolServers"][index - 1]["transport"];
    }
    let servers = ["mcpServers", "servers", "context_servers", "mcp_servers"];
    let entry = servers
        .iter()
        .find_map(|key| config.get(key))
        .unwrap()
        .get(name)
        .unwrap();
    if entry["command"].is_object() {
        &entry["command"]
    } else {
        entry
    }
}

pub(super) fn words(launch: &Value) -> Vec<String> {
    let command = launch.get("path").unwrap_or(&launch["command"]).as_str().unwrap();
    let args = launch
        .get("args")
        .and_then(Value::as_array)
        .cloned()
        .unwrap_or_default();
    let args = args.iter().map(|word| word.as_str().unwrap().to_owned());
    [command.to_owned()].into_iter().chain(args).collect()
}
