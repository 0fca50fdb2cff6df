//! Frames into anything that can be written: in order, by a task of its own, without ever holding up a reader.

use std::fmt;
use std::io::{self, IoSlice};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker, ready};

use bytes::Bytes;
use tokio::io::AsyncWrite;
use tokio::sync::{Notify, mpsc};

use crate::queue::{FrameNumber, Queue};

/// The most pieces handed to the operating system in one call: 32 frames of one piece with their line feeds.
const PIECES: usize = 64;

/// Small frames are copied together up to this size where the writer can't take several pieces at once.
const SCRATCH: usize = 64 * 1024;

/// The sink takes no more frames: it was closed, or its writer failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the stream is closed for writing, so this frame was not sent")]
pub struct SinkClosed;

/// Writes frames in the order they were pushed, each with its line feed.
///
/// Clones write into the same stream. When the last clone is dropped the sink closes as by
/// [`FrameSink::close`].
#[derive(Debug, Clone)]
pub struct FrameSink {
    shared: Arc<Shared>,
    /// Wakes the writer. One waiting signal stands for any number of frames; none of them left is a close.
    wake: mpsc::Sender<()>,
    high_water: usize,
}

#[derive(Debug)]
struct Shared {
    state: Mutex<State>,
    /// Told whenever bytes were accepted, flushed or given up.
    progress: Notify,
    /// Told when the writer has ended. Apart from progress, so that who waits for the end is not woken by every write.
    ended: Notify,
    abandoned: Notify,
}

#[derive(Debug)]
struct State {
    queue: Queue,
    /// Gone once the sink has ended.
    writer: Option<Writer>,
    /// Small pieces are copied together here for a writer that can't take several at once.
    scratch: Vec<u8>,
    closing: bool,
    end: Option<End>,
}

struct Writer(Box<dyn AsyncWrite + Unpin + Send>);

impl fmt::Debug for Writer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Writer")
    }
}

/// How the writer's task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    InOrder,
    Failed(io::ErrorKind),
}

/// What the writer has to do next.
enum Step {
    Write,
    Wait,
    End,
}

