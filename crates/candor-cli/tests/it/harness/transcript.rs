//! What was said in one run: at the host's end, and at the server's end by the tee.

use super::{frame, host::Ended};

/// Every line at both ends.
#[derive(Debug)]
pub(crate) struct Transcript {
    /// Lines the host wrote.
    pub(crate) host_sent: Vec<String>,
    /// Lines the host read.
    pub(crate) host_received: Vec<String>,
    /// Lines that reached the server.
    pub(crate) server_received: Vec<String>,
    /// Lines that the server wrote. Noise is among them.
    pub(crate) server_sent: Vec<String>,
    /// The exit code that the host saw.
    pub(crate) code: Option<i32>,
    /// stderr as the host saw it.
    pub(crate) errors: String,
    /// What was really done.
    pub(crate) truth: Vec<candor_fixtures::Truth>,
}

impl Transcript {
    /// From how a host ended and what the tee recorded.
    pub(crate) fn new(ended: Ended, into: &[u8], out_of: &[u8], truth: Vec<candor_fixtures::Truth>) -> Self {
        Self {
            host_sent: ended.sent,
            host_received: ended.received,
            server_received: lines(into),
            server_sent: lines(out_of),
            code: ended.code,
            errors: ended.errors,
            truth,
        }
    }

    /// The lines towards the host that Candor wrote or changed: no line of the server is equal but for its ids.
    pub(crate) fn written_to_host(&self) -> Vec<&str> {
        not_among(&self.host_received, &self.server_sent)
    }

    /// Whether a line towards the host is one of the server's, with one piece of Candor's put in.
    pub(crate) fn is_servers_own(&self, line: &str) -> bool {
        let line = frame::without_ids(line);
        self.server_sent
            .iter()
            .filter_map(|own| frame::one_insertion(&frame::without_ids(own), &line).map(str::to_owned))
            .any(|inserted| inserted.contains("candor/verdict"))
    }

    /// The lines towards the server that Candor wrote or changed.
    pub(crate) fn written_to_server(&self) -> Vec<&str> {
        not_among(&self.server_received, &self.host_sent)
    }
}

fn not_among<'a>(lines: &'a [String], origin: &[String]) -> Vec<&'a str> {
    let origin: Vec<String> = origin.iter().map(|line| frame::without_ids(line)).collect();
    lines
        .iter()
        .map(String::as_str)
        .filter(|line| !origin.contains(&frame::without_ids(line)))
        .collect()
}

fn lines(bytes: &[u8]) -> Vec<String> {
    String::from_utf8_lossy(bytes)
        .lines()
        .map(str::to_owned)
        .collect()
}

#[test]
fn a_line_with_a_verdict_put_in_is_the_servers_own_and_an_authored_one_is_not() {
    let ended = Ended {
        code: Some(0),
        errors: String::new(),
        sent: Vec::new(),
        received: Vec::new(),
    };
    let transcript = Transcript::new(ended, b"", b"{\"id\":7,\"result\":{\"content\":1}}\n", Vec::new());
    assert!(transcript.is_servers_own(r#"{"id":"x","result":{"_meta":{"candor/verdict":{}},"content":1}}"#));
    assert!(
        !transcript.is_servers_own(r#"{"id":"x","result":{"_meta":{"candor/verdict":{}},"content":[]}}"#)
    );
    assert!(!transcript.is_servers_own(r#"{"id":"x","result":{"_meta":{"other":{}},"content":1}}"#));
}
