//! Tools without macros, and a server made of them.

use std::any::Any;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

use candor_core::arguments::Mode;
use candor_core::contract::effect::EffectClass;
use futures_util::future::BoxFuture;
use jiff::Timestamp;
use rmcp::handler::server::tool::IntoCallToolResult;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Definition, ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::arguments::Issue;
use crate::asking::Form;
use crate::call::{Call, not_wrapped};
use crate::declaration::Declaration;
use crate::outcome::Outcome;
use crate::parameters::parse;
use crate::principal::Principal;
use crate::said::Said;
use crate::schema::{NotAnObject, input_schema, promised};
use crate::server::{Builder, Candor, StartFault};
use crate::stop::pointing;
use crate::tasks::TaskSupport;

type Body = Arc<dyn Fn(Call) -> BoxFuture<'static, Result<CallToolResponse, ErrorData>> + Send + Sync>;

/// What a tool's function may return: an [`Outcome`], or a `Result` of one with [`crate::Stop`] or [`crate::Halt`].
pub trait Returned: IntoCallToolResult + Send + 'static {
    /// The type of the value.
    type Value: JsonSchema + Any;
}

impl<T: Serialize + JsonSchema + Send + 'static> Returned for Outcome<T> {
    type Value = T;
}

impl<T, E> Returned for Result<Outcome<T>, E>
where
    T: Serialize + JsonSchema + Send + 'static,
    E: IntoCallToolResult + Send + 'static,
{
    type Value = T;
}

/// A tool without macros: its definition, what is declared of it, and its function.
pub struct Tool {
    definition: Definition,
    declaration: Declaration,
    body: Body,
    fault: Option<NotAnObject>,
}

impl fmt::Debug for Tool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tool")
            .field("definition", &self.definition)
            .finish_non_exhaustive()
    }
}

impl Tool {
    /// Begins a tool with the name that clients call it by and a description for the model.
    #[expect(clippy::new_ret_no_self, reason = "a tool is there once it has a function")]
    pub fn new(name: impl Into<String>, description: impl Into<String>) -> ToolBuilder {
        let definition = Definition::new(name.into(), description.into(), JsonObject::new());
        ToolBuilder {
            definition,
            declaration: Declaration::default(),
        }
    }

    /// The tool as it is advertised.
    pub fn definition(&self) -> &Definition {
        &self.definition
    }
}

/// A tool that has no function yet. See [`Tool::new`] and, for the declarations, [`Declaration`].
#[derive(Debug, Clone)]
pub struct ToolBuilder {
    definition: Definition,
    declaration: Declaration,
}

impl ToolBuilder {
    /// It changes nothing (`readOnlyHint`).
    #[must_use]
    pub fn reads(self) -> Self {
        self.of(EffectClass::Read, ToolAnnotations::new().read_only(true))
    }

    /// It may change something, and a second call may change it again (`readOnlyHint: false`).
    #[must_use]
    pub fn writes(self) -> Self {
        self.of(EffectClass::Write, ToolAnnotations::new().read_only(false))
    }

    /// It may change something, and a second identical call changes nothing more (`idempotentHint`).
    #[must_use]
    pub fn idempotent(self) -> Self {
        self.of(
            EffectClass::Idempotent,
            ToolAnnotations::new().read_only(false).idempotent(true),
        )
    }

    fn of(mut self, class: EffectClass, annotations: ToolAnnotations) -> Self {
        self.definition = self.definition.with_annotations(annotations);
        self.declaration.class = Some(class);
        self
    }

    /// Changes the definition beyond what there is a word for here: title, icons, `_meta`. Its schemas follow from the
    /// function and are written over.
    #[must_use]
    pub fn defined(mut self, change: impl FnOnce(Definition) -> Definition) -> Self {
        self.definition = change(self.definition);
        self
    }

    /// Adds a rule beyond JSON Schema; see [`Declaration::rule`].
    #[must_use]
    pub fn rule(
        self,
        rule: impl Fn(&Value, Timestamp, &Principal) -> Vec<Issue> + Send + Sync + 'static,
    ) -> Self {
        Self {
            declaration: self.declaration.rule(rule),
            ..self
        }
    }

    /// Asks for a scope; see [`Declaration::requires`].
    #[must_use]
    pub fn requires(self, scope: impl Into<String>) -> Self {
        Self {
            declaration: self.declaration.requires(scope),
            ..self
        }
    }

    /// Shows the tool to some callers only; see [`Declaration::seen_by`].
    #[must_use]
    pub fn seen_by(self, seen: fn(&Principal) -> bool) -> Self {
        Self {
            declaration: self.declaration.seen_by(seen),
            ..self
        }
    }

    /// What is done about arguments that break the schema; see [`Declaration::arguments`].
    #[must_use]
    pub fn arguments(self, mode: Mode) -> Self {
        Self {
            declaration: self.declaration.arguments(mode),
            ..self
        }
    }

    /// Refuses every name that the schema does not list; see [`Declaration::strict_names`].
    #[must_use]
    pub fn strict_names(self) -> Self {
        Self {
            declaration: self.declaration.strict_names(),
            ..self
        }
    }

