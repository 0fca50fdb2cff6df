//! Saying that there are tasks: among what the server can do, and of each tool that is offered as one.

use candor_core::delivery::task::EXTENSION;
use candor_core::names::ToolName;
use candor_core::wire::decode::{Handshake, Implementation, ToolsPage};
use candor_core::wire::encode::{Edits, add_members, span};
use candor_core::wire::envelope::{Body, Message, Response, read};
use candor_core::wire::members::{Opened, object};
use candor_core::wire::method::Method;
use candor_core::wire::revision::{Era, Revision};

use crate::recorder::Recorder;
use crate::session::state::Session;

/// No list: it would hold what others began, and nobody needs it who was given an id (2025-11-25, tasks, capabilities).
const CAPABILITY: &str = "\"tasks\":{\"cancel\":{},\"requests\":{\"tools\":{\"call\":{}}}}";

impl Session {
    /// Does any contract offer a tool as a task, and is there a record to keep one?
    pub(super) fn offers_tasks(&self) -> bool {
        matches!(self.recorder, Recorder::Ledger(_))
            && (self.config.offers_tasks() || self.packs.offer_tasks())
    }

    /// The server's answer with what is offered as a task, where it is the answer to a question for that.
    pub(in crate::session) fn with_tasks(&mut self, method: Method, frame: String) -> String {
        let asked = matches!(method, Method::Initialize | Method::Discover | Method::ToolsList);
        if !asked || !self.offers_tasks() {
            return frame;
        }
        let Ok(Message::Response(Response {
            body: Body::Result(result),
            ..
        })) = read(&frame)
        else {
            return frame;
        };
        let edits = match method {
            Method::Initialize | Method::Discover => self.announced_tasks(&frame, &result),
            _ => self.with_support(&frame, &result),
        };
        edits.map_or_else(|| frame.clone(), |edits| edits.apply(&frame))
    }

    /// A server that takes tasks itself is left to it.
    fn announced_tasks(&mut self, frame: &str, result: &Opened<'_>) -> Option<Edits> {
        let handshake = Handshake::read(result.raw())?;
        let capabilities = handshake.capabilities.map(|raw| Opened::whole(raw.get()))?;
        // `server/discover` belongs to the modern era, whatever else it says.
        let revision = handshake.revision().unwrap_or(Revision::V2026_07_28);
        let mut edits = Edits::new();
        let (place, member) = match revision {
            Revision::V2025_11_25 => {
                self.tasks.server_takes_them = capabilities.member("tasks").is_some();
                (span(frame, capabilities.raw())?, CAPABILITY.to_owned())
            }
            revision if revision.era() == Era::Modern => {
                let extensions = capabilities
                    .member("extensions")
                    .map(Opened::whole)
                    .filter(Opened::is_object);
                let own = format!("\"{EXTENSION}\":{{}}");
                match extensions {
                    Some(extensions) => {
                        self.tasks.server_takes_them = extensions.member(EXTENSION).is_some();
                        (span(frame, extensions.raw())?, own)
                    }
                    None => (
                        span(frame, capabilities.raw())?,
                        format!("\"extensions\":{{{own}}}"),
                    ),
                }
            }
            _ => return None,
        };
        if self.tasks.server_takes_them {
            tracing::info!(server = %self.name(), "the server takes tasks itself; \"task = true\" of its contracts is left out");
            return None;
        }
        let (at, what) = add_members(frame, &place, &member)?;
        edits.insert(at, what);
        Some(edits)
    }

    /// Only 2025-11-25 says it of each tool.
    fn with_support(&self, frame: &str, result: &Opened<'_>) -> Option<Edits> {
        if self.revision_in_force() != Revision::V2025_11_25 || self.tasks.server_takes_them {
            return None;
        }
        let page: ToolsPage<'_> = object(result.raw())?;
        let terms = self.terms();
        let mut edits = Edits::new();
        for tool in page.tools.iter().map(|tool| tool.get()) {
            let offered = Implementation::name_in(tool)
                .is_some_and(|name| terms(&ToolName::from(name.as_ref())).task.value);
            let insert = offered.then(|| support(frame, tool)).flatten();
            if let Some((at, what)) = insert {
                edits.insert(at, what);
            }
        }
        (!edits.is_empty()).then_some(edits)
    }
}

/// What a tool's definition lacks to be offered; nothing where it says something of its own.
fn support(frame: &str, tool: &str) -> Option<(usize, String)> {
    let tool = Opened::whole(tool);
    match tool.member("execution").map(Opened::whole) {
        Some(execution) if execution.member("taskSupport").is_some() => None,
        Some(execution) => add_members(
            frame,
            &span(frame, execution.raw())?,
            "\"taskSupport\":\"optional\"",
        ),
        None => add_members(
            frame,
            &span(frame, tool.raw())?,
            "\"execution\":{\"taskSupport\":\"optional\"}",
        ),
    }
}
