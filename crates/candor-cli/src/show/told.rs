//! The third layer of success: what the model was told, in full as given, and the sentence for a person.

use std::io::{self, Write};

use candor_core::describe::Lang;
use serde_json::Value;

use super::Shown;
use crate::record::Body;
use crate::screen;

pub(super) fn print(shown: &Shown, out: &mut dyn Write, lang: Lang) -> io::Result<()> {
    writeln!(
        out,
        "\nUser: does the reader know what happened and what to do next?"
    )?;
    match shown.sentence(lang) {
        Some(sentence) => shown.text(out, "  person    ", &screen::line(&sentence))?,
        None if shown.call.running => writeln!(out, "  person    –")?,
        None => writeln!(out, "  person    no sentence can be made from this record")?,
    }
    match shown.told() {
        Some(told) => model(out, &told.body),
        None if shown.call.running => writeln!(out, "  model     nothing yet: the call is running"),
        None => writeln!(
            out,
            "  model     nothing: Candor ended before an answer was recorded"
        ),
    }
}

fn model(out: &mut dyn Write, body: &Body) -> io::Result<()> {
    let block = body.text("/text");
    let delivered = body.text("/verdict/protocol") == Some("delivered");
    match (body.text("/channel"), block) {
        (Some("none"), _) => writeln!(out, "  model     nothing: nobody was there to be told"),
        (Some("error"), _) => error(out, body),
        (Some("result"), Some(block)) => {
            writeln!(out, "  model     was told by Candor:")?;
            given(out, block)?;
            if delivered {
                writeln!(out, "            then came the server's own answer:")?;
                server_texts(out, body)?;
            }
            Ok(())
        }
        (Some("result"), None) => {
            writeln!(
                out,
                "  model     got the server's own answer; Candor added no words:"
            )?;
            server_texts(out, body)
        }
        _ => writeln!(out, "  model     the record does not say"),
    }
}

/// A text as it was given, line by line: it is not broken anew, since its lines are a part of it.
fn given(out: &mut dyn Write, text: &str) -> io::Result<()> {
    screen::lines(text)
        .iter()
        .try_for_each(|line| writeln!(out, "{}", format!("    | {line}").trim_end()))
}

/// A JSON-RPC error went to the client: the server's, passed on, or one of Candor's own.
fn error(out: &mut dyn Write, body: &Body) -> io::Result<()> {
    let (whose, message) = match body.at("/reply") {
        Some(reply) => ("the server's own", reply.get("message").and_then(Value::as_str)),
        None => ("a", body.text("/verdict/error/message")),
    };
    writeln!(out, "  model     its client got {whose} JSON-RPC error:")?;
    given(out, message.unwrap_or("(without a message)"))
}

/// The text blocks of the server's answer, as recorded.
fn server_texts(out: &mut dyn Write, body: &Body) -> io::Result<()> {
    let blocks = body.list("/reply/content");
    let mut others = 0;
    for block in blocks {
        match block.get("text").and_then(Value::as_str) {
            Some(text) => given(out, text)?,
            None => others += 1,
        }
    }
    match (blocks.len(), others) {
        (0, _) => writeln!(out, "    (no text in it as recorded: see the reply below)"),
        (_, 0) => Ok(()),
        (_, others) => writeln!(
            out,
            "    (blocks that are no text: {others}; see the reply below)"
        ),
    }
}
