//! One request to a backend and what came of it.

use std::error::Error;
use std::time::Duration;

use ::http::{HeaderMap, Method, Response, StatusCode};
use bytes::Bytes;
use candor_core::contract::effect::EffectClass;
use jiff::Timestamp;
use serde::de::DeserializeOwned;

use super::answered::Answered;
use super::body::Body;
use super::status::{Ending, ruling};
use super::terms::Terms;
use super::{decode, told};
use crate::outcome::Outcome;

/// One request and its end.
///
/// With a client that follows redirections, `NeverConnected` may be about the second request, when the first has done
/// its work. Switch that off where writes are sent: what is not followed is a 3xx, which the table knows.
///
/// With reqwest:
///
/// ```no_run
/// # use std::time::Duration;
/// # use candor::http::{Answer, Exchange, Loss, NoConnection};
/// # async fn send(client: reqwest::Client, request: reqwest::Request) -> Exchange {
/// let method = request.method().clone();
/// match client.execute(request).await {
///     Ok(response) => Exchange::answered(method, response.into(), 1024 * 1024, Duration::from_secs(30)).await,
///     Err(fault) if fault.is_builder() => Exchange::never_connected(method, NoConnection::Other),
///     Err(fault) if fault.is_connect() => Exchange::never_connected(method, NoConnection::Refused),
///     Err(fault) if fault.is_timeout() => Exchange::lost(method, Loss::TimedOut),
///     Err(_) => Exchange::lost(method, Loss::Closed),
/// }
/// # }
/// ```
#[derive(Debug, Clone)]
pub struct Exchange {
    /// How it was asked.
    pub method: Method,
    /// What came.
    pub answer: Answer,
}

/// What came of a request.
#[derive(Debug, Clone)]
pub enum Answer {
    /// A status, at least.
    Answered {
        /// The status.
        status: StatusCode,
        /// The headers.
        headers: HeaderMap,
        /// The body.
        body: Body,
    },
    /// It left, wholly or in part, and no status came.
    Lost(Loss),
    /// There was no connection: nothing left.
    NeverConnected(NoConnection),
}

/// How an answer was lost. A word of ours and no text of the client's: those carry URLs and headers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Loss {
    /// The connection ended.
    Closed,
    /// The time for an answer was over.
    TimedOut,
    /// What came is not HTTP.
    NotHttp,
    /// In another way.
    Other,
}

/// Why there was no connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NoConnection {
    /// The name has no address.
    NoAddress,
    /// Nobody listens, or no way leads there.
    Refused,
    /// The time for a connection was over.
    TimedOut,
    /// The two ends agreed on no TLS.
    Tls,
    /// For another reason.
    Other,
}

impl Exchange {
    /// A request that was answered by this response: its body is collected, at most `most` bytes for at most `within`.
    pub async fn answered<B>(method: Method, response: Response<B>, most: usize, within: Duration) -> Self
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        let (head, body) = response.into_parts();
        let body = Body::collect(body, most, within).await;
        Self {
            method,
            answer: Answer::Answered {
                status: head.status,
                headers: head.headers,
                body,
            },
        }
    }

    /// A request that left, and got no answer.
    pub fn lost(method: Method, how: Loss) -> Self {
        Self {
            method,
            answer: Answer::Lost(how),
        }
    }

    /// A request that never left.
    pub fn never_connected(method: Method, why: NoConnection) -> Self {
        Self {
            method,
            answer: Answer::NeverConnected(why),
        }
    }

    /// What became of the operation, with JSON data of a success as `T`. `now` is for a `Retry-After` with a date.
    ///
    /// A success without a body (204, 205, or nothing after another 2xx) is read as JSON `null`: use `()`, an
    /// `Option`, or [`Exchange::read_or`]. Where a 204 or 205 of a write has no `T`, the result is partial: the
    /// action is done, its data did not come.
    pub fn read<T: DeserializeOwned>(&self, terms: &Terms, now: Timestamp) -> Outcome<T> {
        self.outcome(terms, now, decode::data, |_| decode::data(b"null").ok())
    }

    /// As [`Exchange::read`], with this value for a success without a body.
    pub fn read_or<T: DeserializeOwned>(
        &self,
        terms: &Terms,
        now: Timestamp,
        empty: impl FnOnce(StatusCode) -> T,
    ) -> Outcome<T> {
        self.outcome(terms, now, decode::data, |status| Some(empty(status)))
    }

    /// As [`Exchange::read`], with the bytes of the body: for other media types than JSON.
    pub fn read_bytes(&self, terms: &Terms, now: Timestamp) -> Outcome<Bytes> {
        self.outcome(
            terms,
            now,
            |body| Ok(Bytes::copy_from_slice(body)),
            |_| Some(Bytes::new()),
        )
    }

    /// The effect class that holds for this exchange.
    pub fn class(&self, terms: &Terms) -> EffectClass {
        terms.class_of(&self.method)
    }

    fn outcome<T>(
        &self,
        terms: &Terms,
        now: Timestamp,
        decode: impl FnOnce(&[u8]) -> Result<T, String>,
        empty: impl FnOnce(StatusCode) -> Option<T>,
    ) -> Outcome<T> {
        let class = self.class(terms);
        match &self.answer {
            Answer::Answered {
                status,
                headers,
                body,
            } => {
                let head = self.method == Method::HEAD;
                let answered = Answered {
                    status: *status,
                    headers,
                    body,
                    terms,
                    class,
                    now,
                    head,
                };
                answered.outcome(decode, empty)
            }
            Answer::Lost(how) => told::unanswered(ruling(Ending::Lost, class), told::lost(terms, *how)),
            Answer::NeverConnected(why) => told::unanswered(
                ruling(Ending::NeverConnected, class),
                told::never_connected(terms, *why),
            ),
        }
    }
}

#[cfg(test)]
mod tests;
