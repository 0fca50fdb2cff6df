//! Every row of the decision table that stdio can produce, by bytes of a fixture process, through the program.

use candor_fixtures::{
    CATALOG,
    script::{Bytes, Case, Driver, Era, Tool},
};
use serde_json::{Value, json};

use crate::harness::{
    contract,
    conversation::Opening,
    decisions::{self, Row},
    frame,
    host::Host,
    scene::{Scene, Way},
    spec::SpecCheck,
    transcript::Transcript,
};

/// One test for each script, so that they run beside each other.
macro_rules! rows_of {
    ($($name:ident),+ $(,)?) => {
        $(#[test] fn $name() { every_case_of(stringify!($name)); })+

        #[test]
        fn no_script_is_left_out() {
            let tested = [$(stringify!($name)),+];
            for entry in CATALOG {
                let has_cases = entry.script().unwrap().tools.iter().any(|tool| !tool.cases.is_empty());
                assert!(!has_cases || tested.contains(&entry.name), "no test for {}", entry.name);
            }
        }
    };
}

rows_of!(
    rooms, flights, reports, tickets, notes, payments, results, mapped, errors, broken, silence, asking,
    pages, stale, unlisted, noise, gone, echo, look,
);

/// One run: a case in one class and one era.
struct Run<'a> {
    script: &'a str,
    tool: &'a Tool,
    name: String,
    case: &'a Case,
    class: &'a str,
    era: Era,
}

/// The raw id of the judged call.
const CALL: &str = "\"the call\"";

fn every_case_of(script_name: &str) {
    let script = CATALOG
        .iter()
        .find(|entry| entry.name == script_name)
        .unwrap()
        .script()
        .unwrap();
    for tool in &script.tools {
        for case in &tool.cases {
            for class in &case.class {
                for era in &case.eras {
                    let name = tool.name().unwrap();
                    Run {
                        script: script_name,
                        tool,
                        name,
                        case,
                        class,
                        era: *era,
                    }
                    .play();
                }
            }
        }
    }
}

