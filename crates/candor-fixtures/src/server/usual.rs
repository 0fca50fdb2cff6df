//! What the engine answers by itself: what any honest server would, in both eras.

use super::{Call, Server};
use crate::{
    Fault,
    script::{Before, Era, MODERN, Tool},
};

impl Server<'_> {
    /// Answers a message as the specification says.
    pub(super) fn usual(&mut self, call: Call) -> Result<(), Fault> {
        if let Some(asked) = call.revision()
            && !self.speaks(asked)
        {
            return self.refuse_revision(&call, asked);
        }
        match call.method.as_str() {
            "initialize" => self.initialize(&call),
            "server/discover" if self.speaks(MODERN) => self.discover(&call),
            "ping" if call.era() == Era::Legacy => self.answer(&call, "{}"),
            "tools/list" => self.list_tools(&call),
            "tools/call" => self.call_tool(call),
            "notifications/cancelled" => self.cancelled(&call),
            "notifications/initialized" => Ok(()),
            _ => self.unknown(&call),
        }
    }

    fn speaks(&self, revision: &str) -> bool {
        self.script.revisions.iter().any(|known| known == revision)
    }

    /// Answers with the revision that was asked for if it is known, else with the newest legacy one.
    fn initialize(&mut self, call: &Call) -> Result<(), Fault> {
        let asked = call.text_at("/protocolVersion").unwrap_or_default();
        let mut legacy = self.script.revisions.iter().filter(|known| *known != MODERN);
        let newest = legacy.clone().next_back();
        let Some(revision) = legacy.find(|known| *known == asked).or(newest) else {
            return self.refuse_revision(call, asked);
        };
        let revision = serde_json::Value::from(revision.as_str());
        let (capabilities, server) = (self.script.capabilities.get(), self.script.server.get());
        self.answer(
            call,
            &format!(
                r#"{{"protocolVersion":{revision},"capabilities":{capabilities},"serverInfo":{server}}}"#
            ),
        )
    }

    fn discover(&mut self, call: &Call) -> Result<(), Fault> {
        let supported = serde_json::Value::from(self.script.revisions.clone());
        let (capabilities, server) = (self.script.capabilities.get(), self.script.server.get());
        self.answer(
            call,
            &format!(
                r#"{{"resultType":"complete","supportedVersions":{supported},"capabilities":{capabilities},"_meta":{{"io.modelcontextprotocol/serverInfo":{server}}},"ttlMs":0,"cacheScope":"private"}}"#
            ),
        )
    }

    fn refuse_revision(&mut self, call: &Call, asked: &str) -> Result<(), Fault> {
        let supported = serde_json::Value::from(self.script.revisions.clone());
        let asked = serde_json::Value::from(asked);
        let data = format!(r#"{{"supported":{supported},"requested":{asked}}}"#);
        self.refuse(call, -32022, "Unsupported protocol version", &data)
    }

    fn list_tools(&mut self, call: &Call) -> Result<(), Fault> {
        let size = self.script.page_size.unwrap_or(usize::MAX).max(1);
        let start = match call
            .text_at("/cursor")
            .map(|cursor| cursor.strip_prefix("from-").map(str::parse))
        {
            None => 0,
            Some(Some(Ok(start))) if start < self.listed.len() => start,
            Some(_) => return self.refuse(call, -32602, "Invalid cursor", "null"),
        };
        let page: Vec<&str> = self
            .listed
            .iter()
            .skip(start)
            .take(size)
            .map(|tool| tool.get())
            .collect();
        let next = start.saturating_add(size);
        let cursor = if next < self.listed.len() {
            format!(r#","nextCursor":"from-{next}""#)
        } else {
            String::new()
        };
        // Servers of this era should say who they are in every answer.
        let rest = match call.era() {
            Era::Modern => format!(
                r#","ttlMs":0,"cacheScope":"private","_meta":{{"io.modelcontextprotocol/serverInfo":{}}}"#,
                self.script.server.get()
            ),
            Era::Legacy => String::new(),
        };
        self.answer(
            call,
            &format!(r#"{{"tools":[{}]{cursor}{rest}}}"#, page.join(",")),
        )
    }

    /// Plays the first play of the tool that fits this call.
    fn call_tool(&mut self, mut call: Call) -> Result<(), Fault> {
        let name = call.tool_name().to_owned();
        let script = self.script;
        let Some(tool) = script
            .tools
            .iter()
            .find(|tool| tool.name().as_deref() == Some(&name))
        else {
            return self.refuse(&call, -32602, &format!("Unknown tool: {name}"), "null");
        };
        let count = self.calls_of.entry(name).or_default();
        *count += 1;
        call.count = *count;
        let before = self.before(tool, &call)?;
        match tool.plays.iter().find(|play| call.fits(&play.when, before)) {
            Some(play) => self.play(call, &play.steps),
            None => self.refuse(&call, -32603, "This fixture has no play for such a call", "null"),
        }
    }

    /// What became of such calls before, for a tool that asks; to all others it is nothing, and no file is read.
    fn before(&self, tool: &Tool, call: &Call) -> Result<Before, Fault> {
        if tool.plays.iter().all(|play| play.when.before == Before::Anything) {
            return Ok(Before::Nothing);
        }
        let arguments = call.arguments.clone().unwrap_or_default();
        self.truth.before(call.tool_name(), &arguments)
    }

    /// Writes into the truth that a call was cancelled, and lets it go on if it waits for that.
    fn cancelled(&mut self, notice: &Call) -> Result<(), Fault> {
        let Some(id) = notice.request_id() else {
            return Ok(());
        };
        let reason = notice.text_at("/reason").unwrap_or("no reason given");
        let of_this_id = |one: &&super::Parked<'_>| one.call.id.as_deref() == Some(&id);
        let Some(call) = self.parked.iter().find(of_this_id).map(|one| one.call.clone()) else {
            return Ok(());
        };
        self.tell(&call, false, &format!("cancelled while open: {reason}"))?;
        for one in &mut self.parked {
            if one.call.id == call.id
                && let super::Until::Released(name) = &mut one.until
                && name == "cancelled"
            {
                *name = "cancelled now".to_owned();
            }
        }
        self.release("cancelled now")
    }
}
