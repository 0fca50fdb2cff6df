//! One running task: what it wants from its user, and how its tool asks and hears.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use candor_core::arguments::issue::Issue;
use candor_core::arguments::{self, Mode, Terms};
use candor_core::contract::schema::{Formats, Schema};
use candor_core::names::OperationId;
use jiff::Timestamp;
use rmcp::model::InputRequest;
use serde_json::{Value, json};
use tokio::sync::{Mutex, oneshot, watch};

use super::board::Tasks;
use super::store::Refused;
use super::task::{State, Step, Task, TaskId};

/// Most things that one task may want at once.
const MOST_WANTED: usize = 32;

/// A task that runs in this process.
pub(super) struct Running {
    pub(super) id: TaskId,
    pub(super) owner: String,
    pub(super) tool: String,
    pub(super) operation: OperationId,
    pub(super) expiry: Option<Timestamp>,
    /// Held while a step is taken, so that steps are written in the order they happen.
    pub(super) desk: Mutex<Desk>,
    pub(super) stop: watch::Sender<bool>,
    pub(super) moved: watch::Sender<u64>,
}

impl Running {
    pub(super) fn new(task: &Task) -> Self {
        Self {
            id: task.id.clone(),
            owner: task.owner.clone(),
            tool: task.tool.clone(),
            operation: task.operation,
            expiry: task.expiry(),
            desk: Mutex::default(),
            stop: watch::Sender::new(false),
            moved: watch::Sender::new(0),
        }
    }

    /// Tells those who listen that a step was taken.
    pub(super) fn tell(&self) {
        self.moved.send_modify(|count| *count = count.wrapping_add(1));
    }
}

/// What a task wants, and what it was told.
#[derive(Default)]
pub(super) struct Desk {
    wanted: BTreeMap<String, Waiting>,
    /// Answers of the time before the task was resumed.
    remembered: BTreeMap<String, Value>,
    /// How often each key was asked for.
    asked: BTreeMap<String, u32>,
    /// The tool has ended, and nothing can be wanted any more.
    closed: bool,
    /// An end that is not in the store yet.
    pub(super) unsaved: Option<Step>,
}

/// Somebody in the tool waits for this.
pub(super) struct Waiting {
    request: Value,
    form: Option<Schema>,
    give: oneshot::Sender<Value>,
}

impl Waiting {
    pub(super) fn request(&self) -> &Value {
        &self.request
    }
}

impl Desk {
    /// Where a task with this desk stands, as long as its tool runs.
    pub(super) fn state(&self) -> State {
        if self.wanted.is_empty() {
            return State::Working;
        }
        State::InputRequired(
            self.wanted
                .iter()
                .map(|(key, waiting)| (key.clone(), waiting.request.clone()))
                .collect(),
        )
    }

    /// Checks answers to what is wanted.
    pub(super) fn check(&self, answers: &BTreeMap<String, Value>) -> Result<(), Refused> {
        let forms = self
            .wanted
            .iter()
            .map(|(key, waiting)| (key, waiting.form.as_ref()));
        let issues: Vec<Issue> = forms
            .filter_map(|(key, form)| Some(issues(key, form, answers.get(key)?)))
            .flatten()
            .collect();
        if issues.is_empty() {
            Ok(())
        } else {
            Err(Refused::Invalid(issues))
        }
    }

    /// Takes what is answered off the desk.
    pub(super) fn take(&mut self, answers: &BTreeMap<String, Value>) -> Vec<(String, Value, Waiting)> {
        answers
            .iter()
            .filter_map(|(key, answer)| Some((key.clone(), answer.clone(), self.wanted.remove(key)?)))
            .collect()
    }

    /// Puts back what could not be written down as answered.
    pub(super) fn put_back(&mut self, taken: Vec<(String, Value, Waiting)>) {
        self.wanted
            .extend(taken.into_iter().map(|(key, _, waiting)| (key, waiting)));
    }