    /// Names a form that the function may ask; see [`Declaration::asks`].
    #[must_use]
    pub fn asks(self, form: Form) -> Self {
        Self {
            declaration: self.declaration.asks(form),
            ..self
        }
    }

    /// Runs it as a task from its beginning; see [`Declaration::task`].
    #[must_use]
    pub fn task(self, support: TaskSupport) -> Self {
        Self {
            declaration: self.declaration.task(support),
            ..self
        }
    }

    /// Lets it become a task where it says so; see [`Declaration::task_where_it_says`].
    #[must_use]
    pub fn task_where_it_says(self) -> Self {
        Self {
            declaration: self.declaration.task_where_it_says(),
            ..self
        }
    }

    /// Lets its task go on after a restart; see [`Declaration::resumes`].
    #[must_use]
    pub fn resumes(self) -> Self {
        Self {
            declaration: self.declaration.resumes(),
            ..self
        }
    }

    /// The function. `P` is read from the checked arguments and makes the `inputSchema`
    /// ([`crate::schema::NoArguments`] for a tool without any); the value of the outcome makes the `outputSchema`, if it
    /// is an object.
    pub fn run<P, F, R>(mut self, function: impl Fn(P, Call) -> F + Send + Sync + 'static) -> Tool
    where
        P: DeserializeOwned + JsonSchema + Any,
        F: Future<Output = R> + Send + 'static,
        R: Returned,
    {
        let input = input_schema::<P>();
        self.definition.input_schema = input.clone().unwrap_or_default();
        self.definition.output_schema = promised::<R::Value>();
        let body: Body = Arc::new(move |call| match parse(call.arguments()) {
            Ok(arguments) => {
                let answer = function(arguments, call);
                Box::pin(async move { answer.await.into_call_tool_result() })
            }
            Err(issue) => Box::pin(std::future::ready(Err(pointing(Said::Issues(vec![issue]))))),
        });
        Tool {
            definition: self.definition,
            declaration: self.declaration,
            body,
            fault: input.err(),
        }
    }
}

/// A server made of tools, with nothing else. Serve it inside [`Candor`]: [`Tools::build`].
#[derive(Default)]
pub struct Tools {
    info: ServerConfig,
    tools: Vec<Tool>,
    by_name: HashMap<String, usize>,
    twice: Option<String>,
}

impl fmt::Debug for Tools {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tools")
            .field("tools", &self.tools)
            .finish_non_exhaustive()
    }
}

impl Tools {
    /// A server of this name and version, without tools yet.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let capabilities = ServerCapabilities::builder().enable_tools().build();
        let info = ServerConfig::new(capabilities).with_server_info(Implementation::new(name, version));
        Self {
            info,
            ..Self::default()
        }
    }

    /// Changes what the server says of itself: instructions, capabilities.
    #[must_use]
    pub fn info(self, change: impl FnOnce(ServerConfig) -> ServerConfig) -> Self {
        Self {
            info: change(self.info),
            ..self
        }
    }

    /// Adds a tool. Tools are listed in this order.
    #[must_use]
    pub fn with(mut self, tool: Tool) -> Self {
        let name = tool.definition.name.to_string();
        if self.by_name.insert(name.clone(), self.tools.len()).is_some() {
            self.twice = Some(name);
        }
        self.tools.push(tool);
        self
    }

    /// The server inside [`Candor`], to be set up further.
    ///
    /// # Errors
    ///
    /// [`StartFault::TwiceNamed`], [`StartFault::Arguments`].
    pub fn builder(mut self) -> Result<Builder<Self>, StartFault> {
        if let Some(tool) = self.twice.take() {
            return Err(StartFault::TwiceNamed { tool });
        }
        let mut declared = Vec::with_capacity(self.tools.len());
        for tool in &mut self.tools {
            let name = tool.definition.name.to_string();
            if let Some(fault) = tool.fault.take() {
                return Err(StartFault::Arguments { tool: name, fault });
            }
            declared.push((name, std::mem::take(&mut tool.declaration)));
        }
        let builder = Candor::builder(self);
        Ok(declared
            .into_iter()
            .fold(builder, |builder, (name, declaration)| {
                builder.tool(name, declaration)
            }))
    }

    /// The server inside [`Candor`], ready to be served.
    ///
    /// # Errors
    ///
    /// As [`Tools::builder`] and [`Builder::build`].
    pub fn build(self) -> Result<Candor<Self>, StartFault> {
        self.builder()?.build()
    }
}

impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        self.info.clone()
    }

    fn get_tool(&self, name: &str) -> Option<Definition> {
        let tool = self.tools.get(*self.by_name.get(name)?)?;
        Some(tool.definition.clone())
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let tools = self.tools.iter().map(|tool| tool.definition.clone()).collect();
        Ok(ListToolsResult::with_all_items(tools))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = context
            .extensions
            .get::<Call>()
            .cloned()
            .ok_or_else(not_wrapped)?;
        let tool = self
            .by_name
            .get(request.name.as_ref())
            .and_then(|index| self.tools.get(*index));
        let Some(tool) = tool else {
            return Err(ErrorData::invalid_params("tool not found", None));
        };
        (tool.body)(call).await
    }
}
