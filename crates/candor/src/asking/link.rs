//! A page the user is sent to: for what must not pass through the client and the model.

use std::time::Duration;

use super::form::{FormFault, LONGEST_WAIT, USUAL_WAIT};

/// Longest URL, in bytes.
const LONGEST_URL: usize = 2048;

/// A page of the server's own that the user is asked to open (URL mode of elicitation, from 2025-11-25).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub(super) message: String,
    pub(super) url: String,
    pub(super) wait: Duration,
}

impl Link {
    /// A page and why the user should open it. The URL must be `https`, or `http` on this machine, and must carry no
    /// user name and no password. It must not let in whoever holds it: it passes through the client.
    pub fn new(message: impl Into<String>, url: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            url: url.into(),
            wait: USUAL_WAIT,
        }
    }

    /// How long the user has to agree.
    #[must_use]
    pub fn within(self, wait: Duration) -> Self {
        Self {
            wait: wait.min(LONGEST_WAIT),
            ..self
        }
    }

    /// Looks at the URL as it is looked at when the user is asked.
    ///
    /// # Errors
    ///
    /// [`FormFault::Url`].
    pub fn check(&self) -> Result<(), FormFault> {
        let fault = |problem| Err(FormFault::Url { problem });
        if self.url.len() > LONGEST_URL {
            return fault("it is longer than 2048 bytes");
        }
        let Ok(uri) = self.url.parse::<http::Uri>() else {
            return fault("it is no URL");
        };
        let (Some(scheme), Some(authority)) = (uri.scheme_str(), uri.authority()) else {
            return fault("it isn't absolute");
        };
        if authority.as_str().contains('@') {
            return fault("it has a user name in it");
        }
        let host = authority.host();
        let here = host == "localhost" || host == "127.0.0.1" || host == "[::1]";
        match scheme {
            "https" => Ok(()),
            "http" if here => Ok(()),
            _ => fault("it is neither https nor http on this machine"),
        }
    }
}
