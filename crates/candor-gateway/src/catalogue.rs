//! The tools of one server as they were last listed: learnt as a list passes, or asked for once when a call comes
//! first.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::Arc;
use std::time::Duration;

use candor_core::arguments::nearest;
use candor_core::contract::terms::ToolTerms;
use candor_core::contract::tool::{Knowledge, Listed, Tool};
use candor_core::names::ToolName;
use candor_core::wire::decode::ToolsPage;
use candor_core::wire::members::object;
use serde_json::value::RawValue;
use tokio::time::Instant;

/// A refusal asks the server for its list anew, at most this often.
const REFRESH_EVERY: Duration = Duration::from_secs(60);
/// Most tools that are kept of one server.
const MOST_TOOLS: usize = 10_000;
/// Most pages that are read of one list.
pub const MOST_PAGES: u32 = 1_000;
/// How many near names a refusal gives.
const NEAREST: usize = 3;

/// What is known of a server's tools.
#[derive(Debug, Default)]
pub struct Catalogue {
    tools: Option<HashMap<ToolName, Slot>>,
    /// The list was cut at a bound: a name that is not in it may be there all the same.
    cut: bool,
    /// The server said that its list changed since.
    stale: bool,
    refreshed: Option<Instant>,
    failure: Option<Failure>,
}

/// A list that could not be had.
#[derive(Debug)]
struct Failure {
    why: String,
    at: Instant,
}

/// A tool's definition; compiled when a call first names it.
#[derive(Debug)]
struct Slot {
    raw: Box<RawValue>,
    /// How many tools of the list have this name.
    listed: usize,
    compiled: Option<Arc<Tool>>,
}

/// A list that is being put together from its pages.
#[derive(Debug, Default)]
pub struct Pages {
    tools: Vec<(ToolName, Box<RawValue>)>,
    pages: u32,
    cut: bool,
}

/// What a page led to.
#[derive(Debug, PartialEq, Eq)]
pub enum Turned {
    /// That was the last one.
    Last,
    /// There is another, at this cursor (raw JSON).
    Next(String),
    /// This is no page of tools.
    Unreadable,
}

impl Pages {
    /// Takes in one page: the result of `tools/list`.
    pub fn turn(&mut self, result: &str) -> Turned {
        let Some(page) = object::<ToolsPage<'_>>(result) else {
            return Turned::Unreadable;
        };
        self.pages += 1;
        for raw in &page.tools {
            if self.tools.len() >= MOST_TOOLS {
                self.cut = true;
                break;
            }
            if let Some(listed) = Listed::read(raw) {
                self.tools.push((listed.name, (*raw).to_owned()));
            }
        }
        match page.next_cursor() {
            Some(cursor) if self.pages < MOST_PAGES && !self.cut => Turned::Next(cursor.get().to_owned()),
            Some(_) => {
                self.cut = true;
                Turned::Last
            }
            None => Turned::Last,
        }
    }
}

impl Catalogue {
    /// Must the server be asked before a call can be checked? One that failed to answer is not asked again within
    /// the minute: every call would have to wait for it.
    pub fn wants_listing(&self, now: Instant) -> bool {
        let failed = self
            .failure
            .as_ref()
            .is_some_and(|failure| !is_old(failure.at, now));
        !failed && (self.tools.is_none() || self.stale)
    }

    /// May the server be asked anew before a call is refused?
    pub fn may_refresh(&self, now: Instant) -> bool {
        self.wants_listing(now) || self.refreshed.is_none_or(|then| is_old(then, now))
    }

    /// A refresh was begun.
    pub fn note_refresh(&mut self, now: Instant) {
        self.refreshed = Some(now);
    }

    /// The server says that its list changed.
    pub fn note_change(&mut self) {
        self.stale = true;
    }

    /// What the operator says of tools may be other terms now.
    pub fn note_new_terms(&mut self) {
        for slot in self.tools.iter_mut().flat_map(HashMap::values_mut) {
            slot.compiled = None;
        }
    }

    /// Takes a whole list in. What did not change keeps its compiled schemas.
    pub fn learn(&mut self, pages: Pages) {
        let mut before = self.tools.take().unwrap_or_default();
        let mut after: HashMap<ToolName, Slot> = HashMap::with_capacity(pages.tools.len());
        let cut = pages.cut;
        for (name, raw) in pages.tools {
            match after.entry(name) {
                // Of two tools with one name the first counts, as it does for a host that looks a name up.
                Entry::Occupied(mut first) => first.get_mut().listed += 1,
                Entry::Vacant(place) => {
                    let compiled = before
                        .remove(place.key())
                        .filter(|slot| slot.raw.get() == raw.get())
                        .and_then(|slot| slot.compiled);
                    place.insert(Slot {
                        raw,
                        listed: 1,
                        compiled,
                    });
                }
            }
        }
        for slot in after.values_mut() {
            slot.compiled.take_if(|tool| tool.listed != slot.listed);
        }
        self.tools = Some(after);
        self.cut = cut;
        self.stale = false;
        self.failure = None;
    }

