//! What the page says: before the scenes, of each scene, and over what follows.

use std::time::Duration;

use super::layout::{Column, Ink, Line, compare, heading, paragraph, wrap};
use super::play::Played;
use super::scene::Scene;
use super::seen::{Flag, ResultSeen, Seen, Structure, VerdictSeen};

/// From here on it is worth saying how long an answer took.
const LONG: Duration = Duration::from_secs(1);

/// Before the scenes.
pub(super) fn opening(contract: bool, width: usize) -> Vec<Line> {
    let contract = if contract {
        "Candor has a contract for these servers, as an operator would write it."
    } else {
        "Candor has no contract here: this is what it knows by itself."
    };
    let text = format!(
        "Servers that lie. Each call is made twice: bare, as hosts do today, and through Candor. Both times this is what \
         the model would see. Real processes on this machine, no network. {contract}"
    );
    [
        vec![heading("candor demo", width)],
        paragraph(Ink::Plain, &text, 2, width),
        vec![Line::default()],
    ]
    .concat()
}

/// What is about to be played. It is printed before, since one scene takes its time.
pub(super) fn announced(number: usize, scene: &Scene, width: usize) -> Vec<Line> {
    let call = format!("{} {}", scene.tool, scene.arguments);
    [
        vec![heading(&format!("{number}  {}", scene.title), width)],
        paragraph(Ink::Plain, scene.lie, 2, width),
        paragraph(Ink::Quiet, &call, 2, width),
        vec![Line::default()],
    ]
    .concat()
}

/// What came of it, on both sides.
pub(super) fn played(
    scene: &Scene,
    contract: bool,
    bare: &Played,
    through: &Played,
    width: usize,
) -> Vec<Line> {
    let after = |title: &str, played: &Played| match played.seen {
        Seen::NoAnswer(_) | Seen::Closed { .. } => title.to_owned(),
        _ if played.took < LONG => title.to_owned(),
        _ => format!("{title}, after {:.1} s", played.took.as_secs_f64()),
    };
    let left = Column {
        title: after("Bare", bare),
        lines: &|width| seen(&bare.seen, width),
    };
    let right = Column {
        title: after("Through Candor", through),
        lines: &|width| seen(&through.seen, width),
    };
    [
        compare(&left, &right, width),
        vec![Line::default()],
        paragraph(Ink::Plain, scene.known.sentence(contract), 2, width),
        vec![Line::default()],
    ]
    .concat()
}

/// What the model would see.
fn seen(seen: &Seen, width: usize) -> Vec<Line> {
    let lines = |ink, text: &str| paragraph(ink, text, 0, width);
    match seen {
        Seen::Result(result) => of_result(result, width),
        Seen::Error { code, message } => lines(Ink::Plain, &format!("JSON-RPC error {code}: {message}")),
        Seen::Unreadable(line) => lines(Ink::Plain, &format!("no response by the protocol: {line}")),
        Seen::NoAnswer(waited) => lines(
            Ink::Quiet,
            &format!("(no answer in {} s; this host gives up)", waited.as_secs()),
        ),
        Seen::Closed { how } => lines(Ink::Quiet, &format!("(no answer; the pipe closed, {how})")),
    }
}

fn of_result(result: &ResultSeen, width: usize) -> Vec<Line> {
    let (ink, flag) = match result.flag {
        Flag::Absent => (Ink::Quiet, "no error flag (isError absent)"),
        Flag::False => (Ink::Quiet, "no error flag (isError false)"),
        Flag::True => (Ink::Flag, "error flag (isError true)"),
    };
    let mut lines = vec![Line::of(ink, flag)];
    lines.extend(result.texts.iter().flat_map(|text| of_text(text, width)));
    let structure = match &result.structure {
        Structure::Absent => None,
        Structure::AsText => Some("structuredContent: the same".to_owned()),
        Structure::AsVerdict => Some("structuredContent: the verdict".to_owned()),
        Structure::Own(raw) => Some(format!("structuredContent: {raw}")),
    };
    lines.extend(
        structure
            .iter()
            .flat_map(|text| paragraph(Ink::Quiet, text, 0, width)),
    );
    let verdict = result.verdict.as_ref().map(of_verdict);
    lines.extend(
        verdict
            .iter()
            .flat_map(|text| paragraph(Ink::Quiet, text, 0, width)),
    );
    lines
}

/// A text block, with the fixed words it opens with set apart.
fn of_text(text: &str, width: usize) -> Vec<Line> {
    let mut wrapped = wrap(text, width).into_iter();
    let first = wrapped.next().map(|line| match line.split_once(':') {
        Some((opening, rest)) if is_opening(opening) => {
            Line::of(Ink::Strong, format!("{opening}:")).and(Ink::Plain, rest)
        }
        _ => Line::of(Ink::Plain, line),
    });
    first
        .into_iter()
        .chain(wrapped.map(|line| Line::of(Ink::Plain, line)))
        .collect()
}

