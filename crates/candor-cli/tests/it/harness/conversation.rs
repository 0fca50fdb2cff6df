//! What a host says to open a conversation in each era, and the requests it makes then.

use candor_fixtures::script::{Era, MODERN};
use serde_json::{Value, json};

use super::host::Host;

/// A host's side of a conversation: the revision it asks for, and the ids it gives.
#[derive(Debug, Clone)]
pub(crate) struct Opening {
    /// The revision.
    pub(crate) revision: &'static str,
    /// Client capabilities.
    pub(crate) capabilities: Value,
}

impl Opening {
    /// An opening in this revision, by a client that can do what the old eras know.
    pub(crate) fn of(revision: &'static str) -> Self {
        Self {
            revision,
            capabilities: json!({ "elicitation": {}, "sampling": {}, "roots": {} }),
        }
    }

    /// The newest revision of an era.
    pub(crate) fn newest(era: Era) -> Self {
        match era {
            Era::Modern => Self::of(MODERN),
            _ => Self::of("2025-11-25"),
        }
    }

    /// Whether this is the modern era.
    pub(crate) fn is_modern(&self) -> bool {
        self.revision == MODERN
    }

    /// Opens: `initialize` and its notification, or `server/discover`.
    pub(crate) fn open(&self, host: &mut Host) {
        let client = json!({ "name": "candor-tests", "version": "0.0.0" });
        if self.is_modern() {
            host.ask(&self.request("\"open\"", "server/discover", json!({})));
            return;
        }
        let params = json!({ "protocolVersion": self.revision, "capabilities": self.capabilities, "clientInfo": client });
        host.ask(&format!(
            r#"{{"jsonrpc":"2.0","id":"open","method":"initialize","params":{params}}}"#
        ));
        host.send(r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// A request line. A modern one carries what each modern request must.
    pub(crate) fn request(&self, id: &str, method: &str, mut params: Value) -> String {
        if self.is_modern() {
            let meta = &mut params["_meta"];
            meta["io.modelcontextprotocol/protocolVersion"] = self.revision.into();
            meta["io.modelcontextprotocol/clientInfo"] =
                json!({ "name": "candor-tests", "version": "0.0.0" });
            meta["io.modelcontextprotocol/clientCapabilities"] = self.capabilities.clone();
        }
        let method = Value::from(method);
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{method},"params":{params}}}"#)
    }

    /// A call's line.
    pub(crate) fn call(&self, id: &str, tool: &str, arguments: &Value) -> String {
        self.request(id, "tools/call", json!({ "name": tool, "arguments": arguments }))
    }

    /// Lists all tools, page by page, so that Candor has no reason to ask by itself.
    pub(crate) fn list(&self, host: &mut Host) {
        let mut params = json!({});
        for page in 1.. {
            let answer = host.ask(&self.request(&format!("\"list {page}\""), "tools/list", params));
            let answer: Value = serde_json::from_str(&answer).unwrap();
            let Some(cursor) = answer["result"].get("nextCursor") else {
                return;
            };
            params = json!({ "cursor": cursor });
        }
    }
}