    /// The server could not be asked: what was known before still holds.
    pub fn fail(&mut self, why: String, now: Instant) {
        self.stale = false;
        self.failure = Some(Failure { why, at: now });
    }

    /// The definitions of all tools that are known.
    pub fn definitions(&self) -> impl Iterator<Item = (&ToolName, &RawValue)> {
        let slots = self.tools.iter().flatten();
        slots.map(|(name, slot)| (name, &*slot.raw))
    }

    /// What is known of one tool. `terms` looks up what an operator said of it.
    pub fn knowledge(&mut self, name: &ToolName, terms: impl Fn(&ToolName) -> ToolTerms) -> Knowledge {
        let Some(tools) = &mut self.tools else {
            let failure = self.failure.as_ref();
            let why = failure
                .map_or("the server's tools are not listed", |failure| {
                    failure.why.as_str()
                })
                .to_owned();
            return Knowledge::Unlistable {
                why,
                terms: Arc::new(terms(name)),
            };
        };
        match tools.get_mut(name) {
            Some(slot) => match &slot.compiled {
                Some(tool) => Knowledge::Listed(Arc::clone(tool)),
                None => compile(slot, name, terms),
            },
            None if self.cut => Knowledge::Unlistable {
                why: "the server's list of tools is longer than is read".to_owned(),
                terms: Arc::new(terms(name)),
            },
            None => {
                let mut names: Vec<&str> = tools.keys().map(ToolName::as_str).collect();
                names.sort_unstable();
                let nearest = nearest::values(name.as_str(), &names, NEAREST);
                let nearest = nearest.into_iter().filter_map(|index| names.get(index));
                Knowledge::NotListed {
                    nearest: nearest.map(|name| (*name).to_owned()).collect(),
                }
            }
        }
    }
}

fn is_old(then: Instant, now: Instant) -> bool {
    now.saturating_duration_since(then) >= REFRESH_EVERY
}

