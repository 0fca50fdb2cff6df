//! The rewriting around rmcp's HTTP service, as a tower layer on `http` types, so that a server over streamable HTTP has
//! the tasks of 2025-11-25.

use std::error::Error;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use http::header::{CONTENT_LENGTH, CONTENT_TYPE};
use http::{HeaderValue, Method, Request, Response, StatusCode};
use http_body::Body;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt, Full, LengthLimitError, Limited};
use tower_layer::Layer;
use tower_service::Service;

use super::answer::{Answer, Form};
use super::rewriting::{inwards, may_concern, rewritten};

/// The largest request, in bytes: rmcp's own bound.
const LARGEST_REQUEST: usize = 4 * 1024 * 1024;

/// The body of an answer that went through a [`Carry`].
pub type CarriedBody = BoxBody<Bytes, Box<dyn Error + Send + Sync>>;

/// Puts the rewriting around a service:
/// `axum::Router::new().nest_service("/mcp", service).layer(CarryLayer::default())`, or around rmcp's service itself.
#[derive(Debug, Clone, Copy)]
pub struct CarryLayer {
    largest: usize,
}

impl Default for CarryLayer {
    fn default() -> Self {
        Self {
            largest: LARGEST_REQUEST,
        }
    }
}

impl CarryLayer {
    /// Takes requests of at most so many bytes; 4 MiB where nothing is said. A larger one gets status 413.
    #[must_use]
    pub fn largest_request(self, bytes: usize) -> Self {
        Self { largest: bytes }
    }
}

impl<S> Layer<S> for CarryLayer {
    type Service = Carry<S>;

    fn layer(&self, inner: S) -> Carry<S> {
        Carry {
            inner,
            largest: self.largest,
        }
    }
}

/// A service with the rewriting around it.
#[derive(Debug, Clone)]
pub struct Carry<S> {
    inner: S,
    largest: usize,
}

impl<S, B, A> Service<Request<B>> for Carry<S>
where
    S: Service<Request<Full<Bytes>>, Response = Response<A>> + Clone + Send + 'static,
    S::Future: Send,
    B: Body + Send + 'static,
    B::Data: Send,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
    A: Body<Data = Bytes> + Unpin + Send + Sync + 'static,
    A::Error: Into<Box<dyn Error + Send + Sync>>,
{
    type Response = Response<CarriedBody>;
    type Error = S::Error;
    type Future = BoxFuture<'static, Result<Self::Response, S::Error>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, request: Request<B>) -> Self::Future {
        // The one that is ready is used; its clone is not yet.
        let ready_one = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, ready_one);
        let largest = self.largest;
        async move {
            let (parts, body) = request.into_parts();
            let bytes = match Limited::new(body, largest).collect().await {
                Ok(whole) => whole.to_bytes(),
                Err(error) => return Ok(unread(error.as_ref())),
            };
            let request = Request::from_parts(parts, bytes);
            let answer = inner.call(rewritten_request(request)).await?;
            Ok(rewritten_answer(answer))
        }
        .boxed()
    }
}

fn unread(error: &(dyn Error + Send + Sync + 'static)) -> Response<CarriedBody> {
    let status = if error.is::<LengthLimitError>() {
        StatusCode::PAYLOAD_TOO_LARGE
    } else {
        StatusCode::BAD_REQUEST
    };
    let mut answer = Response::new(Full::new(Bytes::new()).map_err(|never| match never {}).boxed());
    *answer.status_mut() = status;
    answer
}

fn rewritten_request(request: Request<Bytes>) -> Request<Full<Bytes>> {
    let (mut parts, bytes) = request.into_parts();
    let concerned = parts.method == Method::POST && may_concern(&bytes);
    let Some(text) = Some(&bytes)
        .filter(|_| concerned)
        .and_then(|bytes| rewritten(bytes, inwards))
    else {
        return Request::from_parts(parts, Full::new(bytes));
    };
    if parts.headers.contains_key(CONTENT_LENGTH) {
        parts
            .headers
            .insert(CONTENT_LENGTH, HeaderValue::from(text.len()));
    }
    Request::from_parts(parts, Full::new(Bytes::from(text)))
}

fn rewritten_answer<A>(answer: Response<A>) -> Response<CarriedBody>
where
    A: Body<Data = Bytes> + Unpin + Send + Sync + 'static,
    A::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let (mut parts, body) = answer.into_parts();
    let kind = parts
        .headers
        .get(CONTENT_TYPE)
        .and_then(|kind| kind.to_str().ok())
        .unwrap_or_default();
    let form = if kind.starts_with("text/event-stream") {
        Form::Events
    } else if kind.starts_with("application/json") {
        Form::Whole
    } else {
        Form::Other
    };
    if form != Form::Other {
        parts.headers.remove(CONTENT_LENGTH);
    }
    Response::from_parts(parts, Answer::new(body, form).boxed())
}
