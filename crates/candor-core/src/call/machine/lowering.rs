//! A result that is not flagged, read by the contract's clauses that can lower a claim.

use serde_json::Value;

use super::Call;
use crate::contract::lower;
use crate::contract::rules::Seen;
use crate::judgment::ending::Ending;
use crate::judgment::how::How;
use crate::recovery::read_back::{moment, structure};
use crate::wire::reply::Reply;

/// How much of a text is kept for a quotation, in characters.
const KEPT_TEXT: usize = 600;

impl Call {
    /// The ending, lowered where one of the contract's expressions holds of the result. A field that a mapping read, a
    /// verdict that is believed and a clause about texts stand over them.
    pub(super) fn lowered(&self, ending: Ending, reply: &Reply) -> Ending {
        let Ending::Replied(mut reading) = ending else {
            return ending;
        };
        let clauses = self.terms().map_or(&[][..], |terms| &terms.lower);
        let unflagged = matches!(reading.how, How::Ok | How::OkBadShape | How::OkNoStructure);
        let unread = unflagged && reading.mapped.is_none() && reading.lowered.is_none();
        if clauses.is_empty() || !unread {
            return Ending::Replied(reading);
        }
        let (Some(args), Some((result, text))) = (self.sent_arguments(), structure(reply)) else {
            return Ending::Replied(reading);
        };
        let seen = Seen {
            args: &args,
            result: &result,
            answer: &Value::Null,
            text: &text,
            now: moment(self.sent.unwrap_or(self.opened)),
        };
        reading.lowered = lower::read(clauses, &seen);
        if reading.lowered.is_some() {
            reading.sign = None;
            if reading.first_text.is_none() && !text.trim().is_empty() {
                reading.first_text = Some(text.chars().take(KEPT_TEXT).collect());
            }
        }
        Ending::Replied(reading)
    }
}
