//! By what means a client can be asked: what it said of itself, and what its revision knows. Nothing else is sent to it.

use rmcp::RoleServer;
use rmcp::model::{InputRequest, ProtocolVersion};
use rmcp::service::RequestContext;

use super::answer::Misfit;
use super::form::FormFault;
use super::question::{Means, Question};

/// By what means one client can be asked.
#[derive(Debug, Clone, Default)]
pub(crate) struct Offers {
    means: Vec<Means>,
    /// A client of 2025-06-18, whose forms know fewer shapes.
    early_forms: bool,
}

impl Offers {
    /// What the client of this request offers. Modern ones say it with each request, legacy ones when they initialise.
    pub(crate) fn of(context: &RequestContext<RoleServer>) -> Self {
        let (Some(revision), Some(capabilities)) =
            (context.protocol_version(), context.client_capabilities())
        else {
            return Self::default();
        };
        let mut means = Vec::new();
        if let Some(elicitation) = capabilities.elicitation
            && revision >= ProtocolVersion::V_2025_06_18
        {
            // An empty capability means forms, as before there were other modes.
            if elicitation.form.is_some() || elicitation.url.is_none() {
                means.push(Means::Form);
            }
            if elicitation.url.is_some() && revision >= ProtocolVersion::V_2025_11_25 {
                means.push(Means::Url);
            }
        }
        if capabilities.sampling.is_some() {
            means.push(Means::Sampling);
        }
        if capabilities.roots.is_some() {
            means.push(Means::Roots);
        }
        Self {
            means,
            early_forms: revision == ProtocolVersion::V_2025_06_18,
        }
    }

    /// Whether the client can be asked so.
    pub(crate) fn has(&self, means: Means) -> bool {
        self.means.contains(&means)
    }

    /// The request as this client understands it; `None` where it can't.
    pub(super) fn request(
        &self,
        question: &Question,
        last: Option<&Misfit>,
    ) -> Result<Option<InputRequest>, FormFault> {
        if self.early_forms {
            return question.request_2025_06_18(last);
        }
        question.request(last).map(Some)
    }
}
