//! What a frame is, and how bytes are cut into frames. No I/O: bytes go in, frames come out.

use bytes::buf::Limit;
use bytes::{BufMut, Bytes, BytesMut};

/// The longest line that is still carried, in bytes before its line feed: 64 MiB.
pub const DEFAULT_FRAME_LIMIT: usize = 64 * 1024 * 1024;

/// How much of an oversized line is kept, in bytes: enough to find the id of the call it answered.
pub const OVERSIZED_HEAD: usize = 4 * 1024;

/// One read asks for at most this much, or as much again as a long line has so far: what a full pipe holds, so one call
/// empties it.
const READ_CHUNK: usize = 64 * 1024;

/// With less room than this, the buffer grows before the next read.
const LEAST_ROOM: usize = 4 * 1024;

/// After a line of this size the buffer is given back rather than kept for a next one that may never come. To grow
/// it anew for each line costs more than to read the line.
const KEEP_AT_MOST: usize = 2 * 1024 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// One line of the stream, or what came in its place.
///
/// Bytes are never checked here: a line may be broken JSON or not UTF-8 at all. The handles share the read
/// buffer instead of copying it, so a small frame that is kept for long keeps up to 64 KiB alive.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Frame {
    /// A line without its `\n` or `\r\n`. Holds at least one byte that is not white space.
    Line(Bytes),
    /// A line of nothing but white space.
    Blank,
    /// A line over the limit. It was read to its end and thrown away, so that the next line is whole.
    Oversized {
        /// The first bytes of the line, at most [`OVERSIZED_HEAD`] of them.
        head: Bytes,
        /// The whole length of the line in bytes, without its `\n`.
        length: u64,
    },
    /// What came after the last `\n` before the stream ended. It may be a whole message whose writer left out
    /// the line feed, or the torn half of one.
    Unterminated(Bytes),
}

/// The part of a line that is remembered while the rest of it is thrown away.
#[derive(Debug, Default)]
struct Skipped {
    head: BytesMut,
    length: u64,
}

impl Skipped {
    fn add(&mut self, bytes: &[u8]) {
        let wanted = OVERSIZED_HEAD.saturating_sub(self.head.len()).min(bytes.len());
        self.head
            .extend_from_slice(bytes.get(..wanted).unwrap_or_default());
        self.length = self.length.saturating_add(bytes.len() as u64);
    }

    fn into_frame(self, at_start: bool) -> Frame {
        let mut head = self.head.freeze();
        let mut length = self.length;
        if at_start && head.starts_with(BYTE_ORDER_MARK) {
            head = head.slice(BYTE_ORDER_MARK.len()..);
            length = length.saturating_sub(BYTE_ORDER_MARK.len() as u64);
        }
        Frame::Oversized { head, length }
    }
}

/// Cuts a stream of bytes into frames, holding at most one line and one read more than the limit.
#[derive(Debug)]
pub(crate) struct Splitter {
    limit: usize,
    buffer: BytesMut,
    /// How far `buffer` was searched for a line feed, so that a long line is searched once and not once per read.
    searched: usize,
    skipped: Option<Skipped>,
    at_start: bool,
}

impl Splitter {
    pub(crate) fn new(limit: usize) -> Self {
        Self {
            limit: limit.max(1),
            buffer: BytesMut::new(),
            searched: 0,
            skipped: None,
            at_start: true,
        }
    }

    /// Room for the next read.
    pub(crate) fn room(&mut self) -> Limit<&mut BytesMut> {
        let held = self.buffer.len();
        if self.buffer.capacity().saturating_sub(held) < LEAST_ROOM {
            // Doubling keeps the copying of a long line in proportion to its length.
            self.buffer.reserve(READ_CHUNK.max(held));
        }
        (&mut self.buffer).limit(READ_CHUNK.max(held))
    }

    /// Does the buffer hold something beyond the lines that were taken?
    pub(crate) fn holds_more(&self) -> bool {
        !self.buffer.is_empty()
    }