    /// Hands the answers to those who wait.
    pub(super) fn give(taken: Vec<(String, Value, Waiting)>) {
        for (_, answer, waiting) in taken {
            // Who waited may have gone by now; then the tool has ended or was stopped.
            let _gone = waiting.give.send(answer);
        }
    }

    pub(super) fn remember(&mut self, answers: BTreeMap<String, Value>) {
        self.remembered = answers;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    pub(super) fn close(&mut self) {
        self.closed = true;
        self.wanted.clear();
    }

    /// The key under which this is asked: a key is used once in the life of a task (SEP-2663).
    fn fresh_key(&mut self, key: &str) -> String {
        let times = self.asked.entry(key.to_owned()).or_default();
        *times += 1;
        if *times == 1 {
            key.to_owned()
        } else {
            format!("{key}-{times}")
        }
    }
}

/// The answers that something is wanted for, if all of them fit: by what a store kept of the requests.
pub(super) fn checked(
    wanted: &BTreeMap<String, Value>,
    answers: &BTreeMap<String, Value>,
) -> Result<BTreeMap<String, Value>, Refused> {
    let mut fitting = BTreeMap::new();
    let mut wrong = Vec::new();
    for (key, request) in wanted {
        let Some(answer) = answers.get(key) else { continue };
        wrong.extend(issues(key, form_of(request).as_ref(), answer));
        fitting.insert(key.clone(), answer.clone());
    }
    if wrong.is_empty() {
        Ok(fitting)
    } else {
        Err(Refused::Invalid(wrong))
    }
}

/// An answer as it is kept for a second run of the tool: with the question that was shown.
pub(super) fn kept(answer: &Value, question: &Value) -> Value {
    json!({ "answer": answer, "question": question })
}

/// A kept answer, if this is the question that it was given to.
fn answer_to<'a>(kept: &'a Value, question: &Value) -> Option<&'a Value> {
    kept.get("answer")
        .filter(|_| kept.get("question") == Some(question))
}

/// What a request's form wants; `None` where the request has no form.
fn form_of(request: &Value) -> Option<Schema> {
    let schema = request.get("params")?.get("requestedSchema")?;
    Schema::compile(&schema.to_string(), Formats::Assert).ok()
}

/// What is wrong with one answer. The content is looked at on accept only: who declines or cancels owes none.
fn issues(key: &str, form: Option<&Schema>, answer: &Value) -> Vec<Issue> {
    let Some(form) = form else { return Vec::new() };
    let at = format!("/{}", key.replace('~', "~0").replace('/', "~1"));
    match answer.get("action").and_then(Value::as_str) {
        Some("accept") => {
            let content = answer.get("content").cloned().unwrap_or_else(|| json!({}));
            let terms = Terms {
                mode: Mode::Enforce,
                ..Terms::default()
            };
            let found = arguments::check(form, &content, &terms).issues;
            found
                .into_iter()
                .map(|issue| Issue {
                    path: format!("{at}/content{}", issue.path),
                    ..issue
                })
                .collect()
        }
        Some("decline" | "cancel") => Vec::new(),
        Some(_) | None => vec![Issue {
            path: format!("{at}/action"),
            rule: "enum".to_owned(),
            expected: "one of \"accept\", \"decline\", \"cancel\"".to_owned(),
            received: None,
            hint: None,
        }],
    }
}

/// What came of asking the user in a task.
#[derive(Debug, Clone, PartialEq)]
pub enum Given {
    /// An answer that fits its form: the client's result for the request, as JSON.
    Answer(Value),
    /// None in time.
    Expired,
    /// The task was told to stop.
    Stopped,
    /// The task can't ask: it is over, it wants too much already, or its store failed.
    Unable,
}

/// What a tool has at hand while it runs as a task. Cloning is cheap.
#[derive(Clone)]
pub struct InTask {
    tasks: Tasks,
    running: Arc<Running>,
}

