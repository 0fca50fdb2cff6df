//! What the incident desk knows. An incident that is reported is taken on and opened later, by a person: between the two
//! there is a ticket and no incident. Nothing of MCP in here.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Most incidents of one tenant, so that this desk's memory has a bound.
const MAX_INCIDENTS: usize = 1_000;

/// How bad it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Severity {
    /// A nuisance.
    Low,
    /// Some can't work.
    High,
    /// Nobody can.
    Critical,
}

/// How far it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum State {
    /// Taken on; nobody has opened it yet.
    Queued,
    /// Somebody works on it.
    Open,
    /// Withdrawn before it was opened.
    Withdrawn,
}

/// One incident.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
pub(crate) struct Incident {
    /// Its ticket, such as `INC-0001`.
    pub(crate) ticket: String,
    /// The service that is ill; unknown where the reporter did not say.
    pub(crate) service: Option<String>,
    /// One line.
    pub(crate) title: String,
    /// How bad it is.
    pub(crate) severity: Severity,
    /// How far it is.
    pub(crate) state: State,
}

/// Why a ticket was left alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Refused {
    /// This tenant has no such ticket. Whether another has is not said.
    NoSuchTicket,
    /// Somebody works on it already, or it was withdrawn before.
    NotQueued(State),
    /// The tenant has as many as the desk keeps.
    Full,
}

/// Incidents by tenant.
#[derive(Debug, Default)]
pub(crate) struct Desk(Mutex<BTreeMap<String, Vec<Incident>>>);

impl Desk {
    /// Takes an incident on; gives its ticket.
    pub(crate) fn report(
        &self,
        tenant: &str,
        service: Option<String>,
        title: String,
        severity: Severity,
    ) -> Result<String, Refused> {
        self.with(tenant, |incidents| {
            if incidents.len() >= MAX_INCIDENTS {
                return Err(Refused::Full);
            }
            let ticket = format!("INC-{:04}", incidents.len() + 1);
            let state = State::Queued;
            incidents.push(Incident {
                ticket: ticket.clone(),
                service,
                title,
                severity,
                state,
            });
            Ok(ticket)
        })
    }

    /// Opens the oldest queued incident of each tenant: what a person does, later.
    pub(crate) fn open_oldest(&self) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for incidents in all.values_mut() {
            let oldest = incidents
                .iter_mut()
                .find(|incident| incident.state == State::Queued);
            if let Some(incident) = oldest {
                incident.state = State::Open;
            }
        }
    }

    /// Withdraws an incident that nobody has opened.
    pub(crate) fn withdraw(&self, tenant: &str, ticket: &str) -> Result<Incident, Refused> {
        self.with(tenant, |incidents| {
            let found = incidents.iter_mut().find(|incident| incident.ticket == ticket);
            let incident = found.ok_or(Refused::NoSuchTicket)?;
            if incident.state != State::Queued {
                return Err(Refused::NotQueued(incident.state));
            }
            incident.state = State::Withdrawn;
            Ok(incident.clone())
        })
    }

    /// One incident of this tenant.
    pub(crate) fn find(&self, tenant: &str, ticket: &str) -> Option<Incident> {
        self.with(tenant, |incidents| {
            incidents
                .iter()
                .find(|incident| incident.ticket == ticket)
                .cloned()
        })
    }

    /// The incidents of this tenant whose title or service has this text in it, without regard to case; the newest first.
    pub(crate) fn search(&self, tenant: &str, text: &str, most: usize) -> Vec<Incident> {
        let text = text.to_lowercase();
        let fits = |incident: &&Incident| {
            let service = incident.service.as_deref().unwrap_or_default();
            incident.title.to_lowercase().contains(&text) || service.to_lowercase().contains(&text)
        };
        self.with(tenant, |incidents| {
            incidents.iter().rev().filter(fits).take(most).cloned().collect()
        })
    }

    fn with<T>(&self, tenant: &str, act: impl FnOnce(&mut Vec<Incident>) -> T) -> T {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        act(all.entry(tenant.to_owned()).or_default())
    }
}
