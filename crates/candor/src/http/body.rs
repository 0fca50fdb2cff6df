//! The body of an answer, collected under a bound of bytes and of time.

use std::error::Error;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};

/// What came of a body. The status stands whatever becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Body {
    /// All of it.
    Whole(Bytes),
    /// More than the reader takes.
    TooLong,
    /// It broke off, or did not end in time.
    Broken,
}

impl Body {
    /// Collects a body, at most this many bytes, for at most this long.
    pub async fn collect<B>(body: B, most: usize, within: Duration) -> Self
    where
        B: http_body::Body,
        B::Error: Into<Box<dyn Error + Send + Sync>>,
    {
        match tokio::time::timeout(within, Limited::new(body, most).collect()).await {
            Ok(Ok(whole)) => Self::Whole(whole.to_bytes()),
            Ok(Err(fault)) if fault.is::<LengthLimitError>() => Self::TooLong,
            Ok(Err(_)) | Err(_) => Self::Broken,
        }
    }
}

impl From<Bytes> for Body {
    fn from(bytes: Bytes) -> Self {
        Self::Whole(bytes)
    }
}

impl From<Vec<u8>> for Body {
    fn from(bytes: Vec<u8>) -> Self {
        Self::Whole(bytes.into())
    }
}

impl From<&'static str> for Body {
    fn from(text: &'static str) -> Self {
        Self::Whole(Bytes::from_static(text.as_bytes()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use http_body_util::{Full, StreamBody};

    const LONG: Duration = Duration::from_secs(30);

    #[tokio::test]
    async fn a_body_is_taken_whole_up_to_its_bound() {
        let body = || Full::new(Bytes::from_static(b"12345"));
        assert_eq!(Body::collect(body(), 5, LONG).await, Body::from("12345"));
        assert_eq!(Body::collect(body(), 4, LONG).await, Body::TooLong);
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_breaks_off_or_never_ends_is_broken() {
        let frame = || Ok(http_body::Frame::data(Bytes::from_static(b"1")));
        let broken = futures_util::stream::iter([frame(), Err(std::io::Error::other("gone"))]);
        assert_eq!(
            Body::collect(StreamBody::new(broken), 99, LONG).await,
            Body::Broken
        );
        let endless = futures_util::stream::pending::<Result<http_body::Frame<Bytes>, std::io::Error>>();
        assert_eq!(
            Body::collect(StreamBody::new(endless), 99, LONG).await,
            Body::Broken
        );
    }
}
