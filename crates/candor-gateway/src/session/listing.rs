//! Candor's own `tools/list`: asked for once when a call comes first, and before a call is refused.

use std::time::Duration;

use candor_core::call::machine::Event;
use candor_core::wire::envelope::Body;
use candor_core::wire::revision::Era;
use tokio::time::Instant;

use super::pending::{Asked, CallKey};
use super::state::{Server, Session};
use super::timers::Timer;
use crate::catalogue::{Pages, Turned};

/// How long the server has for one page.
const PATIENCE: Duration = Duration::from_secs(10);

/// A listing under way.
#[derive(Debug)]
pub(super) struct Listing {
    pages: Pages,
    upstream: u64,
    /// `_meta` for each request, as a raw object; nothing in the legacy era.
    meta: Option<String>,
    waiting: Vec<CallKey>,
}

impl Session {
    /// A call wants to know its tool; with `refresh`, from the server itself.
    pub(super) fn learn(&mut self, key: CallKey, refresh: bool) {
        let now = Instant::now();
        let wanted = if refresh {
            self.catalogue.may_refresh(now)
        } else {
            self.catalogue.wants_listing(now)
        };
        if !wanted || !self.can_list(key) {
            self.tell_tool(key);
            return;
        }
        if refresh {
            self.catalogue.note_refresh(now);
        }
        // A call keeps half of its time for the work itself: a list that takes longer is not waited for.
        if let Some(active) = self.calls.get(&key) {
            let patience = PATIENCE.min(active.deadline.wait / 2);
            self.set_timer(now + patience, Timer::Learning(key));
        }
        if let Some(listing) = &mut self.listing {
            listing.waiting.push(key);
            return;
        }
        let meta = self.meta_for_listing(key);
        self.listing = Some(Listing {
            pages: Pages::default(),
            upstream: 0,
            meta,
            waiting: vec![key],
        });
        self.ask_page(None);
    }

    /// A legacy server may be asked only after the handshake; a modern one at any time.
    fn can_list(&self, key: CallKey) -> bool {
        let modern = self
            .calls
            .get(&key)
            .is_some_and(|active| active.call.request().revision.era() == Era::Modern);
        matches!(self.server, Server::Running) && (modern || self.initialized)
    }

    /// The modern era wants `_meta` on every request: the host's own facts, without its progress token.
    fn meta_for_listing(&self, key: CallKey) -> Option<String> {
        let request = self.calls.get(&key)?.call.request();
        Self::own_meta(request.revision, request.protocol_meta.as_deref())
    }

    fn ask_page(&mut self, cursor: Option<&str>) {
        let id = self.pending.new_id();
        let Some(listing) = &mut self.listing else { return };
        listing.upstream = id;
        let cursor = cursor.map(|cursor| format!("\"cursor\":{cursor}"));
        let meta = listing.meta.as_ref().map(|meta| format!("\"_meta\":{meta}"));
        let members: Vec<String> = [cursor, meta].into_iter().flatten().collect();
        let params = if members.is_empty() {
            String::new()
        } else {
            format!(",\"params\":{{{}}}", members.join(","))
        };
        let frame = format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/list\"{params}}}");
        self.pending.ask(id, Asked::Listing);
        if self.tell_server(frame) {
            self.set_timer(Instant::now() + PATIENCE, Timer::Listing(id));
        } else {
            self.pending.take(id);
            self.end_listing(Err("the server is gone".to_owned()));
        }
    }

    /// The server answered a page of Candor's own listing.
    pub(super) fn listed(&mut self, upstream: u64, body: &Body<'_>) {
        let Some(listing) = self
            .listing
            .as_mut()
            .filter(|listing| listing.upstream == upstream)
        else {
            return;
        };
        let turned = match body {
            Body::Result(result) => {
                let turned = listing.pages.turn(result.raw());
                self.learn_name(result);
                turned
            }
            Body::Error(_) | Body::Both | Body::Neither => Turned::Unreadable,
        };
        match turned {
            Turned::Next(cursor) => self.ask_page(Some(&cursor)),
            Turned::Last => self.end_listing(Ok(())),
            Turned::Unreadable => self.end_listing(Err("the server did not list its tools".to_owned())),
        }
    }

    /// A page took too long.
    pub(super) fn listing_timed_out(&mut self, upstream: u64) {
        if self
            .listing
            .as_ref()
            .is_some_and(|listing| listing.upstream == upstream)
        {
            self.end_listing(Err("the server did not list its tools in 10 s".to_owned()));
        }
    }

    /// A call has waited for the list as long as it can: it goes on with what is known.
    pub(super) fn learning_timed_out(&mut self, key: CallKey) {
        let Some(listing) = &mut self.listing else { return };
        let Some(at) = listing.waiting.iter().position(|waiting| *waiting == key) else {
            return;
        };
        listing.waiting.remove(at);
        self.tell_tool(key);
    }

    /// Ends the listing, and tells every call that waited for it.
    pub(super) fn end_listing(&mut self, end: Result<(), String>) {
        let Some(listing) = self.listing.take() else {
            return;
        };
        match end {
            Ok(()) => self.take_in(listing.pages),
            Err(why) => {
                tracing::warn!(%why, "calls go through unchecked");
                self.catalogue.fail(why, Instant::now());
            }
        }
        for key in listing.waiting {
            self.tell_tool(key);
        }
        self.reconcile();
    }

    /// A whole list is there: what the tools look like says which clauses of a contract pack are theirs.
    fn take_in(&mut self, pages: Pages) {
        self.catalogue.learn(pages);
        self.packs.check(self.catalogue.definitions());
    }

    fn tell_tool(&mut self, key: CallKey) {
        let Some(active) = self.calls.get(&key) else {
            return;
        };
        let name = active.call.request().tool.clone();
        let mut catalogue = std::mem::take(&mut self.catalogue);
        let knowledge = catalogue.knowledge(&name, self.terms());
        self.catalogue = catalogue;
        self.happened(key, Event::Learnt(knowledge));
    }

    /// A page of the host's own `tools/list` passed: learn from it, whatever pages it takes.
    pub(super) fn list_passed(&mut self, cursor: Option<&str>, result: &str) {
        let mut pages = match (cursor, self.host_list.take()) {
            (None, _) => Pages::default(),
            (Some(cursor), Some((expected, pages))) if expected == cursor => pages,
            // Not the next page of the list that was begun: nothing whole can come of it.
            (Some(_), _) => return,
        };
        match pages.turn(result) {
            Turned::Last => {
                self.take_in(pages);
                self.reconcile();
            }
            Turned::Next(cursor) => self.host_list = Some((cursor, pages)),
            Turned::Unreadable => {}
        }
    }
}
