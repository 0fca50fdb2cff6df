//! The wrapper around a server, how it is set up, and what is found out before it serves anybody.

use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;
use std::time::{SystemTime, UNIX_EPOCH};

use candor_core::contract::schema::SchemaFault;
use candor_core::delivery::redaction::KnownSecrets;
use jiff::Timestamp;
use rmcp::ServerHandler;

use crate::asking::FormFault;
use crate::catalogue::{Catalogue, compile};
use crate::declaration::Declaration;
use crate::event::{Event, Witness};
use crate::guard;
use crate::principal::{Principals, from_extensions};
use crate::schema::NotAnObject;
use crate::seal::{Keys, NoRandomness, Spent, SpentInMemory};
use crate::tasks::Tasks;

/// A server whose tool calls end honestly. Wraps any rmcp [`ServerHandler`], by macro or by hand, and is one itself: serve
/// it as you would serve the server, over stdio or streamable HTTP. Cloning is cheap.
///
/// It checks arguments against the advertised schema before the tool sees them, finishes what tools say into results
/// whose channels agree, and turns panics into masked answers. Everything that is no tool call is passed on.
pub struct Candor<S> {
    pub(crate) inner: Arc<S>,
    pub(crate) shared: Arc<Shared>,
}

/// What all calls of a server share.
pub(crate) struct Shared {
    pub(crate) clock: Clock,
    pub(crate) principals: Box<dyn Principals>,
    pub(crate) declared: HashMap<String, Declaration>,
    pub(crate) secrets: KnownSecrets,
    /// `None` where there was no randomness to make any: then nobody is asked in rounds.
    pub(crate) keys: Option<Keys>,
    pub(crate) spent: Arc<dyn Spent>,
    pub(crate) tasks: Option<Tasks>,
    pub(crate) catalogue: Catalogue,
    pub(crate) witness: Option<Witness>,
}

type Clock = Box<dyn Fn() -> Timestamp + Send + Sync>;

impl<S> Clone for Candor<S> {
    fn clone(&self) -> Self {
        Self {
            inner: self.inner.clone(),
            shared: self.shared.clone(),
        }
    }
}

impl<S> fmt::Debug for Candor<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Candor").finish_non_exhaustive()
    }
}

impl<S: ServerHandler> Candor<S> {
    /// Wraps a server with nothing declared: tools change what their annotations say (a write, where they say nothing),
    /// the caller is the local user or the [`crate::Principal`] in the HTTP request's extensions, the clock is the
    /// system's.
    pub fn new(server: S) -> Self {
        Self::builder(server).unchecked()
    }

    /// Wraps a server with declarations.
    pub fn builder(server: S) -> Builder<S> {
        Builder {
            server,
            clock: Box::new(system_clock),
            principals: Box::new(from_extensions),
            declared: HashMap::new(),
            witness: None,
            secrets: KnownSecrets::default(),
            keys: None,
            spent: Arc::new(SpentInMemory::default()),
            tasks: None,
        }
    }

    /// The wrapped server.
    pub fn server(&self) -> &S {
        &self.inner
    }
}

/// Sets up a [`Candor`].
pub struct Builder<S> {
    server: S,
    clock: Clock,
    principals: Box<dyn Principals>,
    declared: HashMap<String, Declaration>,
    witness: Option<Witness>,
    secrets: KnownSecrets,
    keys: Option<Keys>,
    spent: Arc<dyn Spent>,
    tasks: Option<Tasks>,
}

impl<S> fmt::Debug for Builder<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Builder")
            .field("declared", &self.declared)
            .finish_non_exhaustive()
    }
}

impl<S: ServerHandler> Builder<S> {
    /// Takes the time from this function: tests hold it still.
    #[must_use]
    pub fn clock(self, clock: impl Fn() -> Timestamp + Send + Sync + 'static) -> Self {
        Self {
            clock: Box::new(clock),
            ..self
        }
    }

    /// Finds out who calls; see [`Principals`].
    #[must_use]
    pub fn principals(self, principals: impl Principals) -> Self {
        Self {
            principals: Box::new(principals),
            ..self
        }
    }

    /// Declares what a tool may change, its rules, its scopes. A second declaration of the same tool takes the place of
    /// the first.
    #[must_use]
    pub fn tool(mut self, name: impl Into<String>, declaration: Declaration) -> Self {
        self.declared.insert(name.into(), declaration);
        self
    }

    /// Tells this function what became of each call, the refusals too, before the caller hears it: for an event log. It
    /// must be quick and must not panic. What a task ends with later is not told here.
    #[must_use]
    pub fn witness(self, witness: impl Fn(&Event) + Send + Sync + 'static) -> Self {
        Self {
            witness: Some(Arc::new(witness)),
            ..self
        }
    }

