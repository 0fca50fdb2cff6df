//! An answer that came, read by its status, its headers and the structure of its body.

use ::http::{HeaderMap, StatusCode, header::LOCATION};
use candor_core::contract::effect::EffectClass;
use candor_core::judgment::verdict::{Effect, Outcome as Word, Part};
use jiff::Timestamp;
use rmcp::model::ContentBlock;
use serde_json::Value;

use super::body::Body;
use super::decode::Media;
use super::problem::Problem;
use super::status::{Ending, ruling};
use super::terms::{NotDone, Sign, Terms};
use super::{parts, retry, told};
use crate::outcome::{Done, Outcome, Parts, Reason, Receipt, Reference};

/// The longest reference or receipt that is kept, in bytes.
const LONGEST: usize = 2_048;

/// One answer, and how it is to be read.
pub(super) struct Answered<'a> {
    pub(super) status: StatusCode,
    pub(super) headers: &'a HeaderMap,
    pub(super) body: &'a Body,
    pub(super) terms: &'a Terms,
    pub(super) class: EffectClass,
    pub(super) now: Timestamp,
    /// Was it asked by HEAD? Then no body is a body.
    pub(super) head: bool,
}

impl Answered<'_> {
    pub(super) fn outcome<T>(
        &self,
        decode: impl FnOnce(&[u8]) -> Result<T, String>,
        empty: impl FnOnce(StatusCode) -> Option<T>,
    ) -> Outcome<T> {
        let body = self.json();
        let problem = self.problem(body.as_ref());
        if let Some(meant) = self.declared(body.as_ref(), problem.as_ref()) {
            return meant;
        }
        match self.status {
            StatusCode::ACCEPTED => Outcome::Accepted(self.reference(body.as_ref())),
            StatusCode::SEE_OTHER if self.class != EffectClass::Read && self.location().is_some() => {
                Outcome::Accepted(self.reference(None))
            }
            StatusCode::MULTI_STATUS => self.parts(body.as_ref(), decode),
            status if status.is_success() => self.data(body.as_ref(), problem.as_ref(), decode, empty),
            _ => self.refused(problem.as_ref()),
        }
    }

    /// The body, if it is all there, not too long, and not empty.
    fn bytes(&self) -> Result<Option<&[u8]>, &'static str> {
        match self.body {
            _ if self.head => Ok(None),
            Body::Whole(bytes) if bytes.len() > self.terms.most => Err("with more than is read of an answer"),
            Body::Whole(bytes) if bytes.is_empty() => Ok(None),
            Body::Whole(bytes) => Ok(Some(bytes)),
            Body::TooLong => Err("with more than is read of an answer"),
            Body::Broken => Err("and broke off in the middle"),
        }
    }

    fn json(&self) -> Option<Value> {
        match Media::of(self.headers) {
            Media::Other(_) => None,
            Media::Unsaid | Media::Problem | Media::Json => serde_json::from_slice(self.bytes().ok()??).ok(),
        }
    }

    /// What the body tells about a refusal. The data of a success may have members of the same names: there it has to
    /// say that it is a problem.
    fn problem(&self, body: Option<&Value>) -> Option<Problem> {
        let is_one = !self.status.is_success() || Media::of(self.headers) == Media::Problem;
        let object = body.filter(|_| is_one)?.as_object()?;
        let mut problem = Problem::read(object);
        for issue in &mut problem.issues {
            issue.path = self.terms.argument_of(&issue.path);
        }
        Some(problem).filter(|problem| !problem.is_empty())
    }

    /// What the author of the tool says that such an answer means.
    fn declared<T>(&self, body: Option<&Value>, problem: Option<&Problem>) -> Option<Outcome<T>> {
        let seen = |sign: &Sign| sign.is_seen(self.status, body, problem);
        let (_, means, reason) = self.terms.signs.iter().find(|(sign, _, _)| seen(sign))?;
        let ending = if self.status.is_success() {
            Ending::NotPromised
        } else {
            Ending::Status(self.status)
        };
        let usual = ruling(ending, self.class);
        let read = self.class == EffectClass::Read;
        let effect = if read {
            Effect::NotApplied
        } else {
            reason.effect.unwrap_or(usual.effect)
        };
        // The table's word on sort and repeat is about the table's outcome and effect. Where the author says otherwise,
        // so does what follows from them.
        let as_usual = effect == usual.effect && !self.status.is_success();
        let kind = reason.kind.or(usual.kind.filter(|_| as_usual));
        let repeat = reason.repeat.or(usual.repeat.filter(|_| as_usual));
        let told = told::declared(self, reason, problem);
        let reason = self.with_wait(Reason {
            effect: Some(effect),
            kind,
            repeat,
            ..told
        });
        Some(match means {
            NotDone::Rejected => Outcome::Rejected(reason),
            NotDone::Unknown if !read => Outcome::Unknown(Reason {
                effect: Some(Effect::Unknown),
                ..reason
            }),
            NotDone::Failed | NotDone::Unknown => Outcome::Failed(reason),
        })
    }

    fn refused<T>(&self, problem: Option<&Problem>) -> Outcome<T> {
        let ruling = ruling(Ending::Status(self.status), self.class);
        told::not_done(ruling, self.with_wait(told::refused(self, problem)))
    }

    fn not_promised<T>(&self, what: &str, problem: Option<&Problem>) -> Outcome<T> {
        let ruling = ruling(Ending::NotPromised, self.class);
        told::not_done(ruling, self.with_wait(told::not_promised(self, what, problem)))
    }

    fn with_wait(&self, reason: Reason) -> Reason {
        match retry::after(self.headers, self.now) {
            Some(wait) if reason.retry_after.is_none() => reason.retry_after(wait),
            _ => reason,
        }
    }

    fn data<T>(
        &self,
        body: Option<&Value>,
        problem: Option<&Problem>,
        decode: impl FnOnce(&[u8]) -> Result<T, String>,
        empty: impl FnOnce(StatusCode) -> Option<T>,
    ) -> Outcome<T> {
        let bytes = match self.bytes() {
            Ok(Some(bytes)) => bytes,
            Ok(None) => return self.without_data(empty(self.status)),
            Err(what) => return self.not_promised(what, None),
        };
        let media = Media::of(self.headers);
        if !media.is_promised(&self.terms.media_type) {
            return self.not_promised(&told::other_media(&media, self.terms), problem);
        }
        match decode(bytes) {
            Ok(value) => Outcome::Completed(Done {
                value,
                receipt: self.receipt(body).map(Receipt),
                content: None,
            }),
            Err(place) => self.not_promised(&told::misfit(&place), None),
        }
    }

    /// A success that has no body. The status alone says what there is to say.
    fn without_data<T>(&self, value: Option<T>) -> Outcome<T> {
        let receipt = self.receipt(None).map(Receipt);
        if let Some(value) = value {
            let content = Some(vec![ContentBlock::text(told::without_data(self))]);
            return Outcome::Completed(Done {
                value,
                receipt,
                content,
            });
        }
        let promised_none = matches!(self.status, StatusCode::NO_CONTENT | StatusCode::RESET_CONTENT);
        if self.class == EffectClass::Read || !promised_none {
            return self.not_promised("without the data that was promised", None);
        }
        let part = |name: &str, outcome, effect| Part {
            name: name.to_owned(),
            outcome,
            effect,
            code: None,
        };
        Outcome::Partial(Parts {
            value: None,
            parts: vec![
                part("the action", Word::Completed, Effect::Applied),
                part("its data", Word::Failed, Effect::NotApplied),
            ],
            message: told::without_data(self),
            code: told::code_of(self.status),
            receipt,
        })
    }

    fn parts<T>(&self, body: Option<&Value>, decode: impl FnOnce(&[u8]) -> Result<T, String>) -> Outcome<T> {
        let at = self.terms.parts_at.as_ref();
        let Some(parts) = at
            .zip(body)
            .and_then(|(at, body)| parts::read(at, body, self.class))
        else {
            return self.not_promised("and which of the parts are done can't be read from it", None);
        };
        let value = self.bytes().ok().flatten().and_then(|bytes| decode(bytes).ok());
        let receipt = self.receipt(body).map(Receipt);
        let all = parts.iter().all(|part| part.outcome == Word::Completed);
        match value {
            Some(value) if all => Outcome::Completed(Done {
                value,
                receipt,
                content: None,
            }),
            value => {
                let (message, code) = (told::in_parts(self, &parts), told::code_of(self.status));
                Outcome::Partial(Parts {
                    value,
                    parts,
                    message,
                    code,
                    receipt,
                })
            }
        }
    }

    /// `Location`, if it is text and not endless. A relative one stays relative: it is the author who knows to what.
    fn location(&self) -> Option<String> {
        let text = self.headers.get(LOCATION)?.to_str().ok()?.trim();
        (!text.is_empty() && text.len() <= LONGEST).then(|| text.to_owned())
    }

    /// What to follow an acceptance by; empty where there is nothing.
    fn reference(&self, body: Option<&Value>) -> Reference {
        let id = || member(body?, &self.terms.reference_at);
        Reference(self.location().or_else(id).unwrap_or_default())
    }

    fn receipt(&self, body: Option<&Value>) -> Option<String> {
        let declared = self.terms.receipt_at.as_ref().and_then(|at| member(body?, at));
        let created = || self.location().filter(|_| self.status == StatusCode::CREATED);
        declared.or_else(created)
    }
}

/// An id in a body: text or a whole number.
fn member(body: &Value, at: &str) -> Option<String> {
    let text = match body.pointer(at)? {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return None,
    };
    (!text.is_empty() && text.len() <= LONGEST).then_some(text)
}