    /// The next whole line, if the buffer holds one.
    pub(crate) fn line(&mut self) -> Option<Frame> {
        let fresh = self.buffer.get(self.searched..).unwrap_or_default();
        let Some(found) = memchr::memchr(b'\n', fresh) else {
            self.searched = self.buffer.len();
            if self.skipped.is_some() || self.buffer.len() > self.limit {
                self.skip();
            }
            return None;
        };
        let end = self.searched + found;
        let mut line = self.buffer.split_to(end + 1);
        line.truncate(end);
        self.searched = 0;
        if end > KEEP_AT_MOST {
            self.buffer = BytesMut::from(self.buffer.as_ref());
        }
        Some(self.frame(line))
    }

    /// What is left when the stream has ended and [`Splitter::line`] finds no more.
    pub(crate) fn tail(&mut self) -> Option<Frame> {
        let rest = std::mem::take(&mut self.buffer);
        self.searched = 0;
        if rest.is_empty() && self.skipped.is_none() {
            return None;
        }
        Some(match self.frame(rest) {
            Frame::Line(bytes) => Frame::Unterminated(bytes),
            other => other,
        })
    }

    fn skip(&mut self) {
        match &mut self.skipped {
            Some(skipped) => {
                skipped.add(&self.buffer);
                self.buffer.clear();
            }
            None => {
                let mut skipped = Skipped::default();
                skipped.add(&self.buffer);
                self.skipped = Some(skipped);
                // A new one: the old has grown to the limit.
                self.buffer = BytesMut::new();
            }
        }
        self.searched = 0;
    }

