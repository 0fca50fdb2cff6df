//! Which frame stands where on its way out, counted byte by byte. No I/O, so it can be tried at every byte.

use std::collections::VecDeque;
use std::fmt;

use bytes::Bytes;

/// The place of a frame in the order of one sink. The first frame pushed is 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FrameNumber(u64);

impl FrameNumber {
    /// Before the first frame: nothing was pushed, begun or finished yet.
    pub const NONE: Self = Self(0);

    /// The ordinal, from 1; 0 is [`FrameNumber::NONE`].
    pub fn get(self) -> u64 {
        self.0
    }

    fn next(self) -> Self {
        // 2^64 frames take longer than there is time.
        Self(self.0.saturating_add(1))
    }
}

impl fmt::Display for FrameNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "frame {}", self.0)
    }
}

#[derive(Debug)]
struct Queued {
    number: FrameNumber,
    pieces: Vec<Bytes>,
    /// Its size on the wire: all pieces and a line feed.
    size: usize,
}

/// The frames not yet wholly accepted by the operating system, and how far it got.
#[derive(Debug)]
pub(crate) struct Queue {
    frames: VecDeque<Queued>,
    /// Bytes of the first frame that are accepted already.
    accepted: usize,
    /// Bytes in `frames` that are not accepted yet.
    bytes: usize,
    pushed: FrameNumber,
    begun: FrameNumber,
    written: FrameNumber,
    finished: FrameNumber,
}

impl Queue {
    pub(crate) fn new() -> Self {
        Self {
            frames: VecDeque::new(),
            accepted: 0,
            bytes: 0,
            pushed: FrameNumber::NONE,
            begun: FrameNumber::NONE,
            written: FrameNumber::NONE,
            finished: FrameNumber::NONE,
        }
    }

    pub(crate) fn push(&mut self, pieces: Vec<Bytes>) -> FrameNumber {
        let number = self.pushed.next();
        let size = pieces.iter().map(Bytes::len).fold(1, usize::saturating_add);
        self.bytes = self.bytes.saturating_add(size);
        self.frames.push_back(Queued { number, pieces, size });
        self.pushed = number;
        number
    }

    /// Takes a frame back. True if not one byte of it has left and none ever will.
    pub(crate) fn withdraw(&mut self, number: FrameNumber) -> bool {
        if number <= self.begun {
            return false;
        }
        // Beyond `begun` and not queued means taken back before, or never pushed: it won't leave either way.
        if let Ok(place) = self.frames.binary_search_by_key(&number, |queued| queued.number)
            && let Some(queued) = self.frames.remove(place)
        {
            self.bytes = self.bytes.saturating_sub(queued.size);
        }
        true
    }

    /// What is to be written next, in order; the pieces joined are the bytes on the wire.
    pub(crate) fn pieces(&self) -> impl Iterator<Item = &[u8]> {
        let mut skip = self.accepted;
        self.frames
            .iter()
            .flat_map(|queued| queued.pieces.iter().map(AsRef::as_ref).chain([b"\n".as_slice()]))
            .filter_map(move |piece| {
                let skipped = skip.min(piece.len());
                skip -= skipped;
                piece.get(skipped..).filter(|rest| !rest.is_empty())
            })
    }

    /// Notes that the operating system took the next `count` bytes.
    pub(crate) fn accept(&mut self, count: usize) {
        let mut left = count;
        while left > 0
            && let Some(first) = self.frames.front()
        {
            let open = first.size.saturating_sub(self.accepted);
            self.begun = first.number;
            let taken = left.min(open);
            left -= taken;
            self.bytes = self.bytes.saturating_sub(taken);
            if taken == open {
                self.written = first.number;
                self.accepted = 0;
                self.frames.pop_front();
            } else {
                self.accepted += taken;
            }
        }
    }

    /// Notes that all that was accepted has also left the writer's own buffer, if it has one.
    pub(crate) fn flushed(&mut self) {
        self.finished = self.written;
    }

    /// Gives the queued frames up. True if there were any.
    pub(crate) fn abandon(&mut self) -> bool {
        let lost = !self.frames.is_empty();
        self.frames = VecDeque::new();
        self.accepted = 0;
        self.bytes = 0;
        lost
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.frames.is_empty()
    }

    /// Whether nothing is left to be written or flushed.
    pub(crate) fn is_idle(&self) -> bool {
        self.is_empty() && self.finished == self.written
    }

