//! A result that is not flagged, read by the contract's clauses that can lower a claim.

use serde_json::Value;

use super::Call;
use crate::contract::rules::Seen;
use crate::judgment::ending::Ending;
use crate::recovery::read_back::{moment, structure};
use crate::wire::reply::Reply;

impl Call {
    /// The ending, lowered where one of the contract's expressions holds of the result. A field that a mapping read, a
    /// verdict that is believed and a clause about texts stand over them.
    pub(super) fn lowered(&self, ending: Ending, reply: &Reply) -> Ending {
        let Ending::Replied(mut reading) = ending else {
            return ending;
        };
        let clauses = self.terms().map_or(&[][..], |terms| &terms.lower);
        if clauses.is_empty() {
            return Ending::Replied(reading);
        }
        let args = self.sent_arguments().unwrap_or_default();
        let structure = structure(reply);
        let seen = structure.as_ref().map(|(result, text)| Seen {
            args: &args,
            result,
            answer: &Value::Null,
            text,
            now: moment(self.sent.unwrap_or(self.opened)),
        });
        reading.lower(clauses, seen.as_ref());
        Ending::Replied(reading)
    }
}