fn compile(slot: &mut Slot, name: &ToolName, terms: impl Fn(&ToolName) -> ToolTerms) -> Knowledge {
    let Some(listed) = Listed::read(&slot.raw) else {
        let why = "the tool's definition can't be read".to_owned();
        return Knowledge::Unlistable {
            why,
            terms: Arc::new(terms(name)),
        };
    };
    let terms = match &listed.annotations {
        Some(annotations) => terms(name).with_annotations(annotations),
        None => terms(name),
    };
    let tool = Arc::new(Tool {
        listed: slot.listed,
        ..listed.compile(terms)
    });
    slot.compiled = Some(Arc::clone(&tool));
    Knowledge::Listed(tool)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use serde_json::value::to_raw_value;

    use super::*;

    fn page(names: &[&str], cursor: Option<&str>) -> Box<RawValue> {
        let tools: Vec<_> = names
            .iter()
            .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }))
            .collect();
        to_raw_value(&json!({ "tools": tools, "nextCursor": cursor })).unwrap()
    }

    fn learnt(names: &[&str]) -> Catalogue {
        let mut pages = Pages::default();
        assert_eq!(pages.turn(page(names, None).get()), Turned::Last);
        let mut catalogue = Catalogue::default();
        catalogue.learn(pages);
        catalogue
    }

    fn ask(catalogue: &mut Catalogue, name: &str) -> Knowledge {
        catalogue.knowledge(&ToolName::from(name), |_| ToolTerms::default())
    }

    #[test]
    fn a_list_is_whole_only_with_its_last_page() {
        let mut pages = Pages::default();
        assert_eq!(
            pages.turn(page(&["a"], Some("2")).get()),
            Turned::Next("\"2\"".to_owned())
        );
        assert_eq!(pages.turn(page(&["b"], None).get()), Turned::Last);
        let mut catalogue = Catalogue::default();
        catalogue.learn(pages);
        assert!(matches!(ask(&mut catalogue, "a"), Knowledge::Listed(_)));
        assert!(matches!(ask(&mut catalogue, "b"), Knowledge::Listed(_)));
    }

    #[test]
    fn a_cursor_that_never_ends_ends_here() {
        let mut pages = Pages::default();
        let turned = (0..=MOST_PAGES)
            .map(|_| pages.turn(page(&["a"], Some("again")).get()))
            .last();
        assert_eq!(turned, Some(Turned::Last));
    }

    #[test]
    fn a_name_that_is_not_in_a_list_cut_short_is_not_called_unknown() {
        let mut pages = Pages::default();
        for _ in 0..MOST_PAGES {
            pages.turn(page(&["a"], Some("again")).get());
        }
        let mut catalogue = Catalogue::default();
        catalogue.learn(pages);
        assert!(matches!(ask(&mut catalogue, "b"), Knowledge::Unlistable { .. }));
        assert!(matches!(
            ask(&mut learnt(&["a"]), "b"),
            Knowledge::NotListed { .. }
        ));
    }

    #[test]
    fn a_bad_tool_costs_only_itself_and_a_bad_list_is_none() {
        let mut pages = Pages::default();
        let raw = to_raw_value(&json!({ "tools": [{ "name": 5 }, "x", { "name": "good" }], "ttlMs": "x" }))
            .unwrap();
        assert_eq!(pages.turn(raw.get()), Turned::Last);
        let mut catalogue = Catalogue::default();
        catalogue.learn(pages);
        assert!(matches!(ask(&mut catalogue, "good"), Knowledge::Listed(_)));
        let no_list = to_raw_value(&json!({ "tools": {} })).unwrap();
        assert_eq!(Pages::default().turn(no_list.get()), Turned::Unreadable);
    }

    #[test]
    fn an_unknown_name_comes_with_its_nearest() {
        let mut catalogue = learnt(&["book_room", "list_bookings", "pay"]);
        let Knowledge::NotListed { nearest } = ask(&mut catalogue, "book_rom") else {
            panic!("it is not listed")
        };
        assert_eq!(nearest.first().map(String::as_str), Some("book_room"));
    }

    #[test]
    fn a_name_that_is_listed_twice_is_known_to_be_until_a_list_names_it_once() {
        let mut catalogue = learnt(&["a", "b", "a"]);
        let listed = |catalogue: &mut Catalogue, name| match ask(catalogue, name) {
            Knowledge::Listed(tool) => tool.listed,
            other => panic!("{name} is listed: {other:?}"),
        };
        assert_eq!((listed(&mut catalogue, "a"), listed(&mut catalogue, "b")), (2, 1));
        let listing = |names: &[&str]| {
            let definition = |name| to_raw_value(&json!({ "name": name })).unwrap();
            Pages {
                tools: names
                    .iter()
                    .map(|name| (ToolName::from(*name), definition(name)))
                    .collect(),
                ..Pages::default()
            }
        };
        for (names, count) in [(&["a", "b"][..], 1), (&["b", "a", "a", "a"], 3), (&["b", "a"], 1)] {
            catalogue.learn(listing(names));
            assert_eq!(listed(&mut catalogue, "a"), count, "{names:?}");
        }
    }

    #[test]
    fn what_did_not_change_keeps_its_compiled_schema() {
        let mut catalogue = learnt(&["a", "b"]);
        let Knowledge::Listed(before) = ask(&mut catalogue, "a") else {
            panic!("a is listed")
        };
        let mut pages = Pages::default();
        let changed = json!({ "tools": [
            { "name": "a", "inputSchema": { "type": "object" } },
            { "name": "b", "inputSchema": { "type": "object", "required": ["x"] } },
        ] });
        pages.turn(to_raw_value(&changed).unwrap().get());
        catalogue.learn(pages);
        let Knowledge::Listed(after) = ask(&mut catalogue, "a") else {
            panic!("a is listed")
        };
        assert!(Arc::ptr_eq(&before, &after));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_is_asked_first_when_its_list_changed_and_at_most_once_a_minute_for_refusals() {
        let mut catalogue = Catalogue::default();
        let start = Instant::now();
        assert!(catalogue.wants_listing(start), "nothing is known");
        catalogue.fail("no answer".to_owned(), start);
        assert!(!catalogue.wants_listing(start), "it has just failed");
        assert!(catalogue.wants_listing(start + REFRESH_EVERY));
        let mut catalogue = learnt(&["a"]);
        assert!(!catalogue.wants_listing(start) && catalogue.may_refresh(start));
        catalogue.note_refresh(start);
        assert!(!catalogue.may_refresh(start));
        assert!(catalogue.may_refresh(start + REFRESH_EVERY));
        catalogue.note_change();
        assert!(catalogue.wants_listing(start) && catalogue.may_refresh(start));
    }
}