    /// Whether every frame up to `number` is finished or taken back.
    pub(crate) fn is_settled(&self, number: FrameNumber) -> bool {
        let left = self.frames.front().is_none_or(|first| first.number > number);
        self.finished >= number || (left && self.finished == self.written)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    pub(crate) fn pushed(&self) -> FrameNumber {
        self.pushed
    }

    pub(crate) fn begun(&self) -> FrameNumber {
        self.begun
    }

    pub(crate) fn finished(&self) -> FrameNumber {
        self.finished
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn queue(frames: &[&'static str]) -> Queue {
        let mut queue = Queue::new();
        for frame in frames {
            queue.push(vec![Bytes::from_static(frame.as_bytes())]);
        }
        queue
    }

    fn text(queue: &Queue) -> String {
        queue
            .pieces()
            .map(|piece| std::str::from_utf8(piece).unwrap())
            .collect()
    }

    #[test]
    fn every_count_of_accepted_bytes_has_one_right_answer() {
        // Frames "ab", "", "c": on the wire a b \n \n c \n.
        let answers = [(0, 0), (1, 0), (1, 0), (1, 1), (2, 2), (3, 2), (3, 3)];
        for (count, (begun, finished)) in answers.into_iter().enumerate() {
            let mut at_once = queue(&["ab", "", "c"]);
            at_once.accept(count);
            let mut singly = queue(&["ab", "", "c"]);
            (0..count).for_each(|_| singly.accept(1));
            for mut queue in [at_once, singly] {
                queue.flushed();
                assert_eq!(
                    (queue.begun().get(), queue.finished().get()),
                    (begun, finished),
                    "{count} bytes"
                );
                assert_eq!(text(&queue), "ab\n\nc\n"[count..], "{count} bytes");
                assert_eq!(queue.bytes(), 6 - count, "{count} bytes");
                assert_eq!(queue.is_empty(), count == 6, "{count} bytes");
            }
        }
    }

    #[test]
    fn a_frame_is_finished_only_after_the_flush() {
        let mut queue = queue(&["a"]);
        queue.accept(2);
        assert_eq!((queue.begun().get(), queue.finished()), (1, FrameNumber::NONE));
        assert!(!queue.is_settled(queue.pushed()));
        queue.flushed();
        assert_eq!(queue.finished().get(), 1);
        assert!(queue.is_settled(queue.pushed()));
    }

    #[test]
    fn only_a_frame_of_which_nothing_left_can_be_taken_back() {
        let mut queue = queue(&["ab", "cd", "ef"]);
        queue.accept(1);
        assert!(!queue.withdraw(FrameNumber(1)), "its first byte has left");
        assert!(queue.withdraw(FrameNumber(2)));
        assert!(queue.withdraw(FrameNumber(2)), "still true when asked again");
        assert_eq!((text(&queue).as_str(), queue.bytes()), ("b\nef\n", 5));
        queue.accept(2);
        assert!(queue.withdraw(FrameNumber(3)));
        queue.flushed();
        assert!(queue.is_empty() && queue.is_settled(queue.pushed()));
        assert_eq!((queue.begun().get(), queue.finished().get()), (1, 1));
        assert_eq!(
            queue.push(vec![Bytes::new()]).get(),
            4,
            "a number is never used twice"
        );
    }

    #[test]
    fn a_writer_that_claims_more_than_it_was_given_changes_nothing_else() {
        let mut queue = queue(&["a"]);
        queue.accept(1000);
        assert_eq!(
            (queue.bytes(), queue.is_empty(), queue.begun().get()),
            (0, true, 1)
        );
    }

    #[test]
    fn what_is_abandoned_stays_not_begun() {
        let mut queue = queue(&["ab", "cd"]);
        queue.accept(1);
        assert!(queue.abandon());
        assert!(!queue.abandon(), "nothing is left to lose");
        assert_eq!(
            (queue.begun().get(), queue.finished(), queue.bytes()),
            (1, FrameNumber::NONE, 0)
        );
    }

    proptest! {
        #[test]
        fn what_is_written_is_every_frame_that_was_not_taken_back_in_order(
            frames in proptest::collection::vec("[a-z]{0,6}", 1..12),
            accepts in proptest::collection::vec(1_usize..9, 0..40),
            withdrawals in proptest::collection::vec(1_u64..12, 0..6),
        ) {
            let mut queue = Queue::new();
            for frame in &frames {
                let (head, tail) = frame.split_at(frame.len() / 2);
                queue.push([head, tail].map(|piece| Bytes::from(piece.to_owned())).into());
            }
            let mut withdrawals = withdrawals.into_iter().filter(|number| *number <= frames.len() as u64);
            let mut gone = std::collections::BTreeSet::new();
            let mut wire = String::new();
            for count in accepts.into_iter().chain(std::iter::repeat_n(9, 20)) {
                if let Some(number) = withdrawals.next() && queue.withdraw(FrameNumber(number)) {
                    gone.insert(number);
                }
                let rest = text(&queue);
                let count = count.min(rest.len());
                wire.push_str(&rest[..count]);
                queue.accept(count);
            }
            let kept = frames.iter().zip(1..).filter(|(_, number)| !gone.contains(number));
            let expected: String = kept.flat_map(|(frame, _)| [frame.as_str(), "\n"]).collect();
            prop_assert_eq!(wire, expected);
            prop_assert_eq!(queue.bytes(), 0);
        }
    }
}