    /// Names values that no text of candor's may hold, such as the server's own keys: they are masked in what is told of
    /// tools' words. (A value that a tool returns is its own, and passes.)
    #[must_use]
    pub fn secrets<V: AsRef<str>>(self, values: impl IntoIterator<Item = V>) -> Self {
        Self {
            secrets: KnownSecrets::new(values),
            ..self
        }
    }

    /// Seals the state of rounds with these keys. Without them a key is made for this process: rounds then end with it,
    /// and replicas don't know each other's.
    #[must_use]
    pub fn keys(self, keys: Keys) -> Self {
        Self {
            keys: Some(keys),
            ..self
        }
    }

    /// Runs calls as tasks, where their tools and callers take them. States that are good for one use are remembered in
    /// the store of the tasks, too, unless [`Builder::spent`] says otherwise afterwards.
    #[must_use]
    pub fn tasks(self, tasks: Tasks) -> Self {
        let spent = Arc::new(tasks.clone());
        Self {
            tasks: Some(tasks),
            spent,
            ..self
        }
    }

    /// Remembers here which states were used that are good for one use; in memory where nothing is said.
    #[must_use]
    pub fn spent(self, spent: Arc<dyn Spent>) -> Self {
        Self { spent, ..self }
    }

    /// The wrapped server, checked as far as it can be before there is a caller: declared tools exist and their schemas
    /// can be used. (A server by hand that answers no `get_tool` shows its tools to callers only.)
    ///
    /// # Errors
    ///
    /// [`StartFault`], with the tool it is about.
    pub fn build(mut self) -> Result<Candor<S>, StartFault> {
        if self.keys.is_none() {
            self.keys = Some(Keys::generate()?);
        }
        for (name, declaration) in &self.declared {
            check(&self.server, name)?;
            for form in &declaration.forms {
                form.check().map_err(|fault| StartFault::Form {
                    tool: name.clone(),
                    fault,
                })?;
            }
        }
        Ok(self.unchecked())
    }

    fn unchecked(self) -> Candor<S> {
        Candor {
            inner: Arc::new(self.server),
            shared: Arc::new(Shared {
                clock: self.clock,
                principals: self.principals,
                declared: self.declared,
                secrets: self.secrets,
                keys: self.keys.or_else(|| Keys::generate().ok()),
                spent: self.spent,
                tasks: self.tasks,
                catalogue: Catalogue::default(),
                witness: self.witness,
            }),
        }
    }
}

/// Something that an author can mend before the server starts.
#[derive(Debug, thiserror::Error)]
pub enum StartFault {
    /// A schema that no client and no check could use.
    #[error("the {which} of tool {tool:?} can't be used: {fault}")]
    Schema {
        /// The tool.
        tool: String,
        /// `inputSchema` or `outputSchema`.
        which: &'static str,
        /// Why not.
        fault: SchemaFault,
    },
    /// The type of a tool's arguments is no object.
    #[error("the arguments of tool {tool:?} are no object: {fault}")]
    Arguments {
        /// The tool.
        tool: String,
        /// What they are.
        fault: NotAnObject,
    },
    /// A form that must not be asked or can't be.
    #[error("a form of tool {tool:?} can't be asked: {fault}")]
    Form {
        /// The tool.
        tool: String,
        /// Why not.
        fault: FormFault,
    },
    /// There is no randomness for a key.
    #[error(transparent)]
    NoRandomness(#[from] NoRandomness),
    /// Two tools of one name: which one is meant could not be known.
    #[error("there are two tools named {tool:?}")]
    TwiceNamed {
        /// The name.
        tool: String,
    },
}

fn check<S: ServerHandler>(server: &S, name: &str) -> Result<(), StartFault> {
    let Some(tool) = guard::computed(|| server.get_tool(name)).flatten() else {
        return Ok(());
    };
    let fault = |which| {
        move |fault| StartFault::Schema {
            tool: name.to_owned(),
            which,
            fault,
        }
    };
    compile(&tool.input_schema).map_err(fault("inputSchema"))?;
    if let Some(schema) = &tool.output_schema {
        compile(schema).map_err(fault("outputSchema"))?;
    }
    Ok(())
}

/// The system's clock. Moments outside the years a calendar knows can only come from a broken one: the epoch then.
fn system_clock() -> Timestamp {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let millis = i64::try_from(since.as_millis()).unwrap_or(0);
    Timestamp::from_millisecond(millis).unwrap_or(Timestamp::UNIX_EPOCH)
}
