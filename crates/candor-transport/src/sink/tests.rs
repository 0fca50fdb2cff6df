//! A sink against writers that take a byte at a time, break at any byte, get stuck, or keep a buffer.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt, duplex};
use tokio::time::timeout;

use super::*;

/// Long enough that only a wait that never ends gets there; the clock of these tests is paused and jumps.
const NEVER: Duration = Duration::from_secs(3600);

/// Takes at most `chunk` bytes a call and `budget` in all, then says the pipe is broken.
#[derive(Clone)]
struct Stingy {
    chunk: usize,
    budget: usize,
    vectored: bool,
    flush_fails: bool,
    seen: Arc<Mutex<Seen>>,
}

#[derive(Default)]
struct Seen {
    bytes: Vec<u8>,
    calls: usize,
}

impl Stingy {
    fn new(chunk: usize, budget: usize, vectored: bool) -> Self {
        Self {
            chunk,
            budget,
            vectored,
            flush_fails: false,
            seen: Arc::default(),
        }
    }
}

impl AsyncWrite for Stingy {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.poll_write_vectored(cx, &[IoSlice::new(buf)])
    }

    fn poll_write_vectored(
        self: Pin<&mut Self>,
        _: &mut Context<'_>,
        bufs: &[IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        assert!(bufs.iter().any(|piece| !piece.is_empty()), "a write of nothing");
        let mut seen = self.seen.lock().unwrap();
        let allowed = self.chunk.min(self.budget - seen.bytes.len());
        if allowed == 0 {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        let mut count = 0;
        for piece in bufs {
            let taken = piece.len().min(allowed - count);
            seen.bytes.extend_from_slice(&piece[..taken]);
            count += taken;
        }
        seen.calls += 1;
        Poll::Ready(Ok(count))
    }

    fn is_write_vectored(&self) -> bool {
        self.vectored
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(if self.flush_fails {
            Err(io::ErrorKind::StorageFull.into())
        } else {
            Ok(())
        })
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        panic!("a sink never shuts its writer down")
    }
}

fn bytes(text: &'static str) -> Bytes {
    Bytes::from_static(text.as_bytes())
}

async fn read_all(mut reader: impl tokio::io::AsyncRead + Unpin) -> String {
    let mut text = String::new();
    reader.read_to_string(&mut text).await.unwrap();
    text
}

#[tokio::test]
async fn wherever_the_pipe_breaks_it_is_known_which_frames_have_left() {
    let frames = ["ab", "", "c", "defg"];
    let wire: String = frames.iter().flat_map(|frame| [frame, "\n"]).collect();
    for vectored in [false, true] {
        for chunk in [1, 2, 3, 100] {
            for budget in 0..=wire.len() {
                let what = format!("{budget} bytes by {chunk}, vectored: {vectored}");
                let writer = Stingy::new(chunk, budget, vectored);
                let sink = FrameSink::spawn(writer.clone(), 1000);
                for frame in frames {
                    sink.push(bytes(frame)).unwrap();
                }
                sink.close();
                let broken = (budget < wire.len()).then_some(io::ErrorKind::BrokenPipe);
                assert_eq!(sink.closed().await, broken, "{what}");

                let left = &wire[..budget];
                assert_eq!(writer.seen.lock().unwrap().bytes, left.as_bytes(), "{what}");
                let finished = left.matches('\n').count() as u64;
                let begun = finished + u64::from(!left.is_empty() && !left.ends_with('\n'));
                assert_eq!(
                    (sink.begun().get(), sink.finished().get()),
                    (begun, finished),
                    "{what}"
                );
                assert_eq!(sink.push(bytes("late")), Err(SinkClosed), "{what}");
            }
        }
    }
}

#[tokio::test]
async fn a_failed_flush_is_not_called_finished() {
    let sink = FrameSink::spawn(
        Stingy {
            flush_fails: true,
            ..Stingy::new(100, 100, false)
        },
        1000,
    );
    sink.push(bytes("a")).unwrap();
    assert_eq!(sink.closed().await, Some(io::ErrorKind::StorageFull));
    assert_eq!((sink.begun().get(), sink.finished()), (1, FrameNumber::NONE));
}

#[tokio::test]
async fn frames_that_wait_together_leave_together() {
    for vectored in [false, true] {
        let writer = Stingy::new(usize::MAX, usize::MAX, vectored);
        let sink = FrameSink::spawn(writer.clone(), 1000);
        for _ in 0..30 {
            sink.push(bytes("frame")).unwrap();
        }
        sink.flushed().await;
        let seen = writer.seen.lock().unwrap();
        assert_eq!(
            (seen.calls, seen.bytes.len()),
            (1, 30 * 6),
            "vectored: {vectored}"
        );
    }
}

#[tokio::test]
async fn frames_of_any_size_arrive_whole_and_in_order() {
    for vectored in [false, true] {
        let sizes = [
            0,
            1,
            SCRATCH - 2,
            SCRATCH - 1,
            SCRATCH,
            SCRATCH + 1,
            3 * SCRATCH,
            1,
            0,
        ];
        let writer = Stingy::new(SCRATCH / 3 + 1, usize::MAX, vectored);
        let sink = FrameSink::spawn(writer.clone(), 1000);
        let mut wire = Vec::new();
        for (size, letter) in sizes.into_iter().cycle().take(100).zip((b'a'..=b'z').cycle()) {
            let frame = Bytes::from(vec![letter; size]);
            wire.extend_from_slice(&frame);
            wire.push(b'\n');
            sink.push(frame).unwrap();
        }
        sink.close();
        assert_eq!(sink.closed().await, None);
        assert!(writer.seen.lock().unwrap().bytes == wire, "vectored: {vectored}");
    }
}

#[tokio::test(start_paused = true)]
async fn ready_holds_callers_back_until_the_queue_is_low_again() {
    let (near, mut far) = duplex(4);
    let sink = FrameSink::spawn(near, 6);
    timeout(NEVER, sink.ready())
        .await
        .expect("an empty queue holds nobody back");
    sink.push(bytes("12345678")).unwrap();
    sink.push(bytes("9")).unwrap();
    assert!(
        timeout(NEVER, sink.ready()).await.is_err(),
        "4 of 11 bytes are away, 7 queued"
    );
    let mut taken = [0; 2];
    far.read_exact(&mut taken).await.unwrap();
    timeout(NEVER, sink.ready()).await.expect("5 queued");
    assert!(
        timeout(NEVER, sink.flushed()).await.is_err(),
        "but not yet flushed"
    );
    let mut rest = [0; 9];
    far.read_exact(&mut rest).await.unwrap();
    timeout(NEVER, sink.flushed()).await.expect("all away");
    assert_eq!((&taken, &rest), (b"12", b"345678\n9\n"));
}

#[tokio::test(start_paused = true)]
async fn ready_lets_callers_go_once_nothing_can_be_sent() {
    let (near, far) = duplex(4);
    let sink = FrameSink::spawn(near, 1);
    sink.push(bytes("12345678")).unwrap();
    assert!(timeout(NEVER, sink.ready()).await.is_err());
    drop(far);
    timeout(NEVER, sink.ready()).await.expect("the reader is gone");
    assert_eq!(sink.closed().await, Some(io::ErrorKind::BrokenPipe));
}

#[tokio::test(start_paused = true)]
async fn flushed_waits_for_what_came_before_it_and_no_more() {
    let (near, mut far) = duplex(2);
    let sink = FrameSink::spawn(near, 1000);
    timeout(NEVER, sink.flushed()).await.expect("nothing was pushed");
    sink.push(bytes("1")).unwrap();
    let before = sink.flushed();
    timeout(NEVER, before).await.expect("it fits into the pipe");
    let second = sink.push(bytes("2")).unwrap();
    assert!(timeout(NEVER, sink.flushed()).await.is_err());
    let waiting = tokio::spawn({
        let sink = sink.clone();
        async move { sink.flushed().await }
    });
    tokio::task::yield_now().await;
    sink.push(bytes("a frame that does not fit")).unwrap();
    let mut taken = [0; 2];
    far.read_exact(&mut taken).await.unwrap();
    timeout(NEVER, waiting)
        .await
        .expect("the third frame is not waited for")
        .unwrap();
    assert_eq!(sink.finished(), second);
}

#[tokio::test(start_paused = true)]
async fn close_writes_what_is_queued_and_then_ends_the_stream() {
    let (near, far) = duplex(4);
    let sink = FrameSink::spawn(near, 1000);
    sink.push(bytes("first")).unwrap();
    sink.push(bytes("second")).unwrap();
    sink.close();
    assert_eq!(sink.push(bytes("third")), Err(SinkClosed));
    assert!(timeout(NEVER, sink.closed()).await.is_err(), "nobody reads yet");
    let (text, end) = tokio::join!(read_all(far), sink.closed());
    assert_eq!((text.as_str(), end), ("first\nsecond\n", None));
}

#[tokio::test(start_paused = true)]
async fn the_stream_lives_as_long_as_the_last_clone() {
    let (near, mut far) = duplex(100);
    let sink = FrameSink::spawn(near, 1000);
    let clone = sink.clone();
    sink.push(bytes("first")).unwrap();
    drop(sink);
    far.read_exact(&mut [0; 6]).await.unwrap();
    assert!(timeout(NEVER, far.read_u8()).await.is_err(), "one clone is left");
    clone.push(bytes("second")).unwrap();
    drop(clone);
    assert_eq!(timeout(NEVER, read_all(far)).await.expect("the end"), "second\n");
}

#[tokio::test(start_paused = true)]
async fn abandon_ends_a_stuck_writer_and_gives_up_what_is_queued() {
    let (near, far) = duplex(3);
    let sink = FrameSink::spawn(near, 1000);
    let first = sink.push(bytes("first")).unwrap();
    sink.push(bytes("second")).unwrap();
    assert!(timeout(NEVER, sink.closed()).await.is_err(), "stuck");
    sink.abandon();
    assert_eq!(sink.closed().await, Some(io::ErrorKind::ConnectionAborted));
    assert_eq!((sink.begun(), sink.finished()), (first, FrameNumber::NONE));
    assert_eq!(read_all(far).await, "fir");
}

#[tokio::test]
async fn abandon_with_nothing_queued_is_a_close_in_order() {
    let (near, far) = duplex(100);
    let sink = FrameSink::spawn(near, 1000);
    sink.push(bytes("first")).unwrap();
    sink.flushed().await;
    sink.abandon();
    assert_eq!(sink.closed().await, None);
    assert_eq!(read_all(far).await, "first\n");
}

#[tokio::test(start_paused = true)]
async fn a_frame_taken_back_never_leaves_and_one_that_began_goes_on() {
    let (near, far) = duplex(2);
    let sink = FrameSink::spawn(near, 1000);
    let [first, second, third] = ["first", "second", "third"].map(|frame| sink.push(bytes(frame)).unwrap());
    assert!(
        timeout(NEVER, sink.flushed()).await.is_err(),
        "stuck in the first frame"
    );
    assert_eq!(sink.begun(), first);
    assert!(sink.withdraw(second));
    assert!(!sink.withdraw(first));
    sink.close();
    assert_eq!(read_all(far).await, "first\nthird\n");
    assert_eq!((sink.begun(), sink.finished()), (third, third));
    assert!(!sink.withdraw(third), "gone long ago");
}

#[tokio::test]
async fn a_frame_stays_one_line() {
    let (near, far) = duplex(100);
    let sink = FrameSink::spawn(near, 1000);
    sink.push(bytes("{\n\"a\": 1\r\n}")).unwrap();
    sink.push(bytes(r#"{"a":"\n"}"#)).unwrap();
    sink.close();
    assert_eq!(read_all(far).await, "{ \"a\": 1\r }\n{\"a\":\"\\n\"}\n");
}

/// Publishes, in the middle of a write, the number of the frame whose bytes it is taking.
struct Witness {
    line_feeds: u64,
    leaving: Arc<AtomicU64>,
}

impl AsyncWrite for Witness {
    fn poll_write(mut self: Pin<&mut Self>, _: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.leaving.store(self.line_feeds + 1, Ordering::SeqCst);
        // Gives the observer its chance between the bytes leaving and their being counted.
        std::thread::yield_now();
        self.line_feeds += u64::from(buf[0] == b'\n');
        Poll::Ready(Ok(1))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn begun_is_never_too_low_seen_from_another_thread() {
    let leaving = Arc::new(AtomicU64::new(0));
    let sink = FrameSink::spawn(
        Witness {
            line_feeds: 0,
            leaving: Arc::clone(&leaving),
        },
        1 << 20,
    );
    let last = 500;
    for _ in 0..last {
        sink.push(bytes("x")).unwrap();
    }
    let observer = std::thread::spawn(move || {
        loop {
            let left = leaving.load(Ordering::SeqCst);
            let begun = sink.begun().get();
            assert!(
                begun >= left,
                "frame {left} is leaving, but only {begun} is said to have begun"
            );
            if sink.finished().get() == last {
                return;
            }
            std::thread::yield_now();
        }
    });
    tokio::task::spawn_blocking(move || observer.join())
        .await
        .unwrap()
        .unwrap();
}
