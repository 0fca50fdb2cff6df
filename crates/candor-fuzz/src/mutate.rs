//! Changing an input a little: bytes, pieces of other inputs, and whole values of JSON.

use std::ops::Range;

use crate::input::BETWEEN;
use crate::random::Random;
use crate::tokens;

/// Longest input made, in bytes: long enough for every shape, short enough for thousands of them.
pub(crate) const LONGEST: usize = 8 * 1024;
/// Most changes to one input at a time.
const CHANGES: usize = 5;
/// Deepest nesting that one change adds.
const DEEPEST: usize = 300;

/// Bytes at which readers change their minds.
const BYTES: &[u8] =
    b"\x00\t\n\r \"'\\/{}[]():,;.-+*=<>&|!?@#$%_~`^0123456789aeEnNtTuUxX\x7f\x80\xbf\xc2\xe2\xed\xef\xf0\xff";

/// Pieces of text that mean something to one reader or another.
const WORDS: &[&str] = &[
    "null",
    "true",
    "false",
    "0",
    "-0",
    "1",
    "-1",
    "1.0",
    "1e400",
    "-1E-999",
    "9007199254740993",
    "18446744073709551616",
    "0.1000000000000000055511151231257827",
    "1e5",
    "007",
    "\"\"",
    "\"id\"",
    "{}",
    "[]",
    "[[]]",
    "{\"\":{}}",
    "\"null\"",
    "\"true\"",
    "\"5\"",
    "\"3.70\"",
    "\"-0\"",
    "\"{\\\"a\\\":1}\"",
    "\"[1,2]\"",
    "\\u0000",
    "\\ud800",
    "\\udc00",
    "\\u202e",
    "\\u0069",
    "\u{feff}",
    "\u{2028}",
    "\u{202e}",
    "é",
    "漢",
    "\u{1f600}",
    "\r\n",
    "\n",
    BETWEEN,
    ",",
    ":",
    "\"a\":1,",
    "\"__proto__\"",
];

/// What to change an input with.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Material<'m> {
    /// Words of the target's own.
    pub(crate) words: &'m [&'m str],
    /// Inputs to take pieces from.
    pub(crate) corpus: &'m [Vec<u8>],
}

/// A changed copy of `input`, at most [`LONGEST`] bytes of it.
pub(crate) fn mutated(input: &[u8], material: Material<'_>, random: &mut Random) -> Vec<u8> {
    let mut out = input.to_vec();
    for _ in 0..=random.below(CHANGES) {
        change(&mut out, material, random);
        out.truncate(LONGEST);
    }
    out
}

fn change(out: &mut Vec<u8>, material: Material<'_>, random: &mut Random) {
    match random.below(14) {
        0 => flip(out, random),
        1 => {
            let byte = random.pick(BYTES).copied().unwrap_or_default();
            put(out, span(out, random, 1), &[byte]);
        }
        2 => put(out, span(out, random, 24), &[]),
        3 => {
            let from = out.get(span(out, random, 64)).unwrap_or_default().to_vec();
            put(out, place(out, random), &from.repeat(1 + random.below(4)));
        }
        4 | 5 => {
            let other = random.pick(material.corpus).cloned().unwrap_or_default();
            let piece = other.get(span(&other, random, 200)).unwrap_or_default();
            put(out, span(out, random, 8), piece);
        }
        6 | 7 => {
            let word = word(material, random);
            put(out, place(out, random), word.as_bytes());
        }
        8 | 9 => {
            let word = word(material, random);
            put(out, value(out, random), word.as_bytes());
        }
        10 => {
            let other = random.pick(material.corpus).cloned().unwrap_or_default();
            let piece = other.get(value(&other, random)).unwrap_or_default().to_vec();
            put(out, value(out, random), &piece);
        }
        11 => {
            let piece = out.get(value(out, random)).unwrap_or_default().to_vec();
            put(out, value(out, random), &piece);
        }
        12 => quote(out, random),
        _ => nest(out, random),
    }
}

fn flip(out: &mut [u8], random: &mut Random) {
    let at = random.below(out.len());
    if let Some(byte) = out.get_mut(at) {
        *byte ^= 1 << random.below(8);
    }
}

fn word<'m>(material: Material<'m>, random: &mut Random) -> &'m str {
    let own = !material.words.is_empty() && random.below(3) > 0;
    let words = if own { material.words } else { WORDS };
    random.pick(words).copied().unwrap_or_default()
}

/// Puts a value into a string, as hosts do that send JSON as text.
fn quote(out: &mut Vec<u8>, random: &mut Random) {
    let at = value(out, random);
    let piece = String::from_utf8_lossy(out.get(at.clone()).unwrap_or_default()).into_owned();
    put(out, at, serde_json::Value::String(piece).to_string().as_bytes());
}

/// Puts a value into many arrays or objects.
fn nest(out: &mut Vec<u8>, random: &mut Random) {
    let at = value(out, random);
    let piece = out.get(at.clone()).unwrap_or_default().to_vec();
    let most = if random.below(8) == 0 { DEEPEST } else { 4 };
    let depth = 1 + random.below(most);
    let (open, close) = random
        .pick(&[
            ("[", "]"),
            ("{\"a\":", "}"),
            ("(", ")"),
            ("{\"not\":", "}"),
            ("!", ""),
        ])
        .copied()
        .unwrap_or_default();
    let nested = [
        open.repeat(depth).as_bytes(),
        piece.as_slice(),
        close.repeat(depth).as_bytes(),
    ]
    .concat();
    put(out, at, &nested);
}

fn put(out: &mut Vec<u8>, at: Range<usize>, what: &[u8]) {
    if at.start <= at.end && at.end <= out.len() {
        out.splice(at, what.iter().copied());
    }
}

fn place(input: &[u8], random: &mut Random) -> Range<usize> {
    let at = random.below(input.len() + 1);
    at..at
}

fn span(input: &[u8], random: &mut Random, longest: usize) -> Range<usize> {
    let start = random.below(input.len() + 1);
    let length = random.below(longest + 1).min(input.len() - start);
    start..start + length
}

/// A value of something like JSON; where there is none, a place.
fn value(input: &[u8], random: &mut Random) -> Range<usize> {
    let values = tokens::values(input);
    match random.pick(&values) {
        Some(found) => found.clone(),
        None => place(input, random),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_one_row_of_inputs_and_none_too_long() {
        let corpus = vec![br#"{"a":[1,"x"]}"#.to_vec(), vec![b'y'; 300], Vec::new()];
        let material = Material {
            words: &["zebra"],
            corpus: &corpus,
        };
        let row = |seed| -> Vec<Vec<u8>> {
            let mut random = Random::new(seed);
            let mut input = corpus[0].clone();
            let mut row = Vec::new();
            for _ in 0..400 {
                input = mutated(&input, material, &mut random);
                assert!(input.len() <= LONGEST);
                row.push(input.clone());
            }
            row
        };
        assert_eq!(row(1), row(1));
        assert_ne!(row(1), row(2));
        let seen = row(1).concat();
        assert!(seen.windows(5).any(|piece| piece == b"zebra"), "words are used");
        assert!(
            seen.windows(3).any(|piece| piece == b"yyy"),
            "other inputs are used"
        );
    }

    #[test]
    fn nothing_is_a_good_input_to_change() {
        let material = Material {
            words: &[],
            corpus: &[],
        };
        let mut random = Random::new(7);
        for _ in 0..1_000 {
            mutated(b"", material, &mut random);
        }
    }
}