impl Run<'_> {
    fn describe(&self) -> String {
        let case = self.case;
        format!(
            "{}/{} {}: {} {} {} {:?}",
            self.script, self.name, case.arguments, case.how, self.class, case.contract, self.era
        )
    }

    fn scene(&self) -> Scene {
        let mut scene = Scene::of(self.script);
        for option in &self.case.options {
            scene = scene.option(option);
        }
        if self.class == "read" {
            scene = scene.option("--read").option(&self.name);
        }
        let stated = self.case.contract != "none";
        let mapping = self.tool.mapping.as_ref().filter(|_| stated);
        let more = self.tool.contract.as_deref().filter(|_| stated);
        if mapping.is_some() || more.is_some() || self.class == "idempotent" {
            let config = contract::of(&self.name, self.class, mapping, self.case.document, more);
            scene = scene.config(&config);
        }
        scene
    }

    fn opening(&self) -> Opening {
        let mut opening = Opening::newest(self.era);
        if let Some(more) = &self.case.capabilities {
            let more: Value = serde_json::from_str(more.get()).unwrap();
            opening
                .capabilities
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
        }
        opening
    }

    /// Plays the case and holds everything that can be seen against the row.
    fn play(&self) {
        eprintln!("{}", self.describe());
        let (scene, opening) = (self.scene(), self.opening());
        let mut host = scene.open(Way::Through, &opening);
        if self.case.driver == Driver::ServerGone {
            host.wait_until_server_is_gone();
        }
        let mut params = json!({ "name": self.name, "arguments": serde_json::from_str::<Value>(self.case.arguments.get()).unwrap() });
        if let Some(more) = &self.case.params {
            let more: Value = serde_json::from_str(more.get()).unwrap();
            params
                .as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
        }
        host.send(&opening.request(CALL, "tools/call", params));
        let answer = self.drive(&opening, &mut host);
        for (at, tool) in self.case.then.iter().enumerate() {
            host.ask(&opening.call(&format!("\"then {at}\""), tool, &json!({})));
        }
        let transcript = scene.end(Way::Through, host);
        let row = decisions::row(
            self.case.own.as_deref().unwrap_or(&self.case.how),
            self.class,
            &self.case.contract,
        );
        let given = decisions::row(&self.case.how, self.class, &self.case.contract);
        // A call whose late answer is the point was answered before, by another row.
        if self.case.how != "late" {
            self.check_answer(&row, answer.as_deref(), &transcript);
        }
        self.check_record(&row, &given, &scene);
        let answers = transcript
            .host_received
            .iter()
            .filter(|line| frame::id(line) == Some(CALL))
            .count();
        assert_eq!(
            answers,
            usize::from(answer.is_some()),
            "{}: answers to one call",
            self.describe()
        );
        if row.protocol == "not_sent" {
            let sent = transcript.truth.iter().any(|truth| truth.tool == self.name);
            assert!(
                !sent,
                "{}: the server got a call that should not have been sent",
                self.describe()
            );
        }
        if let Some(spec) = SpecCheck::of(opening.revision) {
            spec.check(&transcript);
        }
    }

    /// Does what the host must do while the call is open, and gives its answer.
    fn drive(&self, opening: &Opening, host: &mut Host) -> Option<String> {
        for (at, tool) in self.case.meanwhile.iter().enumerate() {
            host.ask(&opening.call(&format!("\"meanwhile {at}\""), tool, &json!({})));
        }
        match self.case.driver {
            Driver::Cancel => {
                let id: Value = serde_json::from_str(CALL).unwrap();
                let params = json!({ "requestId": id });
                // Only what was sent can be cancelled after it was sent.
                host.message("notifications/message");
                host.send(&format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{params}}}"#
                ));
                // The server has handled the cancellation when it answers this.
                host.ask(&opening.call("\"after\"", "release", &json!({})));
                return None;
            }
            Driver::Answer => {
                let asked = std::iter::repeat_with(|| host.next())
                    .find(|line| frame::method(line).is_some() && frame::id(line).is_some())
                    .unwrap();
                let id = frame::id(&asked).unwrap();
                host.send(&format!(
                    r#"{{"jsonrpc":"2.0","id":{id},"result":{{"action":"decline","roots":[]}}}}"#
                ));
            }
            _ => {}
        }
        Some(host.response_to(CALL))
    }

    fn check_answer(&self, row: &Row, answer: Option<&str>, transcript: &Transcript) {
        let what = self.describe();
        let Some(answer) = answer else {
            assert_eq!(row.channel, "none", "{what}: nobody was answered");
            return;
        };
        let value = frame::value(answer);
        if row.channel == "error" {
            assert!(
                value.get("error").is_some(),
                "{what}: an error was expected: {answer}"
            );
            if row.bytes == "passed" {
                let written = self
                    .written(transcript)
                    .unwrap_or_else(|| panic!("{what}: no error of the server"));
                assert_eq!(
                    frame::raw_at(answer, &["error"]),
                    frame::raw_at(written, &["error"]),
                    "{what}"
                );
            }
            return;
        }
        let result = value
            .get("result")
            .unwrap_or_else(|| panic!("{what}: a result was expected: {answer}"));
        self.check_verdict(row, &result["_meta"]["candor/verdict"], answer);
        if let Some(flag) = row.flagged() {
            assert_eq!(result["isError"], json!(flag), "{what}: the flag: {answer}");
        }
        let first = result["content"][0]["text"].as_str().unwrap_or_default();
        if row.opening.is_empty() {
            let candors = [
                "NOT DONE",
                "UNKNOWN",
                "FAILED,",
                "REJECTED,",
                "PARTLY DONE",
                "ACCEPTED,",
                "NEEDS INPUT",
            ];
            assert!(
                !candors.iter().any(|opening| first.starts_with(opening)),
                "{what}: a block too many: {answer}"
            );
        } else {
            assert!(
                first.starts_with(&format!("{}:", row.opening)),
                "{what}: should open \"{}\": {first}",
                row.opening
            );
        }
        match row.bytes.as_str() {
            "untouched" => self.check_untouched(answer, transcript),
            "prefixed" => {
                let written = frame::value(self.written(transcript).expect("the server answered"));
                let own = written["result"]["content"]
                    .as_array()
                    .cloned()
                    .unwrap_or_default();
                assert_eq!(
                    result["content"].as_array().unwrap()[1..],
                    own[..],
                    "{what}: the server's own blocks"
                );
            }
            _ => {}
        }
    }

    fn check_verdict(&self, row: &Row, verdict: &Value, answer: &str) {
        let what = self.describe();
        for (part, expected) in [
            ("protocol", &row.protocol),
            ("outcome", &row.outcome),
            ("effect", &row.effect),
            ("evidence", &row.evidence),
        ] {
            assert_eq!(
                verdict[part],
                json!(expected),
                "{what}: {part} of the verdict in {answer}"
            );
        }
        if let Some(kind) = &row.kind {
            assert_eq!(verdict["error"]["kind"], json!(kind), "{what}: kind in {answer}");
        }
    }

    /// The server's line in answer to the call.
    fn written<'t>(&self, transcript: &'t Transcript) -> Option<&'t str> {
        let name = json!(self.name).to_string();
        let call = transcript.server_received.iter().find(|line| {
            frame::method(line).as_deref() == Some("tools/call")
                && frame::raw_at(line, &["params", "name"]) == Some(&name)
        })?;
        let answer = |line: &&String| frame::id(line) == frame::id(call) && frame::method(line).is_none();
        transcript.server_sent.iter().find(answer).map(String::as_str)
    }

    fn check_untouched(&self, answer: &str, transcript: &Transcript) {
        let written = self.written(transcript).expect("the server answered");
        let own = frame::with_id(written, CALL);
        match self.case.bytes {
            // A server's own word under Candor's key is moved aside: more than one place changes.
            _ if own.contains("candor/verdict") => {
                let (answer, own) = (frame::value(answer), frame::value(&own));
                assert_eq!(answer["result"]["content"], own["result"]["content"]);
                assert_eq!(
                    answer["result"]["_meta"]["candor/claimed"],
                    own["result"]["_meta"]["candor/verdict"]
                );
            }
            Bytes::OneBlockMade => {
                let blocks = frame::value(answer)["result"]["content"]
                    .as_array()
                    .unwrap()
                    .len();
                assert_eq!(blocks, 1, "{}: {answer}", self.describe());
            }
            Bytes::CredentialsMasked => {
                assert!(
                    !answer.contains("ghp_0123456789"),
                    "{}: {answer}",
                    self.describe()
                );
            }
            _ => frame::assert_only_verdict_added(&own, answer),
        }
    }

    /// The ledger has the call once, with the verdict of the row.
    fn check_record(&self, row: &Row, given: &Row, scene: &Scene) {
        let what = self.describe();
        let calls = scene.calls();
        let of_tool: Vec<_> = calls
            .iter()
            .filter(|call| call["tool"] == json!(self.name))
            .collect();
        assert_eq!(of_tool.len(), 1, "{what}: operations in the ledger: {calls:#?}");
        for (part, expected) in [
            ("outcome", &row.outcome),
            ("effect", &row.effect),
            ("evidence", &row.evidence),
        ] {
            assert_eq!(
                of_tool[0][part],
                json!(expected),
                "{what}: {part} in the ledger: {}",
                of_tool[0]
            );
        }
        if let Some(finding) = given.finding.as_ref().or(row.finding.as_ref()) {
            assert!(
                of_tool[0].to_string().contains(finding),
                "{what}: finding {finding}: {}",
                of_tool[0]
            );
        }
    }
}