    fn frame(&mut self, line: BytesMut) -> Frame {
        let at_start = std::mem::replace(&mut self.at_start, false);
        if self.skipped.is_some() || line.len() > self.limit {
            let mut skipped = self.skipped.take().unwrap_or_default();
            skipped.add(&line);
            return skipped.into_frame(at_start);
        }
        let mut line = line.freeze();
        if at_start && line.starts_with(BYTE_ORDER_MARK) {
            line = line.slice(BYTE_ORDER_MARK.len()..);
        }
        if line.iter().all(u8::is_ascii_whitespace) {
            return Frame::Blank;
        }
        if line.ends_with(b"\r") {
            line.truncate(line.len() - 1);
        }
        Frame::Line(line)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Feeds `bytes` in pieces of the given sizes, over and over, and takes every frame as soon as it is there.
    fn split(bytes: &[u8], limit: usize, sizes: &[usize]) -> Vec<Frame> {
        let mut splitter = Splitter::new(limit);
        let mut frames = Vec::new();
        let mut rest = bytes;
        for size in sizes.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, later) = rest.split_at((*size).clamp(1, rest.len()));
            let mut room = splitter.room();
            let taken = piece.len().min(room.remaining_mut());
            room.put_slice(&piece[..taken]);
            assert_eq!(taken, piece.len(), "the tests feed less than one chunk at a time");
            rest = later;
            frames.extend(std::iter::from_fn(|| splitter.line()));
        }
        frames.extend(splitter.tail());
        assert_eq!(splitter.tail(), None, "the end is reported once");
        frames
    }

    fn line(text: &str) -> Frame {
        Frame::Line(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn tail(text: &str) -> Frame {
        Frame::Unterminated(Bytes::copy_from_slice(text.as_bytes()))
    }

    fn oversized(head: &str, length: u64) -> Frame {
        Frame::Oversized {
            head: Bytes::copy_from_slice(head.as_bytes()),
            length,
        }
    }

    #[test]
    fn each_stream_gives_the_same_frames_however_it_is_cut() {
        let cases: &[(&str, usize, Vec<Frame>)] = &[
            ("", 10, vec![]),
            ("a\n", 10, vec![line("a")]),
            ("a\nb\n", 10, vec![line("a"), line("b")]),
            ("a\r\nb\n", 10, vec![line("a"), line("b")]),
            ("a\r\r\n", 10, vec![line("a\r")]),
            ("a\rb\n", 10, vec![line("a\rb")]),
            (" a \n", 10, vec![line(" a ")]),
            ("\n\r\n \t\n", 10, vec![Frame::Blank, Frame::Blank, Frame::Blank]),
            ("a", 10, vec![tail("a")]),
            ("a\r", 10, vec![tail("a")]),
            ("a\nb", 10, vec![line("a"), tail("b")]),
            ("a\n ", 10, vec![line("a"), Frame::Blank]),
            ("\u{feff}a\nb\n", 10, vec![line("a"), line("b")]),
            ("\u{feff}\na\n", 10, vec![Frame::Blank, line("a")]),
            ("\u{feff}a", 10, vec![tail("a")]),
            // Only the start of the stream is the place for a mark; elsewhere it is part of what was said.
            ("a\n\u{feff}b\n", 10, vec![line("a"), line("\u{feff}b")]),
            ("\n\u{feff}b\n", 10, vec![Frame::Blank, line("\u{feff}b")]),
            ("1234\n", 4, vec![line("1234")]),
            ("12345\n", 4, vec![oversized("12345", 5)]),
            ("12345\nok\n", 4, vec![oversized("12345", 5), line("ok")]),
            (
                "ok\n123456789\n\nok\n",
                4,
                vec![line("ok"), oversized("123456789", 9), Frame::Blank, line("ok")],
            ),
            ("12345", 4, vec![oversized("12345", 5)]),
            ("\u{feff}12345\nok\n", 4, vec![oversized("12345", 5), line("ok")]),
            ("      \nok\n", 4, vec![oversized("      ", 6), line("ok")]),
        ];
        for (stream, limit, expected) in cases {
            for size in 1..=stream.len().max(1) {
                assert_eq!(
                    &split(stream.as_bytes(), *limit, &[size]),
                    expected,
                    "{stream:?} by {size}"
                );
            }
            for first in 1..stream.len().max(1) {
                let sizes = [first, stream.len()];
                assert_eq!(
                    &split(stream.as_bytes(), *limit, &sizes),
                    expected,
                    "{stream:?} cut at {first}"
                );
            }
        }
    }

    #[test]
    fn an_oversized_line_keeps_its_first_four_kibibytes_and_no_more() {
        let mut stream = vec![b'x'; 3 * OVERSIZED_HEAD];
        stream.extend_from_slice(b"\nok\n");
        for size in [1, 1000, OVERSIZED_HEAD, READ_CHUNK] {
            let frames = split(&stream, OVERSIZED_HEAD / 2, &[size]);
            let expected = oversized(&"x".repeat(OVERSIZED_HEAD), 3 * OVERSIZED_HEAD as u64);
            assert_eq!(frames, [expected, line("ok")], "by {size}");
        }
    }

    #[test]
    fn memory_is_given_back_after_a_long_line_and_never_passes_the_limit_by_much() {
        let limit = 4 * 1024 * 1024;
        for length in [limit, 3 * limit] {
            let mut splitter = Splitter::new(limit);
            let mut left = length;
            while left > 0 {
                let mut room = splitter.room();
                let taken = left.min(room.remaining_mut());
                room.put_bytes(b'x', taken);
                left -= taken;
                assert_eq!(splitter.line(), None);
                assert!(splitter.buffer.len() <= limit + READ_CHUNK);
            }
            splitter.room().put_slice(b"\nnext");
            assert!(splitter.line().is_some());
            assert_eq!(&splitter.buffer[..], b"next");
            assert!(
                splitter.buffer.capacity() <= READ_CHUNK,
                "{} bytes kept",
                splitter.buffer.capacity()
            );
        }
    }

    fn any_line() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![4 => any::<u8>(), 1 => Just(b'\r'), 1 => Just(b' ')]
            .prop_filter("a line feed ends a line", |byte| *byte != b'\n');
        proptest::collection::vec(byte, 0..40)
    }

    proptest! {
        #[test]
        fn any_lines_in_any_chunks_come_out_as_they_went_in(
            lines in proptest::collection::vec(any_line(), 0..20),
            sizes in proptest::collection::vec(1_usize..60, 1..10),
            limit in 1_usize..50,
        ) {
            // Led by a plain line, so that no generated line stands where a byte order mark is taken away.
            let mut stream = b"!\n".to_vec();
            let mut expected = vec![line("!")];
            for bytes in &lines {
                stream.extend_from_slice(bytes);
                stream.push(b'\n');
                expected.push(if bytes.len() > limit {
                    Frame::Oversized { head: Bytes::copy_from_slice(bytes), length: bytes.len() as u64 }
                } else if bytes.trim_ascii().is_empty() {
                    Frame::Blank
                } else {
                    Frame::Line(Bytes::copy_from_slice(bytes.strip_suffix(b"\r").unwrap_or(bytes)))
                });
            }
            prop_assert_eq!(split(&stream, limit, &sizes), expected);
        }
    }
}