impl FrameSink {
    /// Starts a task on the current Tokio runtime that owns `writer` and writes what is pushed.
    ///
    /// `high_water` is the number of queued bytes (at least 1) at which [`FrameSink::ready`] starts to hold
    /// callers back. Frames small enough are written several at a time.
    ///
    /// Must be called within a Tokio runtime, as [`tokio::spawn`].
    pub fn spawn<W: AsyncWrite + Unpin + Send + 'static>(writer: W, high_water: usize) -> Self {
        let shared = Arc::new(Shared {
            state: Mutex::new(State {
                queue: Queue::new(),
                writer: Some(Writer(Box::new(writer))),
                scratch: Vec::new(),
                closing: false,
                end: None,
            }),
            progress: Notify::new(),
            ended: Notify::new(),
            abandoned: Notify::new(),
        });
        let (wake, woken) = mpsc::channel(1);
        tokio::spawn(write_all(Arc::clone(&shared), woken));
        Self {
            shared,
            wake,
            high_water: high_water.max(1),
        }
    }

    /// Queues a frame and returns its number. Never waits and never refuses for want of room: await
    /// [`FrameSink::ready`] before taking on more work, so that the queue stays near its high-water mark.
    ///
    /// The line feed is added here. A line feed inside the frame would tear it in two, and can in JSON only be
    /// white space between tokens, so it is written as a space.
    ///
    /// # Errors
    ///
    /// [`SinkClosed`] if nothing can be sent any more; the frame was not and will not be.
    pub fn push(&self, frame: Bytes) -> Result<FrameNumber, SinkClosed> {
        self.push_pieces(vec![frame])
    }

    /// As [`FrameSink::push`], for a frame that is not in one piece: its pieces leave one after the other.
    ///
    /// # Errors
    ///
    /// [`SinkClosed`] if nothing can be sent any more; the frame was not and will not be.
    pub fn push_pieces(&self, pieces: Vec<Bytes>) -> Result<FrameNumber, SinkClosed> {
        let number = self.shared.lock().push(pieces)?;
        self.wake_writer();
        Ok(number)
    }

    /// As [`FrameSink::push_pieces`], and writes the frame before it returns where nothing is in its way and the other
    /// side takes it without waiting. For a frame that no other follows at once: frames that leave together cost less
    /// than one by one.
    ///
    /// # Errors
    ///
    /// [`SinkClosed`] if nothing can be sent any more; the frame was not and will not be.
    pub fn push_now(&self, pieces: Vec<Bytes>) -> Result<FrameNumber, SinkClosed> {
        let (number, left) = {
            let mut state = self.shared.lock();
            // The task may be in the middle of a write or a flush, and only one can be told when that goes on.
            let is_free = state.queue.is_idle();
            let number = state.push(pieces)?;
            (number, is_free && state.writes_at_once())
        };
        if left {
            self.shared.progress.notify_waiters();
        } else {
            self.wake_writer();
        }
        Ok(number)
    }

    /// Takes a frame back. True if not one byte of it has left this process and none ever will; false if it
    /// has left at least in part.
    ///
    /// To compare a number with [`FrameSink::begun`] is not enough while the sink is still writing, since the
    /// frame may leave a moment later: whoever gives up on a queued frame and wants to say "not sent" takes it
    /// back first.
    pub fn withdraw(&self, number: FrameNumber) -> bool {
        let withdrawn = self.shared.lock().queue.withdraw(number);
        self.shared.progress.notify_waiters();
        withdrawn
    }

    /// Resolves when fewer bytes are queued than the high-water mark, or when the sink is closed. Cancel-safe.
    /// The deadline is the caller's: a peer that never reads holds this up for ever.
    pub async fn ready(&self) {
        let high_water = self.high_water;
        let room = |state: &State| state.queue.bytes() < high_water || state.closing || state.end.is_some();
        self.shared
            .until(&self.shared.progress, |state| room(state).then_some(()))
            .await;
    }

    /// How many bytes wait to be handed to the operating system.
    pub fn queued(&self) -> usize {
        self.shared.lock().queue.bytes()
    }

    /// The last frame of which at least one byte was handed to the operating system. No frame with a higher
    /// number has left so far; after the end of the sink none ever will. Never too low, not even while a write
    /// is under way; where the writer has a buffer of its own, what went in there counts as begun.
    pub fn begun(&self) -> FrameNumber {
        self.shared.lock().queue.begun()
    }

    /// The last frame that was wholly handed to the operating system. Frames before it that were not taken
    /// back are finished too. It says nothing about whether the peer has read it.
    pub fn finished(&self) -> FrameNumber {
        self.shared.lock().queue.finished()
    }

    /// Resolves when all frames pushed before the call are finished or taken back, or the sink has ended.
    /// Cancel-safe; the deadline is the caller's.
    pub async fn flushed(&self) {
        let last = self.shared.lock().queue.pushed();
        let done = |state: &State| state.queue.is_settled(last) || state.end.is_some();
        self.shared
            .until(&self.shared.progress, |state| done(state).then_some(()))
            .await;
    }

    /// Takes no more frames. What is queued is still written; then the writer is dropped, and a child sees the
    /// end of its input.
    pub fn close(&self) {
        self.shared.lock().closing = true;
        self.shared.progress.notify_waiters();
        self.wake_writer();
    }

    /// Closes at once: what is queued is given up, and the writer is dropped even if it is stuck in a write.
    pub fn abandon(&self) {
        self.shared.lock().closing = true;
        self.shared.progress.notify_waiters();
        self.shared.abandoned.notify_one();
    }

    /// Resolves when the writer's task has ended and its writer is dropped. `None`: closed, with everything
    /// written. Otherwise why not: `BrokenPipe` when the reader is gone, `ConnectionAborted` when frames were
    /// given up by [`FrameSink::abandon`], or what else the operating system said. Cancel-safe.
    ///
    /// A stream that nobody writes to does not notice that its reader is gone.
    pub async fn closed(&self) -> Option<io::ErrorKind> {
        match self.shared.until(&self.shared.ended, |state| state.end).await {
            End::InOrder => None,
            End::Failed(kind) => Some(kind),
        }
    }

    fn wake_writer(&self) {
        // Full: a signal is waiting already. Closed: the writer has ended, and its end says why.
        let _ = self.wake.try_send(());
    }
}

impl State {
    fn push(&mut self, pieces: Vec<Bytes>) -> Result<FrameNumber, SinkClosed> {
        if self.closing || self.end.is_some() {
            return Err(SinkClosed);
        }
        Ok(self.queue.push(pieces.into_iter().map(on_one_line).collect()))
    }

    /// Writes what is queued without waiting; true if all of it has left. An error is left to the writer's task, which
    /// meets it again.
    fn writes_at_once(&mut self) -> bool {
        let cx = &mut Context::from_waker(Waker::noop());
        while !self.queue.is_empty() {
            if !matches!(self.poll_write(cx), Poll::Ready(Ok(()))) {
                return false;
            }
        }
        matches!(self.poll_flush(cx), Poll::Ready(Ok(())))
    }

