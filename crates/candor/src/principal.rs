//! Who calls, who may, and what there is for whom. What belongs to somebody else is not there.

use std::collections::BTreeSet;

use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer};
use serde_json::json;

/// The JSON-RPC code of a refusal that a model can't mend. Of the implementation's own range (JSON-RPC 2.0 section 5.1:
/// -32000 to -32099), outside what MCP reserves (-32020 to -32099) and what its SDKs use for themselves.
pub const PERMISSION_DENIED: i32 = -32003;

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

    /// Passes on what belongs to this principal's tenant; another tenant's becomes `None`, exactly as what never was.
    /// Look things up through it, and the answer to "not found" can't tell the two apart.
    pub fn own<T>(&self, thing: Option<T>, tenant: impl FnOnce(&T) -> Option<&str>) -> Option<T> {
        thing.filter(|thing| tenant(thing) == self.tenant.as_deref())
    }

    /// May the principal do what `scope` names?
    ///
    /// # Errors
    ///
    /// [`Refused::MissingScope`], for a tool to pass on with `?` (through [`crate::Stop`]).
    pub fn requires(&self, scope: &str) -> Result<(), Refused> {
        if self.scopes.contains(scope) {
            return Ok(());
        }
        Err(Refused::MissingScope {
            scopes: vec![scope.to_owned()],
        })
    }
}

/// Finds out who calls. Any function from a request's context will do.
pub trait Principals: Send + Sync + 'static {
    /// Who makes this request. Over HTTP the parts of the request are in `context.extensions`
    /// (`http::request::Parts`), with what a layer before rmcp put into *their* extensions.
    ///
    /// # Errors
    ///
    /// [`Refused::BadCredential`]: the request is answered with a protocol error, and no tool runs.
    fn of(&self, context: &RequestContext<RoleServer>) -> Result<Principal, Refused>;
}

impl<F> Principals for F
where
    F: Fn(&RequestContext<RoleServer>) -> Result<Principal, Refused> + Send + Sync + 'static,
{
    fn of(&self, context: &RequestContext<RoleServer>) -> Result<Principal, Refused> {
        self(context)
    }
}

/// The default: the [`Principal`] that a layer before rmcp put into the HTTP request's extensions, else the local user.
pub(crate) fn from_extensions(context: &RequestContext<RoleServer>) -> Result<Principal, Refused> {
    let parts = context.extensions.get::<http::request::Parts>();
    let found = parts
        .and_then(|parts| parts.extensions.get::<Principal>())
        .cloned();
    Ok(found.unwrap_or_else(Principal::local))
}

/// Why a request is refused at the protocol: the model can't mend it, only a person can.
///
/// Over HTTP, MCP's authorization wants more for what concerns the token: status 401 with `WWW-Authenticate` where there is
/// none or a bad one, 403 with `error="insufficient_scope"` where it doesn't reach (2025-11-25, Authorization, "Error
/// Handling"). Both have to be answered before rmcp: it may have begun its answer with status 200 (an event stream) when
/// a tool's scopes are looked at. So the layer that makes the [`Principal`] out of a token answers 401 itself, and 403 for
/// scopes without which nothing here can be used. What is left for this refusal is a JSON-RPC error with the code
/// [`PERMISSION_DENIED`], the missing scopes in `data`: scopes of single tools, and servers over stdio.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// There is no credential, or none that counts. `why` goes to the caller: keep the credential out of it.
    BadCredential {
        /// What is wrong with it.
        why: String,
    },
    /// The credential counts, and doesn't reach.
    MissingScope {
        /// The scopes it would need.
        scopes: Vec<String>,
    },
}

impl Refused {
    /// One sentence for the caller.
    pub fn message(&self) -> String {
        match self {
            Self::BadCredential { why } => format!("The credential was not accepted: {why}."),
            Self::MissingScope { scopes } => {
                format!("The credential lacks what this needs: {}.", scopes.join(", "))
            }
        }
    }
}

impl From<Refused> for ErrorData {
    fn from(refused: Refused) -> Self {
        let scopes = match &refused {
            Refused::BadCredential { .. } => &[],
            Refused::MissingScope { scopes } => scopes.as_slice(),
        };
        let data = json!({ "code": "CANDOR_PERMISSION_DENIED", "scopes": scopes });
        Self::new(
            rmcp::model::ErrorCode(PERMISSION_DENIED),
            refused.message(),
            Some(data),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_tenants_thing_is_as_one_that_never_was() {
        let of = |tenant: &str| Some(tenant.to_owned());
        let acme = Principal::new("ann").of_tenant("acme");
        assert_eq!(acme.own(of("acme"), |thing| Some(thing)), of("acme"));
        assert_eq!(acme.own(of("globex"), |thing| Some(thing)), None);
        assert_eq!(acme.own(of("acme"), |_| None), None);
    }

    #[test]
    fn keys_of_two_principals_differ() {
        let ab = Principal::new("c").of_tenant("ab");
        let a = Principal::new("bc").of_tenant("a");
        assert_ne!(ab.key(), a.key());
    }

    #[test]
    fn a_missing_scope_is_named() {
        let ann = Principal::new("ann").with_scope("read");
        assert_eq!(ann.requires("read"), Ok(()));
        let error = ErrorData::from(ann.requires("write").expect_err("it is missing"));
        assert_eq!(error.code.0, PERMISSION_DENIED);
        assert!(error.message.contains("write"), "{}", error.message);
    }
}
