//! The tools. None asks which tenant it is for: that is known of the caller, and what belongs to another is not there.

use std::sync::Arc;
use std::time::Duration;

use candor::asking::Choice;
use candor::tasks::{Limits, MemoryStore, TaskSupport, TaskTerms, Tasks, system_clock};
use candor::{Call, Candor, Effect, Form, Halt, Kind, NoArguments, Outcome, Reason, StartFault, Tool, Tools};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::access::{AUDIT, READ, WRITE};
use super::desk::{Desk, Incident, Refused, Severity, State};
use super::log::{Event, Log};

/// Most incidents that one search gives, and most events.
const MOST: usize = 50;
/// What may be ill.
const SERVICES: [&str; 3] = ["payments", "search", "mail"];

/// What `incident.search` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Search {
    /// a text in the title or in the name of the service
    text: String,
}

/// What `incident.report` is called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Report {
    /// one line: what is wrong
    #[schemars(length(min = 1, max = 200))]
    title: String,
    /// low, high or critical
    severity: Severity,
    /// the service that is ill, if known
    service: Option<String>,
}

/// What tools about one incident are called with.
#[derive(Debug, Deserialize, JsonSchema)]
struct Ticket {
    /// the ticket, such as INC-0001
    #[schemars(regex(pattern = "^INC-[0-9]{4,}$"))]
    ticket: String,
}

/// Incidents that were found. A count of 0 says that there is no matching data.
#[derive(Debug, Serialize, JsonSchema)]
struct Found {
    count: usize,
    incidents: Vec<Incident>,
}

/// What a diagnosis gives.
#[derive(Debug, Serialize, JsonSchema)]
struct Diagnosis {
    ticket: String,
    service: String,
    cause: String,
}

/// What is in the event log.
#[derive(Debug, Serialize, JsonSchema)]
struct Events {
    count: usize,
    events: Vec<Event>,
}

/// The server, with a log that also has what never reached a tool. A step of a diagnosis takes this long.
pub(crate) fn server(desk: &Arc<Desk>, log: &Arc<Log>, step: Duration) -> Result<Candor<Tools>, StartFault> {
    let witness = log.clone();
    let store = Arc::new(MemoryStore::new(Limits::default()));
    let tasks = Tasks::new(store, system_clock(), TaskTerms::default());
    Tools::new("incidents", "1.0.0")
        .with(search(desk.clone()))
        .with(report(desk.clone()))
        .with(state(desk.clone()))
        .with(withdraw(desk.clone()))
        .with(diagnose(desk.clone(), step))
        .with(events(log.clone()))
        .builder()?
        .tasks(tasks)
        .witness(move |event| witness.write(event))
        .build()
}

fn tenant(call: &Call) -> String {
    call.principal().tenant.clone().unwrap_or_default()
}

fn search(desk: Arc<Desk>) -> Tool {
    Tool::new("incident.search", "Finds incidents by a text")
        .reads()
        .requires(READ)
        .run(move |wanted: Search, call| {
            let incidents = desk.search(&tenant(&call), &wanted.text, MOST);
            async move {
                Outcome::completed(Found {
                    count: incidents.len(),
                    incidents,
                })
            }
        })
}

fn report(desk: Arc<Desk>) -> Tool {
    let about = "Reports an incident. A person opens it later: until then there is a ticket and no incident";
    Tool::new("incident.report", about)
        .writes()
        .requires(WRITE)
        .run(move |told: Report, call| {
            let taken = desk.report(&tenant(&call), told.service, told.title, told.severity);
            async move {
                match taken {
                    Ok(ticket) => Outcome::<Incident>::accepted(ticket),
                    Err(refused) => Outcome::Rejected(why(refused)),
                }
            }
        })
}

fn state(desk: Arc<Desk>) -> Tool {
    let about = "Says how far a reported incident is";
    Tool::new("incident.state", about)
        .reads()
        .requires(READ)
        .run(move |wanted: Ticket, call| {
            let found = desk.find(&tenant(&call), &wanted.ticket);
            async move {
                match found {
                    Some(incident) => Outcome::completed(incident),
                    None => Outcome::Rejected(why(Refused::NoSuchTicket)),
                }
            }
        })
}

fn withdraw(desk: Arc<Desk>) -> Tool {
    let about = "Withdraws a reported incident that nobody has opened yet";
    Tool::new("incident.withdraw", about)
        .writes()
        .requires(WRITE)
        .run(move |wanted: Ticket, call| {
            let gone = desk.withdraw(&tenant(&call), &wanted.ticket);
            async move {
                match gone {
                    Ok(incident) => {
                        let receipt = incident.ticket.clone();
                        Outcome::completed_with(incident, receipt)
                    }
                    Err(refused) => Outcome::Rejected(why(refused)),
                }
            }
        })
}

/// The question for the service, where the reporter did not name it.
fn which_service() -> Form {
    Form::new("Which service is ill?").required("service", Choice::of(SERVICES))
}

fn diagnose(desk: Arc<Desk>, step: Duration) -> Tool {
    let about = "Looks for the cause of an incident; asks for the service where that is not known";
    let tool = Tool::new("incident.diagnose", about).reads().requires(READ);
    tool.task(TaskSupport::Optional).asks(which_service()).run(move |wanted: Ticket, call: Call| {
        let found = desk.find(&tenant(&call), &wanted.ticket);
        async move {
            let Some(incident) = found else {
                return Ok(Outcome::Rejected(why(Refused::NoSuchTicket)));
            };
            let service = match incident.service {
                Some(service) => service,
                None => match call.ask("service", &which_service()).await?.or_reason() {
                    Ok(answer) => answer.get("service").and_then(Value::as_str).unwrap_or_default().to_owned(),
                    Err(reason) => return Ok(Outcome::Rejected(reason)),
                },
            };
            tokio::select! {
                diagnosis = look(&call, incident.ticket, service, step) => Ok(Outcome::completed(diagnosis)),
                () = call.stopped() => Ok::<_, Halt>(Outcome::Failed(
                    Reason::new("STOPPED", "the diagnosis was stopped").kind(Kind::Cancelled).effect(Effect::NotApplied),
                )),
            }
        }
    })
}

/// Looks at everything there is to look at, and says how far it is.
async fn look(call: &Call, ticket: String, service: String, step: Duration) -> Diagnosis {
    let places = ["logs", "metrics", "deployments"];
    for (done, place) in (0_u8..).zip(places) {
        call.progress(f64::from(done), Some(3.0), Some(place)).await;
        tokio::time::sleep(step).await;
    }
    let cause = format!("{service} answers slowly since its last deployment");
    Diagnosis {
        ticket,
        service,
        cause,
    }
}

fn events(log: Arc<Log>) -> Tool {
    let about = "Reads the event log, the refusals too";
    Tool::new("incident.events", about)
        .reads()
        .requires(AUDIT)
        .run(move |_: NoArguments, call| {
            let events = log.of(&tenant(&call), MOST);
            async move {
                Outcome::completed(Events {
                    count: events.len(),
                    events,
                })
            }
        })
}

fn why(refused: Refused) -> Reason {
    match refused {
        Refused::NoSuchTicket => Reason::new("NO_SUCH_TICKET", "there is no such ticket"),
        Refused::NotQueued(State::Withdrawn) => Reason::new("ALREADY_WITHDRAWN", "it was withdrawn before"),
        Refused::NotQueued(_) => Reason::new("ALREADY_OPEN", "somebody works on it already"),
        Refused::Full => Reason::new("DESK_FULL", "this desk keeps no more incidents"),
    }
}
