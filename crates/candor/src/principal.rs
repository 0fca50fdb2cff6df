//! Who calls. What belongs to somebody else is not there.

use std::collections::BTreeSet;

/// Who calls, as the server's own authentication found out. Never taken from what a client says of itself.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Principal {
    /// A stable id; empty for the only user of a server over stdio.
    pub id: String,
    /// The tenant, where a server has several.
    pub tenant: Option<String>,
    /// What the principal may do.
    pub scopes: BTreeSet<String>,
}

impl Principal {
    /// The only user there is: the one who started this process.
    pub fn local() -> Self {
        Self {
            id: String::new(),
            tenant: None,
            scopes: BTreeSet::new(),
        }
    }

    /// A principal with this id.
    pub fn new(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::local()
        }
    }

    /// Names the tenant.
    #[must_use]
    pub fn of_tenant(self, tenant: impl Into<String>) -> Self {
        Self {
            tenant: Some(tenant.into()),
            ..self
        }
    }

    /// Adds a scope.
    #[must_use]
    pub fn with_scope(mut self, scope: impl Into<String>) -> Self {
        self.scopes.insert(scope.into());
        self
    }

    /// What tasks and sealed states are bound to: tenant and id, so that neither can be taken for the other's.
    pub fn key(&self) -> String {
        let tenant = self.tenant.as_deref().unwrap_or_default();
        format!("{}:{tenant}{}", tenant.len(), self.id)
    }
}
