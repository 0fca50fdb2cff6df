//! Steps that a client takes, and what its caller must be shown of each.

use serde_json::{Value, json};

use crate::clients::{Client, Seen};

/// One step: what the driver is told, and what must be seen.
pub(crate) struct Step {
    told: Value,
    shown: Shown,
    heard: Vec<&'static str>,
    statuses: Vec<&'static str>,
}

enum Shown {
    /// These tools, in order.
    Tools(Vec<&'static str>),
    /// A result. It is flagged unless it is named to be fine; its first text opens so; the verdict's outcome and effect are
    /// these; the structure has this at its pointer, or there is none.
    Result {
        flagged: bool,
        opening: &'static str,
        ends: (&'static str, &'static str),
        structure: Option<(&'static str, Value)>,
        says: Vec<&'static str>,
    },
    /// A JSON-RPC error, which every client throws: this code, and a message with this in it.
    Threw(i64, &'static str),
}

impl Step {
    pub(crate) fn list(tools: &[&'static str]) -> Self {
        let told = json!({ "name": "list", "do": "list" });
        Self::of(told, Shown::Tools(tools.to_vec()))
    }

    /// A call that is done.
    pub(crate) fn done(
        name: &str,
        call: (&str, Value),
        effect: &'static str,
        structure: (&'static str, Value),
    ) -> Self {
        let shown = Shown::Result {
            flagged: false,
            opening: "",
            ends: ("completed", effect),
            structure: Some(structure),
            says: Vec::new(),
        };
        Self::of(calling(name, call), shown)
    }

    /// A call that is taken on. Its structure is not that of the tool, and can't be read as one.
    pub(crate) fn accepted(name: &str, call: (&str, Value)) -> Self {
        let shown = Shown::Result {
            flagged: false,
            opening: "ACCEPTED, NOT YET DONE:",
            ends: ("accepted", "unknown"),
            structure: Some(("/outcome", json!("accepted"))),
            says: Vec::new(),
        };
        Self::of(calling(name, call), shown)
    }

    /// A call that changed nothing, and says so. It has no structure: one that is not as the tool promises would be thrown
    /// away, with all that it says, by the TypeScript SDK's 1.x line.
    pub(crate) fn refused(name: &str, call: (&str, Value), says: &[&'static str]) -> Self {
        let shown = Shown::Result {
            flagged: true,
            opening: "NOT DONE:",
            ends: ("rejected", "not_applied"),
            structure: None,
            says: says.to_vec(),
        };
        Self::of(calling(name, call), shown)
    }

    /// A call that is done in part.
    pub(crate) fn partial(name: &str, call: (&str, Value), says: &[&'static str]) -> Self {
        let shown = Shown::Result {
            flagged: true,
            opening: "PARTLY DONE:",
            ends: ("partial", "partial"),
            structure: None,
            says: says.to_vec(),
        };
        Self::of(calling(name, call), shown)
    }

    pub(crate) fn thrown(name: &str, call: (&str, Value), code: i64, says: &'static str) -> Self {
        Self::of(calling(name, call), Shown::Threw(code, says))
    }

    /// The user is asked a question that begins so, and answers so.
    pub(crate) fn asks(mut self, question: &'static str, answer: Value) -> Self {
        self.told["answer"] = answer;
        self.heard.push(question);
        self
    }

    /// As a task, which is seen in these statuses, in this order, before its result comes.
    pub(crate) fn through(mut self, statuses: &[&'static str]) -> Self {
        self.told["do"] = json!("task");
        self.statuses = statuses.to_vec();
        self
    }

    fn of(told: Value, shown: Shown) -> Self {
        Self {
            told,
            shown,
            heard: Vec::new(),
            statuses: Vec::new(),
        }
    }

    fn faults(&self, client: &Client, saw: &Value) -> Vec<String> {
        let mut faults = Vec::new();
        let mut check = |holds: bool, fault: String| {
            if !holds {
                faults.push(fault);
            }
        };
        let heard: Vec<_> = list(&saw["heard"])
            .iter()
            .filter(|event| event["asked"] == "elicitation/create")
            .filter_map(|event| event["message"].as_str())
            .collect();
        check(
            heard.len() == self.heard.len()
                && heard
                    .iter()
                    .zip(&self.heard)
                    .all(|(heard, asks)| heard.starts_with(asks)),
            format!("the user should be asked {:?}", self.heard),
        );
        check(
            json!(list(&saw["statuses"])) == json!(self.statuses),
            format!("the task should go through {:?}", self.statuses),
        );
        let result = &saw["result"];
        match &self.shown {
            Shown::Tools(tools) => {
                let listed: Vec<_> = list(&saw["tools"]).iter().map(|tool| &tool["name"]).collect();
                check(
                    json!(listed) == json!(tools),
                    format!("should list {tools:?}, not {listed:?}"),
                );
            }
            Shown::Threw(code, says) => {
                let threw = &saw["threw"];
                let message = threw["message"].as_str().unwrap_or_default();
                check(
                    threw["class"] == client.throws && threw["code"] == *code && message.contains(says),
                    format!("should throw {} {code} \"{says}\"", client.throws),
                );
            }
            Shown::Result {
                flagged,
                opening,
                ends,
                structure,
                says,
            } => {
                let flag = result["isError"].as_bool().unwrap_or_default();
                check(
                    result.is_object() && flag == *flagged,
                    format!("should be flagged: {flagged}"),
                );
                let text = result["content"][0]["text"].as_str().unwrap_or_default();
                check(text.starts_with(opening), format!("should open {opening}"));
                for piece in says {
                    check(text.contains(piece), format!("should say \"{piece}\""));
                }
                let verdict = &result["_meta"]["candor/verdict"];
                check(
                    verdict["outcome"] == ends.0 && verdict["effect"] == ends.1,
                    format!("should end {ends:?}"),
                );
                let structured = &result["structuredContent"];
                let as_expected = match structure {
                    None => structured.is_null(),
                    Some((pointer, value)) => structured.pointer(pointer) == Some(value),
                };
                check(as_expected, format!("should have the structure {structure:?}"));
            }
        }
        faults
    }
}

fn calling(name: &str, (tool, arguments): (&str, Value)) -> Value {
    json!({ "name": name, "do": "call", "tool": tool, "arguments": arguments })
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map_or(&[], Vec::as_slice)
}

/// One session: how its server is reached (`command`, or `url` and `bearer`), and the steps.
pub(crate) struct Session {
    pub(crate) name: String,
    pub(crate) server: Value,
    pub(crate) steps: Vec<Step>,
}

impl Session {
    /// What the driver is told.
    pub(crate) fn told(&self, era: &str) -> Value {
        let mut told = self.server.clone();
        told["name"] = json!(self.name);
        told["era"] = json!(era);
        told["steps"] = self.steps.iter().map(|step| step.told.clone()).collect();
        told
    }

    /// All that is not as it must be, with its place and what was seen there.
    pub(crate) fn faults(&self, client: &Client, era: &str, seen: &[Seen]) -> Vec<String> {
        let saw = |step: &str| {
            let is_it = |seen: &&Seen| seen.session == self.name && seen.step == step;
            seen.iter()
                .find(is_it)
                .map_or(Value::Null, |seen| seen.saw.clone())
        };
        let mut faults = Vec::new();
        let revision = if era == "modern" {
            "2026-07-28"
        } else {
            "2025-11-25"
        };
        let opened = saw("open");
        // One client does not tell its caller what it agreed upon.
        if opened["server"].is_null() || opened.get("revision").is_some_and(|told| told != revision) {
            faults.push(format!("{}/{era}/open: {opened}", self.name));
        }
        for step in &self.steps {
            let name = step.told["name"].as_str().unwrap_or_default();
            let saw = saw(name);
            let found = step.faults(client, &saw).into_iter();
            faults.extend(found.map(|fault| format!("{}/{era}/{name}: {fault}: {saw}", self.name)));
        }
        let closed = saw("close");
        if closed["closed"] != true {
            faults.push(format!("{}/{era}/close: {closed}", self.name));
        }
        faults
    }
}

#[cfg(test)]
mod tests {
    //! What is not so is found, and nothing else is.

    use super::*;
    use crate::clients::TYPESCRIPT_1;

    fn declined() -> (Step, Value) {
        let step = Step::refused("no", ("book", json!({})), &["TAKEN"])
            .asks("Another?", json!({ "action": "decline" }));
        let saw = json!({
            "heard": [{ "asked": "elicitation/create", "message": "Another? Open for a minute." }],
            "result": {
                "isError": true,
                "content": [{ "type": "text", "text": "NOT DONE: TAKEN" }],
                "_meta": { "candor/verdict": { "outcome": "rejected", "effect": "not_applied" } },
            },
        });
        (step, saw)
    }

    #[test]
    fn every_part_of_a_result_that_is_not_so_is_found() {
        let (step, honest) = declined();
        assert_eq!(step.faults(&TYPESCRIPT_1, &honest), Vec::<String>::new());
        for (pointer, lie) in [
            ("/heard", json!([])),
            ("/heard/0/message", json!("Really?")),
            ("/result/isError", json!(false)),
            ("/result/content/0/text", json!("Booked: TAKEN")),
            ("/result/content/0/text", json!("NOT DONE: why?")),
            ("/result/_meta/candor~1verdict/outcome", json!("completed")),
            ("/result/_meta/candor~1verdict/effect", json!("applied")),
        ] {
            let mut saw = honest.clone();
            *saw.pointer_mut(pointer).unwrap() = lie;
            assert_eq!(step.faults(&TYPESCRIPT_1, &saw).len(), 1, "{pointer}: {saw}");
        }
        let mut saw = honest;
        saw["result"]["structuredContent"] = json!({ "room": "12" });
        assert_eq!(step.faults(&TYPESCRIPT_1, &saw).len(), 1, "{saw}");
        assert!(
            !step.faults(&TYPESCRIPT_1, &Value::Null).is_empty(),
            "a step that was never played"
        );
    }

    #[test]
    fn an_error_a_list_and_a_task_that_are_not_so_are_found() {
        let thrown = Step::thrown("no right", ("book", json!({})), -32003, "rooms:write");
        let threw = |class: &str, code: i64, message: &str| json!({ "threw": { "class": class, "code": code, "message": message } });
        let faults = |saw: &Value| thrown.faults(&TYPESCRIPT_1, saw).len();
        assert_eq!(faults(&threw("McpError", -32003, "needs rooms:write")), 0);
        assert_eq!(faults(&threw("Error", -32003, "needs rooms:write")), 1);
        assert_eq!(faults(&threw("McpError", -32602, "needs rooms:write")), 1);
        assert_eq!(faults(&threw("McpError", -32003, "no")), 1);
        assert_eq!(faults(&json!({ "result": {} })), 1);

        let list = Step::list(&["book"]).through(&["working"]);
        let listed = |tool: &str, status: &str| json!({ "tools": [{ "name": tool }], "statuses": [status] });
        assert!(list.faults(&TYPESCRIPT_1, &listed("book", "working")).is_empty());
        assert_eq!(list.faults(&TYPESCRIPT_1, &listed("find", "working")).len(), 1);
        assert_eq!(list.faults(&TYPESCRIPT_1, &listed("book", "failed")).len(), 1);
    }
}
