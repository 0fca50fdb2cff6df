//! Who calls: a badge in the header `Authorization: Bearer ...`. Badges are made anew each time the server starts, so that
//! none stands in this file.

use std::collections::HashMap;
use std::sync::Arc;

use axum::Router;
use axum::extract::{Request, State};
use axum::http::{StatusCode, header};
use axum::middleware::{self, Next};
use axum::response::{IntoResponse, Response};
use candor::Principal;
use uuid::Uuid;

/// To read incidents.
pub(crate) const READ: &str = "incidents:read";
/// To report and to withdraw them.
pub(crate) const WRITE: &str = "incidents:write";
/// To read the event log.
pub(crate) const AUDIT: &str = "incidents:audit";

/// Badges, and whose they are.
#[derive(Debug, Clone, Default)]
pub(crate) struct Badges(Arc<HashMap<String, Principal>>);

impl Badges {
    /// Makes a badge for each; gives them by the id of who carries them.
    pub(crate) fn issue() -> (Self, Vec<(String, String)>) {
        let of = |id: &str, tenant: &str| Principal::new(id).of_tenant(tenant).with_scope(READ);
        let everybody = [
            of("ada", "acme").with_scope(WRITE).with_scope(AUDIT),
            of("bob", "acme"),
            of("eve", "globex").with_scope(WRITE).with_scope(AUDIT),
        ];
        let issued: Vec<(String, Principal)> = everybody
            .into_iter()
            .map(|who| (Uuid::new_v4().simple().to_string(), who))
            .collect();
        let shown = issued
            .iter()
            .map(|(badge, who)| (who.id.clone(), badge.clone()))
            .collect();
        (Self(Arc::new(issued.into_iter().collect())), shown)
    }

    fn carrier(&self, request: &Request) -> Option<Principal> {
        let header = request.headers().get(header::AUTHORIZATION)?.to_str().ok()?;
        self.0.get(header.strip_prefix("Bearer ")?).cloned()
    }
}

/// Lets in who has a badge, and tells the library who it is. Without one: 401, before any message is read.
pub(crate) fn protected(routes: Router, badges: Badges) -> Router {
    routes.layer(middleware::from_fn_with_state(badges, let_in))
}

async fn let_in(State(badges): State<Badges>, mut request: Request, next: Next) -> Response {
    let Some(who) = badges.carrier(&request) else {
        let challenge = [(header::WWW_AUTHENTICATE, "Bearer realm=\"incidents\"")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    };
    request.extensions_mut().insert(who);
    next.run(request).await
}
