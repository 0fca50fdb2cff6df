//! Frames out of anything that can be read.

use std::io;
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt};
use tokio::time::timeout;

use crate::frame::{Frame, Splitter};

/// Reads a stream as frames, one line each.
///
/// A UTF-8 byte order mark at the very start of the stream is taken away: some runtimes write one before their
/// first line, and no JSON parser accepts it.
#[derive(Debug)]
pub struct FrameReader<R> {
    inner: R,
    splitter: Splitter,
    ended: bool,
}

impl<R: AsyncRead + Unpin> FrameReader<R> {
    /// Reads from `inner`; a line of more than `limit` bytes (at least 1) is [`Frame::Oversized`].
    pub fn new(inner: R, limit: usize) -> Self {
        Self {
            inner,
            splitter: Splitter::new(limit),
            ended: false,
        }
    }

    /// The next frame, or `None` once the stream has ended.
    ///
    /// Waits as long as the other side is silent: the deadline is the caller's. Cancel-safe: a call that is
    /// dropped before it is ready has lost nothing, so it may stand in a `select!`.
    ///
    /// # Errors
    ///
    /// What the operating system said, once. The stream counts as ended then: the next call gives what had
    /// been read before the error, as [`Frame::Unterminated`], and after that `None`.
    pub async fn next(&mut self) -> io::Result<Option<Frame>> {
        loop {
            if let Some(frame) = self.splitter.line() {
                return Ok(Some(frame));
            }
            if self.ended {
                return Ok(self.splitter.tail());
            }
            match self.inner.read_buf(&mut self.splitter.room()).await {
                Ok(0) => self.ended = true,
                Ok(_) => {}
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    self.ended = true;
                    return Err(error);
                }
            }
        }
    }

    /// Was more read already than the frames that were given out? Then the next one is likely to follow at once.
    pub fn holds_more(&self) -> bool {
        self.splitter.holds_more()
    }

    /// As [`FrameReader::next`], but a silence of `quiet` is taken for the end of the stream, for good.
    ///
    /// For a child that has exited while one of its descendants still holds the pipe: all the child wrote is
    /// in the pipe already, and an end of file may never come. Read its last frames with this.
    ///
    /// # Errors
    ///
    /// As [`FrameReader::next`].
    pub async fn next_within(&mut self, quiet: Duration) -> io::Result<Option<Frame>> {
        match timeout(quiet, self.next()).await {
            Ok(frame) => frame,
            Err(_silence) => {
                self.ended = true;
                self.next().await
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use bytes::Bytes;
    use std::pin::Pin;
    use std::task::{Context, Poll};
    use tokio::io::{AsyncWriteExt, ReadBuf};

    /// Gives one byte, then is not ready once, and so on; ends with an error if told to, and keeps to it unless it
    /// is an interruption.
    struct Drip {
        bytes: std::vec::IntoIter<u8>,
        rested: bool,
        error: Option<io::ErrorKind>,
    }

    impl Drip {
        fn new(text: &str, error: Option<io::ErrorKind>) -> Self {
            Self {
                bytes: text.as_bytes().to_vec().into_iter(),
                rested: false,
                error,
            }
        }
    }

    impl AsyncRead for Drip {
        fn poll_read(
            mut self: Pin<&mut Self>,
            cx: &mut Context<'_>,
            buf: &mut ReadBuf<'_>,
        ) -> Poll<io::Result<()>> {
            self.rested = !self.rested;
            if self.rested {
                cx.waker().wake_by_ref();
                return Poll::Pending;
            }
            match self.bytes.next() {
                Some(byte) => buf.put_slice(&[byte]),
                None => {
                    if let Some(kind) = self.error {
                        self.error = self.error.filter(|kind| *kind != io::ErrorKind::Interrupted);
                        return Poll::Ready(Err(kind.into()));
                    }
                }
            }
            Poll::Ready(Ok(()))
        }
    }

    fn line(text: &'static str) -> Frame {
        Frame::Line(Bytes::from_static(text.as_bytes()))
    }

    fn tail(text: &'static str) -> Frame {
        Frame::Unterminated(Bytes::from_static(text.as_bytes()))
    }

    #[tokio::test]
    async fn dropping_a_call_at_every_wait_loses_nothing() {
        let mut reader = FrameReader::new(Drip::new("one\ntwo\n\nthree", None), 100);
        let mut frames = Vec::new();
        let mut dropped = 0;
        loop {
            // The first branch wins only if the next frame is there at once, so almost every call is dropped.
            let next = tokio::select! {
                biased;
                next = reader.next() => next.unwrap(),
                () = std::future::ready(()) => { dropped += 1; continue }
            };
            match next {
                Some(frame) => frames.push(frame),
                None => break,
            }
        }
        assert_eq!(frames, [line("one"), line("two"), Frame::Blank, tail("three")]);
        assert!(
            dropped >= "one\ntwo\n\nthree".len(),
            "the test must drop calls: {dropped}"
        );
    }

    #[tokio::test]
    async fn an_error_is_told_once_and_what_came_before_is_kept() {
        let mut reader = FrameReader::new(Drip::new("one\ntw", Some(io::ErrorKind::ConnectionReset)), 100);
        assert_eq!(reader.next().await.unwrap(), Some(line("one")));
        assert_eq!(
            reader.next().await.unwrap_err().kind(),
            io::ErrorKind::ConnectionReset
        );
        assert_eq!(reader.next().await.unwrap(), Some(tail("tw")));
        assert_eq!(reader.next().await.unwrap(), None);
        assert_eq!(reader.next().await.unwrap(), None);
    }

    #[tokio::test]
    async fn an_interrupted_read_is_read_again() {
        let mut reader = FrameReader::new(Drip::new("one\n", Some(io::ErrorKind::Interrupted)), 100);
        assert_eq!(reader.next().await.unwrap(), Some(line("one")));
        assert_eq!(reader.next().await.unwrap(), None);
    }

    #[tokio::test(start_paused = true)]
    async fn silence_ends_the_stream_only_where_it_was_asked_to() {
        let (mut far, near) = tokio::io::duplex(64);
        let mut reader = FrameReader::new(near, 100);
        far.write_all(b"one\nhalf").await.unwrap();
        assert_eq!(
            reader.next_within(Duration::from_secs(1)).await.unwrap(),
            Some(line("one"))
        );
        let waited = timeout(Duration::from_secs(3600), reader.next()).await;
        assert!(
            waited.is_err(),
            "a plain next() waits for as long as the other side is silent"
        );
        assert_eq!(
            reader.next_within(Duration::from_secs(1)).await.unwrap(),
            Some(tail("half"))
        );
        far.write_all(b"late\n").await.unwrap();
        assert_eq!(
            reader.next_within(Duration::from_secs(1)).await.unwrap(),
            None,
            "ended for good"
        );
    }
}
