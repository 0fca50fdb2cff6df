//! The programme: which server is played, with which call, what its lie is, and what Candor can and can't know of it.

use std::time::Duration;

/// The contract that Candor has in the demo.
pub(super) const CONTRACT: &str = include_str!("contract.toml");

/// How long the demo's host waits where the answer is sure to come. Long: it is never a measure of anything.
pub(super) const SURE: Duration = Duration::from_secs(20);

/// One call of one server.
#[derive(Debug)]
pub(super) struct Scene {
    /// The fixture, and the server's name in the contract. Scenes of one server stand together.
    pub(super) server: &'static str,
    /// What it is called on the page.
    pub(super) title: &'static str,
    /// The tool that is called.
    pub(super) tool: &'static str,
    /// Its arguments, as they are sent.
    pub(super) arguments: &'static str,
    /// What the lie is.
    pub(super) lie: &'static str,
    /// What Candor can and can't know of it.
    pub(super) known: Known,
    /// The patience of both.
    pub(super) patience: Patience,
}

/// What Candor can and can't know, by what it was told.
#[derive(Debug)]
pub(super) enum Known {
    /// The contract makes no difference.
    Always(&'static str),
    /// With the contract it is more than without.
    ByContract {
        /// With the demo's contract.
        with: &'static str,
        /// By itself.
        without: &'static str,
    },
}

impl Known {
    /// The sentence for a run with or without the contract.
    pub(super) fn sentence(&self, contract: bool) -> &'static str {
        match (self, contract) {
            (Self::Always(text), _)
            | (Self::ByContract { with: text, .. }, true)
            | (Self::ByContract { without: text, .. }, false) => text,
        }
    }
}

/// Who gives up when.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Patience {
    /// Something will come back: nobody has to give up.
    Sure,
    /// Nothing will come back.
    Ends {
        /// When the demo's host gives up on a bare server.
        host: Duration,
        /// The option that has Candor give up sooner where no contract says so.
        option: [&'static str; 2],
    },
}

impl Patience {
    /// How long the demo's host waits for a bare server.
    pub(super) fn of_bare_host(self) -> Duration {
        match self {
            Self::Sure => SURE,
            Self::Ends { host, .. } => host,
        }
    }
}

/// All of it, in order.
pub(super) const SCENES: &[Scene] = &[
    Scene {
        server: "rooms",
        title: "Room taken",
        tool: "book_room",
        arguments: r#"{"room":"12","date":"2031-03-03","from":"14:00","to":"15:00"}"#,
        lie: "The room is taken. The server says so in a field of an answer that is not flagged as an error.",
        known: Known::ByContract {
            with: "The contract names that field, so Candor knows that nothing was booked, and says so first.",
            without: "Without a contract no field has a meaning: Candor can call it reported, and no better.",
        },
        patience: Patience::Sure,
    },
    Scene {
        server: "flights",
        title: "Flight date in the past",
        tool: "book_flight",
        arguments: r#"{"departureDate":"12/12/2024","from":"ZRH","to":"OSL","passengers":2}"#,
        lie: "The server takes a booking for a flight that has long left, against its own description.",
        known: Known::ByContract {
            with: "A rule of the contract knows what day it is. The call was not sent: that nothing changed is certain.",
            without: "A schema can't say \"in the future\". Without a contract the call goes out, and its answer is reported.",
        },
        patience: Patience::Sure,
    },
    Scene {
        server: "flights",
        title: "Flight date in the wrong format",
        tool: "book_flight",
        arguments: r#"{"departureDate":"2031-12-12","from":"ZRH","to":"OSL","passengers":2}"#,
        lie: "The server publishes a pattern for the date and takes bookings against it.",
        known: Known::Always(
            "Candor holds arguments against the server's own schema. The call was not sent: that nothing changed is certain.",
        ),
        patience: Patience::Sure,
    },
    Scene {
        server: "reports",
        title: "Queued, then dropped",
        tool: "send_report",
        arguments: r#"{"report":"quarterly-sales","to":"ada@example.com"}"#,
        lie: "The server takes a job on and drops it. Nobody is told.",
        known: Known::ByContract {
            with: "Candor knows that it was taken on and not that it was sent, and names the job and the tool to ask. \
                   What becomes of the job it can't know.",
            without: "Without a contract \"queued\" is a word like any other: Candor can call it reported, and no better.",
        },
        patience: Patience::Sure,
    },
    Scene {
        server: "tickets",
        title: "Timeout after the write",
        tool: "create_ticket",
        arguments: r#"{"title":"Printer on fire"}"#,
        lie: "The server writes the ticket and never answers. A host that calls this a failure tries again, and has two.",
        known: Known::Always(
            "Silence proves nothing: Candor can't know which it is. Its deadline is shorter than the host's, so that it \
             can still say so; it goes on listening, and keeps the call on the list of what a person must settle.",
        ),
        patience: Patience::Ends {
            host: Duration::from_secs(3),
            option: ["--timeout", "2s"],
        },
    },
    Scene {
        server: "notes",
        title: "Failure in prose",
        tool: "save_note",
        arguments: r#"{"title":"ideas","text":"tea"}"#,
        lie: "The text speaks of an error; the flag says that there was none.",
        known: Known::Always(
            "No contract can help here: a text that opens with \"Error\" may as well be a note about errors. Candor \
             says reported (no error was flagged, nobody looked), and not more.",
        ),
        patience: Patience::Sure,
    },
    Scene {
        server: "payments",
        title: "Death in the middle of a call",
        tool: "pay_invoice",
        arguments: r#"{"invoice":"2031-0042","amount":129.90,"currency":"CHF"}"#,
        lie: "The server dies with the payment in its hands.",
        known: Known::Always(
            "Whether the money went first, nobody on this side can know. Candor says unknown, at once, and that a \
             second call may pay twice.",
        ),
        patience: Patience::Sure,
    },
];

#[cfg(test)]
mod tests {
    use candor_gateway::config::Config;

    use super::*;

    #[test]
    fn the_contract_is_one_that_candor_reads_and_covers_every_scene() {
        let config = Config::parse("contract.toml", CONTRACT, &|_| None).unwrap();
        assert!(!config.servers.is_empty());
        for scene in SCENES {
            let table = format!("[servers.{}.tools.{}]", scene.server, scene.tool);
            assert!(CONTRACT.contains(&table), "{table}");
        }
    }

    #[test]
    fn every_scene_is_of_a_fixture_and_of_a_tool_that_it_has() {
        for scene in SCENES {
            let entry = candor_fixtures::CATALOG
                .iter()
                .find(|entry| entry.name == scene.server)
                .unwrap();
            let tools = entry.script().unwrap().tools;
            assert!(
                tools.iter().any(|tool| tool.name().unwrap() == scene.tool),
                "{}",
                scene.title
            );
            serde_json::from_str::<serde_json::Value>(scene.arguments).unwrap();
        }
    }
}