    /// One write of as much as the writer takes at once.
    ///
    /// It does not block, and the caller holds the lock meanwhile: bytes that have left and the count of them change in
    /// one step, so that nobody can read a `begun` that is too low.
    fn poll_write(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let Some(Writer(writer)) = self.writer.as_mut().filter(|_| !self.queue.is_empty()) else {
            return Poll::Ready(Ok(()));
        };
        let mut slots = [IoSlice::new(&[]); PIECES];
        let mut used = 0;
        for (slot, piece) in slots.iter_mut().zip(self.queue.pieces()) {
            *slot = IoSlice::new(piece);
            used += 1;
        }
        let pieces = slots.get(..used).unwrap_or_default();
        let count = if writer.is_write_vectored() {
            ready!(Pin::new(writer).poll_write_vectored(cx, pieces))?
        } else {
            ready!(Pin::new(writer).poll_write(cx, joined(pieces, &mut self.scratch)))?
        };
        if count == 0 {
            return Poll::Ready(Err(io::ErrorKind::WriteZero.into()));
        }
        self.queue.accept(count);
        Poll::Ready(Ok(()))
    }

    /// Nothing to do for a pipe. A writer with a buffer fails here, before "finished" is said.
    fn poll_flush(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if let Some(Writer(writer)) = &mut self.writer {
            ready!(Pin::new(writer).poll_flush(cx))?;
        }
        self.queue.flushed();
        Poll::Ready(Ok(()))
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        // A writer that panicked in the middle of a write leaves a count that is too low by at most that write.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Waits until `answer` gives one; `told` is told whenever it may.
    async fn until<T>(&self, told: &Notify, answer: impl Fn(&State) -> Option<T>) -> T {
        // Most often it is there already, and nobody has to listen.
        let found = answer(&self.lock());
        if let Some(found) = found {
            return found;
        }
        loop {
            let mut news = std::pin::pin!(told.notified());
            // Listening before looking, so that no news falls in between.
            news.as_mut().enable();
            let found = answer(&self.lock());
            if let Some(found) = found {
                return found;
            }
            news.await;
        }
    }

    /// What the writer has to do. One look at the state, so that no push falls between two.
    fn step(&self) -> Step {
        let state = self.lock();
        match (state.queue.is_idle(), state.closing) {
            (false, _) => Step::Write,
            (true, true) => Step::End,
            (true, false) => Step::Wait,
        }
    }

    fn note_end(&self, outcome: Result<(), io::ErrorKind>) {
        let mut state = self.lock();
        let lost = state.queue.abandon();
        state.end = Some(match outcome {
            Ok(()) => End::InOrder,
            Err(io::ErrorKind::ConnectionAborted) if !lost => End::InOrder,
            Err(kind) => End::Failed(kind),
        });
        drop(state);
        self.progress.notify_waiters();
        self.ended.notify_waiters();
    }
}

/// The task of one sink, from its first frame to the dropping of its writer.
async fn write_all(shared: Arc<Shared>, mut woken: mpsc::Receiver<()>) {
    let outcome = tokio::select! {
        biased;
        () = shared.abandoned.notified() => Err(io::ErrorKind::ConnectionAborted),
        outcome = write_queued(&shared, &mut woken) => outcome.map_err(|error| error.kind()),
    };
    // Before the end is told: whoever waits for it may rely on the peer seeing it too. No shutdown, since a
    // socket may be our input as well.
    let writer = shared.lock().writer.take();
    drop(writer);
    shared.note_end(outcome);
}

async fn write_queued(shared: &Shared, woken: &mut mpsc::Receiver<()>) -> io::Result<()> {
    let mut pushers = true;
    loop {
        match shared.step() {
            Step::Write => {
                std::future::poll_fn(|cx| shared.lock().poll_write(cx)).await?;
                std::future::poll_fn(|cx| shared.lock().poll_flush(cx)).await?;
                shared.progress.notify_waiters();
            }
            Step::Wait if pushers => pushers = woken.recv().await.is_some(),
            // Closed, or the last clone of the sink is gone.
            Step::Wait | Step::End => return Ok(()),
        }
    }
}

/// The pieces as one: the first alone if it is big, else copied together.
fn joined<'a>(pieces: &'a [IoSlice<'_>], scratch: &'a mut Vec<u8>) -> &'a [u8] {
    if let Some(first) = pieces.first()
        && first.len() >= SCRATCH
    {
        return first;
    }
    scratch.clear();
    for piece in pieces {
        let room = SCRATCH.saturating_sub(scratch.len()).min(piece.len());
        scratch.extend_from_slice(piece.get(..room).unwrap_or_default());
    }
    scratch
}

fn on_one_line(frame: Bytes) -> Bytes {
    if memchr::memchr(b'\n', &frame).is_none() {
        return frame;
    }
    frame
        .iter()
        .map(|byte| if *byte == b'\n' { b' ' } else { *byte })
        .collect()
}

#[cfg(test)]
mod tests;
