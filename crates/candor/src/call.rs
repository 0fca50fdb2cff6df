//! What a tool has at hand while it runs.

use std::sync::Arc;

use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::RoleServer;
use rmcp::service::RequestContext;

use crate::asking::Asking;
use crate::principal::Principal;

/// One call, as its tool sees it. Cloning is cheap.
#[derive(Clone)]
pub struct Call(pub(crate) Arc<Inner>);

/// What a call is made of.
pub(crate) struct Inner {
    pub(crate) operation: OperationId,
    pub(crate) opened: Timestamp,
    pub(crate) principal: Principal,
    pub(crate) context: RequestContext<RoleServer>,
    /// How the user can be asked in this call.
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

    /// The operation: the same id stands in the verdict.
    pub fn operation(&self) -> OperationId {
        self.0.operation
    }

    /// The request as rmcp gives it: the peer, the metadata, the extensions of an HTTP request.
    pub fn context(&self) -> &RequestContext<RoleServer> {
        &self.0.context
    }
}
