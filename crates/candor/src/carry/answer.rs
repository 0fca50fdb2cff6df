//! An HTTP answer's body, rewritten while it passes.

use std::error::Error;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use http_body::{Body, Frame};

use super::rewriting::{may_concern, outwards, rewritten};

/// The most that is held to be rewritten. What is longer passes as it is.
const MOST_HELD: usize = 4 * 1024 * 1024;

/// What kind of body it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// `text/event-stream`: one message on each `data:` line, as rmcp writes them.
    Events,
    /// `application/json`: one message.
    Whole,
    /// Anything else passes untouched.
    Other,
}

/// A body around another.
#[derive(Debug)]
pub(super) struct Answer<B> {
    body: B,
    form: Form,
    held: Vec<u8>,
    /// Inside a line that is too long to be rewritten.
    passing: bool,
    ended: bool,
}

impl<B> Answer<B> {
    pub(super) fn new(body: B, form: Form) -> Self {
        Self {
            body,
            form,
            held: Vec::new(),
            passing: false,
            ended: false,
        }
    }

    /// What can go on after these bytes came.
    fn taken(&mut self, bytes: Bytes) -> Bytes {
        match self.form {
            Form::Other => bytes,
            Form::Whole => {
                self.held.extend_from_slice(&bytes);
                if self.held.len() <= MOST_HELD {
                    return Bytes::new();
                }
                self.form = Form::Other;
                Bytes::from(std::mem::take(&mut self.held))
            }
            Form::Events => {
                self.held.extend_from_slice(&bytes);
                self.lines()
            }
        }
    }

    fn lines(&mut self) -> Bytes {
        let mut out = Vec::with_capacity(self.held.len());
        let mut rest = self.held.as_slice();
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end + 1);
            match Some(line).filter(|_| !self.passing).and_then(event) {
                Some(text) => out.extend_from_slice(text.as_bytes()),
                None => out.extend_from_slice(line),
            }
            self.passing = false;
            rest = after;
        }
        let mut held = rest.to_vec();
        if held.len() > MOST_HELD || self.passing {
            self.passing = true;
            out.append(&mut held);
        }
        self.held = held;
        Bytes::from(out)
    }

    /// What is left when the body has ended.
    fn rest(&mut self) -> Option<Bytes> {
        let held = std::mem::take(&mut self.held);
        if held.is_empty() {
            return None;
        }
        let whole = Some(&held).filter(|held| self.form == Form::Whole && may_concern(held));
        let text = whole.and_then(|held| rewritten(held, outwards));
        Some(text.map_or_else(|| Bytes::from(held), Bytes::from))
    }
}

fn event(line: &[u8]) -> Option<String> {
    let message = line
        .strip_prefix(b"data:")
        .filter(|message| may_concern(message))?;
    rewritten(message, outwards).map(|text| format!("data: {text}\n"))
}

impl<B> Body for Answer<B>
where
    B: Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Data = Bytes;
    type Error = Box<dyn Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        loop {
            if self.ended {
                return Poll::Ready(self.rest().map(|rest| Ok(Frame::data(rest))));
            }
            let frame = match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => frame,
                // What broke off must not look like what ended.
                Some(Err(error)) => return Poll::Ready(Some(Err(error.into()))),
                None => {
                    self.ended = true;
                    continue;
                }
            };
            match frame.into_data() {
                Ok(bytes) => {
                    let out = self.taken(bytes);
                    if !out.is_empty() {
                        return Poll::Ready(Some(Ok(Frame::data(out))));
                    }
                }
                Err(trailers) => return Poll::Ready(Some(Ok(trailers))),
            }
        }
    }
}
