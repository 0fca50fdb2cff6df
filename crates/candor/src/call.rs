//! What a tool has at hand while it runs.

use std::fmt;
use std::sync::Arc;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::handler::server::common::FromContextPart;
use rmcp::handler::server::tool::ToolCallContext;
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::Value;

use crate::asking::Asking;
use crate::principal::Principal;

/// One call, as its tool sees it. Cloning is cheap.
///
/// A tool by macro takes it as a parameter of this type; a tool without macros gets it as its second.
#[derive(Clone)]
pub struct Call(pub(crate) Arc<Inner>);

/// What a call is made of.
pub(crate) struct Inner {
    pub(crate) operation: OperationId,
    pub(crate) opened: Timestamp,
    pub(crate) principal: Principal,
    pub(crate) context: RequestContext<RoleServer>,
    /// The arguments as they came, an object: what sealed states are bound to.
    pub(crate) given: Arc<Value>,
    /// The arguments as they were checked: those that came, or what became of them by coercion. Numbers are exact.
    pub(crate) arguments: Arc<Value>,
    /// How the user can be asked in this call.
    #[expect(dead_code, reason = "read by asking, which is to come")]
    pub(crate) asking: Asking,
}

/// The tool stops here because the call goes on elsewhere: the round of questions is over, or it becomes a task. Only
/// [`Call`] makes one; a tool passes it on with `?`.
#[derive(Debug, Clone)]
pub struct Halt(pub(crate) ());

impl Call {
    /// Who calls.
    pub fn principal(&self) -> &Principal {
        &self.0.principal
    }

    /// When the call was opened, by the server's clock.
    pub fn opened(&self) -> Timestamp {
        self.0.opened
    }

    /// The operation: the same id stands in the verdict, and in the log where something breaks.
    pub fn operation(&self) -> OperationId {
        self.0.operation
    }

    /// The checked arguments, an object: coerced where that was needed, numbers exactly as they came.
    pub fn arguments(&self) -> &Value {
        &self.0.arguments
    }

    /// The arguments as they came, an object, before anything was coerced.
    pub fn given(&self) -> &Value {
        &self.0.given
    }

    /// The request as rmcp gives it: the peer, the metadata, the extensions of an HTTP request.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.0.context
    }
}

impl fmt::Debug for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("operation", &self.0.operation)
            .finish_non_exhaustive()
    }
}

impl<S> FromContextPart<ToolCallContext<'_, S>> for Call {
    fn from_context_part(context: &mut ToolCallContext<'_, S>) -> Result<Self, ErrorData> {
        context
            .request_context
            .extensions
            .get::<Self>()
            .cloned()
            .ok_or_else(not_wrapped)
    }
}

/// A server whose tools need the wrapper is served without it: an author's slip, seen at the first call.
pub(crate) fn not_wrapped() -> ErrorData {
    ErrorData::internal_error("This server's tools need candor::Candor around the server.", None)
}