impl InTask {
    pub(super) fn new(tasks: Tasks, running: Arc<Running>) -> Self {
        Self { tasks, running }
    }

    /// The task's id.
    pub fn id(&self) -> &TaskId {
        &self.running.id
    }

    /// Was the task told to stop?
    pub fn is_stopped(&self) -> bool {
        *self.running.stop.borrow()
    }

    /// Returns when the task is told to stop. A tool that can stop waits for this beside its work, and then says what
    /// it did.
    pub async fn stopped(&self) {
        let mut stop = self.running.stop.subscribe();
        // The sender is held by this very value.
        let _held = stop.wait_for(|stop| *stop).await;
    }

    /// Asks for something, and waits for at most `within`. Meanwhile the task is `input_required`. The answer fits
    /// `form`, or the `requestedSchema` of the request where that is `None`; what doesn't is refused with its issues and
    /// never gets here. Asked again under the same key, the key gets a number: a key is used once in a task.
    pub async fn input(
        &self,
        key: &str,
        request: &InputRequest,
        form: Option<Schema>,
        within: Duration,
    ) -> Given {
        let Ok(request) = serde_json::to_value(request) else {
            return Given::Unable;
        };
        let (key, mut answer) = match self.put(key, request, form).await {
            Ok(Put::Waits(key, answer)) => (key, answer),
            Ok(Put::Known(answer)) => return Given::Answer(answer),
            Ok(Put::Stopped) => return Given::Stopped,
            Err(refused) => {
                tracing::warn!(task = %self.running.id, %refused, "a task could not ask its user");
                return Given::Unable;
            }
        };
        let given = tokio::select! {
            biased;
            got = &mut answer => return got.map_or(Given::Unable, Given::Answer),
            () = self.stopped() => Given::Stopped,
            () = tokio::time::sleep(within) => Given::Expired,
        };
        // An answer that was taken in the same moment stands.
        self.withdraw(&key).await;
        answer.try_recv().map_or(given, Given::Answer)
    }

    async fn put(&self, key: &str, request: Value, form: Option<Schema>) -> Result<Put, Refused> {
        let mut desk = self.running.desk.lock().await;
        if desk.closed || desk.wanted.len() >= MOST_WANTED {
            return Err(Refused::Busy {
                running: desk.wanted.len(),
            });
        }
        let mut fresh = desk.fresh_key(key);
        while let Some(kept) = desk.remembered.get(&fresh) {
            if let Some(answer) = answer_to(kept, &request) {
                return Ok(Put::Known(answer.clone()));
            }
            // The user saw another question then: that answer is none to this one.
            fresh = desk.fresh_key(key);
        }
        let key = fresh;
        if self.is_stopped() {
            return Ok(Put::Stopped);
        }
        let (give, get) = oneshot::channel();
        let form = form.or_else(|| form_of(&request));
        desk.wanted.insert(key.clone(), Waiting { request, form, give });
        let step = Step::to(desk.state());
        if let Err(refused) = self.take(step).await {
            desk.wanted.remove(&key);
            return Err(refused);
        }
        Ok(Put::Waits(key, get))
    }

    async fn withdraw(&self, key: &str) {
        let mut desk = self.running.desk.lock().await;
        if desk.wanted.remove(key).is_none() {
            return;
        }
        if let Err(refused) = self.take(Step::to(desk.state())).await {
            tracing::warn!(task = %self.running.id, %refused, "what a task no longer wants could not be taken back");
        }
    }

    async fn take(&self, step: Step) -> Result<(), Refused> {
        let now = self.tasks.now();
        self.tasks
            .0
            .store
            .change(&self.running.id, &self.running.owner, step, now)
            .await?;
        self.running.tell();
        Ok(())
    }
}

enum Put {
    Waits(String, oneshot::Receiver<Value>),
    Known(Value),
    Stopped,
}