fn is_opening(words: &str) -> bool {
    words.starts_with(|first: char| first.is_ascii_uppercase())
        && words
            .chars()
            .all(|letter| letter.is_ascii_uppercase() || " ,".contains(letter))
}

/// The verdict, for programs. An effect that a server merely asserts is not one that anybody knows.
fn of_verdict(verdict: &VerdictSeen) -> String {
    let effect = if verdict.evidence == "asserted" {
        "–"
    } else {
        &verdict.effect
    };
    let code = verdict
        .error
        .as_ref()
        .map(|error| format!(", {}", error.code))
        .unwrap_or_default();
    format!(
        "for programs: outcome {}, effect {effect}, evidence {}{code}",
        verdict.outcome, verdict.evidence
    )
}

#[cfg(test)]
mod tests {
    use super::super::scene::SCENES;
    use super::*;

    const TAKEN: &str = r#"{\"status\":\"taken\",\"code\":\"ROOM_UNAVAILABLE\",\"message\":\"Room 12 is taken 14:00-15:00\"}"#;

    fn answer(line: &str) -> Played {
        Played {
            seen: Seen::line(line.as_bytes()),
            took: Duration::from_millis(5),
        }
    }

    fn room() -> (Played, Played) {
        let structure = TAKEN.replace('\\', "");
        let bare = format!(
            r#"{{"result":{{"content":[{{"type":"text","text":"{TAKEN}"}}],"structuredContent":{structure}}}}}"#
        );
        let text = r#"NOT DONE: server \"rooms\" refused book_room: ROOM_UNAVAILABLE, \"Room 12 is taken 14:00-15:00\". By this tool's contract nothing changed.\nThe server's own answer follows."#;
        let verdict = r#"{"outcome":"rejected","effect":"not_applied","evidence":"declared","operationId":"x","error":{"code":"ROOM_UNAVAILABLE"}}"#;
        let through = format!(
            r#"{{"result":{{"content":[{{"type":"text","text":"{text}"}},{{"type":"text","text":"{TAKEN}"}}],"structuredContent":{structure},"isError":true,"_meta":{{"candor/verdict":{verdict}}}}}}}"#
        );
        (answer(&bare), answer(&through))
    }

    fn note() -> (Played, Played) {
        let result = r#""content":[{"type":"text","text":"Error: disk quota exceeded"}],"structuredContent":{"a": 1},"isError":false"#;
        let verdict = r#"{"outcome":"reported","effect":"unknown","evidence":"asserted","operationId":"x"}"#;
        let through = format!(r#"{{"result":{{{result},"_meta":{{"candor/verdict":{verdict}}}}}}}"#);
        (answer(&format!(r#"{{"result":{{{result}}}}}"#)), answer(&through))
    }

    fn ticket() -> (Played, Played) {
        let bare = Played {
            seen: Seen::NoAnswer(Duration::from_secs(3)),
            took: Duration::from_secs(3),
        };
        let verdict = r#"{"outcome":"unknown","effect":"unknown","evidence":"none","operationId":"x","error":{"code":"CANDOR_NO_ANSWER"}}"#;
        let through = format!(
            r#"{{"result":{{"content":[{{"type":"text","text":"UNKNOWN: create_ticket was sent once to \"tickets\"; no answer came in 2 s."}}],"structuredContent":{verdict},"isError":true,"_meta":{{"candor/verdict":{verdict}}}}}}}"#
        );
        let mut through = answer(&through);
        through.took = Duration::from_millis(2_040);
        (bare, through)
    }

    fn page(width: usize) -> String {
        let mut lines = opening(true, width);
        for (number, title, (bare, through)) in [
            (1, "Room taken", room()),
            (5, "Timeout after the write", ticket()),
            (6, "Failure in prose", note()),
        ] {
            let scene = SCENES.iter().find(|scene| scene.title == title).unwrap();
            lines.extend(announced(number, scene, width));
            lines.extend(played(scene, true, &bare, &through, width));
        }
        let text: Vec<String> = lines.iter().map(|line| line.render(false)).collect();
        for line in &text {
            assert!(line.chars().count() <= width, "wider than {width}: {line}");
        }
        text.join("\n")
    }

    #[test]
    fn the_page_at_120_columns() {
        insta::assert_snapshot!(page(120));
    }

    #[test]
    fn the_page_at_80_columns() {
        insta::assert_snapshot!(page(80));
    }

    #[test]
    fn the_page_at_40_columns() {
        insta::assert_snapshot!(page(40));
    }

    #[test]
    fn only_fixed_words_are_set_apart() {
        for (text, expected) in [
            ("NOT DONE", true),
            ("REJECTED, EFFECT UNKNOWN", true),
            ("Error", false),
            ("", false),
            (" A", false),
            ("T-101 OK", false),
        ] {
            assert_eq!(is_opening(text), expected, "{text}");
        }
    }
}
