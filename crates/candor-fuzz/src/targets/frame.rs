//! Any bytes in any chunks: the same frames as a splitter that sees all of the stream at once, and no frame over its
//! bound. The input's first byte chooses the limit, the second the chunks, the rest is the stream.

use std::io;
use std::pin::{Pin, pin};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use candor_transport::{Frame, FrameReader, OVERSIZED_HEAD};
use tokio::io::{AsyncRead, ReadBuf};

use crate::broken::{Broken, law};
use crate::random::Random;

/// Words that the reader reacts to.
pub(crate) const WORDS: &[&str] = &[
    "\n",
    "\r\n",
    "\n\n",
    "\r",
    " \t\n",
    "\u{feff}",
    "\u{feff}\n",
    "0123456789\n",
];

/// What a reader may ask for at once, in bytes.
const MOST_ASKED: usize = 64 * 1024;
const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// Holds one input against the target's laws.
pub(crate) fn check(input: &[u8]) -> Result<(), Broken> {
    let ([limit, seed], stream) = match input {
        [limit, seed, stream @ ..] => ([*limit, *seed], stream),
        _ => return Ok(()),
    };
    // Mostly limits that short lines break, sometimes one beyond what is kept of a long line.
    let limit = match limit {
        0xf0.. => OVERSIZED_HEAD + 900,
        short => 1 + usize::from(short % 64),
    };
    let frames = read(stream, limit, seed)?;
    let expected = split(stream, limit);
    law(
        "a stream gives the same frames however it is cut",
        frames == expected,
        || format!("{frames:?} instead of {expected:?} at limit {limit}"),
    )?;
    let bounded = |frame: &Frame| match frame {
        Frame::Line(bytes) | Frame::Unterminated(bytes) => bytes.len() <= limit,
        Frame::Oversized { head, .. } => head.len() <= OVERSIZED_HEAD,
        Frame::Blank => true,
    };
    law("no frame is over its bound", frames.iter().all(bounded), || {
        format!("{frames:?} at limit {limit}")
    })
}

/// The frames of a stream that is there as a whole.
fn split(stream: &[u8], limit: usize) -> Vec<Frame> {
    let mut lines: Vec<&[u8]> = stream.split(|byte| *byte == b'\n').collect();
    let tail = lines.pop().filter(|tail| !tail.is_empty());
    let whole = lines.len();
    lines.extend(tail);
    lines
        .iter()
        .enumerate()
        .map(|(number, line)| frame(line, limit, number == 0, number < whole))
        .collect()
}

fn frame(line: &[u8], limit: usize, first: bool, terminated: bool) -> Frame {
    let said = |bytes: &[u8]| -> Bytes {
        let marked = bytes.strip_prefix(BYTE_ORDER_MARK).filter(|_| first);
        Bytes::copy_from_slice(marked.unwrap_or(bytes))
    };
    let text = said(line);
    if line.len() > limit {
        return Frame::Oversized {
            head: said(line.get(..OVERSIZED_HEAD).unwrap_or(line)),
            length: text.len() as u64,
        };
    }
    if text.trim_ascii().is_empty() {
        return Frame::Blank;
    }
    let text = text
        .strip_suffix(b"\r")
        .map_or_else(|| text.clone(), Bytes::copy_from_slice);
    if terminated {
        Frame::Line(text)
    } else {
        Frame::Unterminated(text)
    }
}

/// What the reader makes of the stream, with its wait given up whenever the stream is not ready.
fn read(stream: &[u8], limit: usize, seed: u8) -> Result<Vec<Frame>, Broken> {
    let source = Chunks {
        rest: stream,
        random: Random::new(u64::from(seed)),
        greedy: seed.is_multiple_of(4),
        most_asked: 0,
    };
    let mut reader = FrameReader::new(source, limit);
    let mut frames = Vec::new();
    let mut context = Context::from_waker(Waker::noop());
    for _ in 0..=16 * (stream.len() + 4) {
        let next = pin!(reader.next()).poll(&mut context);
        match next {
            Poll::Pending => {}
            Poll::Ready(Ok(Some(frame))) => frames.push(frame),
            Poll::Ready(Ok(None)) => return Ok(frames),
            Poll::Ready(Err(fault)) => {
                return Err(Broken {
                    law: "reading from memory does not fail",
                    seen: fault.to_string(),
                });
            }
        }
    }
    Err(Broken {
        law: "a stream that ends is read to its end",
        seen: format!("still reading after {} frames", frames.len()),
    })
}

/// A stream in chunks of chance sizes, not ready now and then.
struct Chunks<'s> {
    rest: &'s [u8],
    random: Random,
    greedy: bool,
    most_asked: usize,
}

impl AsyncRead for Chunks<'_> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        into: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        self.most_asked = self.most_asked.max(into.remaining());
        if self.most_asked > MOST_ASKED {
            return Poll::Ready(Err(io::Error::other(format!(
                "{} bytes asked for",
                self.most_asked
            ))));
        }
        let greedy = self.greedy;
        if self.random.below(4) == 0 {
            return Poll::Pending;
        }
        let size = if greedy {
            self.rest.len()
        } else {
            1 + self.random.below(40)
        };
        let (chunk, rest) = self
            .rest
            .split_at(size.min(into.remaining()).min(self.rest.len()));
        self.rest = rest;
        into.put_slice(chunk);
        Poll::Ready(Ok(()))
    }
}
