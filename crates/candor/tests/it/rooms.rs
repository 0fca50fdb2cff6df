//! The servers under test: one by macro, one by hand, one of tools without macros. They have the same tools where it
//! matters.

use std::time::Duration;

use candor::{
    Call, Candor, Declaration, Done, Effect, Kind, NoArguments, Outcome, Parameters, Part, Parts, Reason,
    Stop, Timestamp, Tool, Tools, about,
};
use candor_core::judgment::verdict::Outcome as Word;
use rmcp::handler::server::router::tool::ToolRouter;
use rmcp::handler::server::wrapper::Parameters as RmcpParameters;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, JsonObject, ListToolsResult,
    PaginatedRequestParams, ServerCapabilities, ServerConfig, Tool as Definition, object,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler, schemars, tool, tool_handler, tool_router};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Wish {
    /// Number of guests
    #[schemars(range(min = 1, max = 9))]
    guests: u32,
    /// dd/mm/yyyy
    #[schemars(regex(pattern = r"^\d{2}/\d{2}/\d{4}$"))]
    #[expect(dead_code, reason = "the rule has looked at it")]
    date: String,
    #[serde(flatten)]
    price: Price,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Price {
    price: Option<f64>,
}

#[derive(Debug, Clone, Serialize, JsonSchema)]
pub(crate) struct Booked {
    id: String,
    guests: u32,
    price: f64,
}

#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Which {
    which: String,
}

/// Fits its schema as any text, and not its type.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Day {
    #[schemars(with = "String")]
    day: DayOf,
}

#[derive(Debug, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct DayOf(String);

impl TryFrom<String> for DayOf {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        if text == "Monday" {
            Ok(Self(text))
        } else {
            Err("only Monday is open".to_owned())
        }
    }
}

/// 08/08/2025, a Friday.
pub(crate) fn today() -> Timestamp {
    "2025-08-08T12:00:00Z".parse().expect("it is a moment")
}

/// The rule that no schema can state.
fn future(arguments: &Value, now: Timestamp) -> Vec<candor::Issue> {
    let Some(date) = arguments["date"].as_str() else {
        return Vec::new();
    };
    let parts: Vec<&str> = date.split('/').rev().collect();
    let now = now.to_string();
    if parts.join("-").as_str() > &now[..10] {
        return Vec::new();
    }
    vec![about(
        arguments,
        "/date",
        "future",
        "a day in the future; it is now 08/08/2025",
    )]
}

fn booked(wish: &Wish) -> Outcome<Booked> {
    let price = wish.price.price.unwrap_or(50.0);
    Outcome::completed_with(
        Booked {
            id: "b-1".into(),
            guests: wish.guests,
            price,
        },
        "CONF-77",
    )
}

/// Every outcome there is.
pub(crate) fn outcome(which: &str) -> Outcome<Booked> {
    let value = Booked {
        id: "b-1".into(),
        guests: 2,
        price: 95.5,
    };
    let taken = || Reason::new("ROOM_UNAVAILABLE", "Room 12 is taken 14:00-15:00");
    let part = |name: &str, outcome, effect| Part {
        name: name.to_owned(),
        outcome,
        effect,
        code: None,
    };
    match which {
        "completed" => Outcome::completed_with(value, "CONF-77"),
        "content" => Outcome::Completed(Done {
            value,
            receipt: None,
            content: Some(vec![
                ContentBlock::text("Booked."),
                ContentBlock::image("aGk=", "image/png"),
            ]),
        }),
        "accepted" => Outcome::accepted("job-4711"),
        "rejected" => Outcome::Rejected(taken().next_step("room 14 is free")),
        "rejected, unknown" => Outcome::Rejected(taken().effect(Effect::Unknown)),
        "failed" => Outcome::Failed(Reason::new("BACKEND_DOWN", "the booking system did not answer")),
        "failed, nothing" => Outcome::Failed(
            Reason::new("BACKEND_DOWN", "never connected")
                .effect(Effect::NotApplied)
                .kind(Kind::DependencyUnavailable)
                .retry_after(Duration::from_secs(30)),
        ),
        "partial" => Outcome::Partial(Parts {
            value: Some(value),
            parts: vec![
                part("booking", Word::Completed, Effect::Applied),
                part("notice", Word::Failed, Effect::NotApplied),
            ],
            message: "booked, and the notice was not sent".into(),
            code: "NOTICE_NOT_SENT".into(),
            receipt: None,
        }),
        "in parts, none" => Outcome::Partial(
            Parts::new("CHANNELS_NOT_SET", "0 of 2 channels are set")
                .not_done("one", "REFUSED")
                .not_done("two", "REFUSED"),
        ),
        "in parts, none known" => Outcome::Partial(
            Parts::new("CHANNELS_UNKNOWN", "2 commands were sent")
                .not_done("one", "READS_OTHERWISE")
                .unknown("two", "READ_BACK_FAILED"),
        ),
        "in contradiction" => Outcome::Rejected(taken().effect(Effect::Applied)),
        "unknown" => Outcome::Unknown(Reason::new(
            "NO_ANSWER",
            "the booking system closed the connection",
        )),
        other => panic!("no such outcome: {other}"),
    }
}

/// An error whose words nobody may see.
#[derive(Debug)]
struct Secret;

impl std::fmt::Display for Secret {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("can't reach postgres://app:hunter22@db.internal/rooms")
    }
}

impl std::error::Error for Secret {}

fn breaks() -> Result<(), Secret> {
    Err(Secret)
}

#[derive(Clone)]
pub(crate) struct Macros {
    router: ToolRouter<Self>,
}

#[tool_router(router = router)]
impl Macros {
    #[tool(description = "books a room", output_schema = candor::output_schema::<Booked>())]
    async fn book(&self, Parameters(wish): Parameters<Wish>) -> Outcome<Booked> {
        booked(&wish)
    }

    #[tool(description = "books, with rmcp's own extractor")]
    async fn book_as_before(&self, RmcpParameters(wish): RmcpParameters<Wish>) -> String {
        format!("{} guests, {:?}", wish.guests, wish.price.price)
    }

    #[tool(description = "ends as asked")]
    async fn end(&self, Parameters(asked): Parameters<Which>) -> Outcome<Booked> {
        outcome(&asked.which)
    }

    #[tool(description = "ends as asked, and promises structure", output_schema = candor::output_schema::<Booked>())]
    async fn end_strictly(&self, Parameters(asked): Parameters<Which>) -> Outcome<Booked> {
        outcome(&asked.which)
    }

    #[tool(
        description = "accepts, though its schema promises a result",
        output_schema = rmcp::handler::server::tool::schema_for_output::<Booked>()
    )]
    async fn end_too_strictly(&self) -> Outcome<Booked> {
        outcome("accepted")
    }

    #[tool(description = "takes a day, by candor's extractor")]
    async fn day(&self, Parameters(day): Parameters<Day>) -> String {
        day.day.0
    }

    #[tool(description = "takes a day, by rmcp's extractor")]
    async fn day_as_before(&self, RmcpParameters(day): RmcpParameters<Day>) -> String {
        day.day.0
    }

    #[tool(description = "takes raw JSON")]
    async fn raw(&self, arguments: JsonObject) -> String {
        Value::Object(arguments).to_string()
    }

    #[tool(description = "panics before anything is awaited")]
    fn crash_at_once(&self) -> String {
        panic!("postgres://app:hunter22@db.internal/rooms")
    }

    #[tool(description = "panics before the first await")]
    async fn crash_early(&self) -> String {
        if true {
            panic!("postgres://app:hunter22@db.internal/rooms");
        }
        tokio::task::yield_now().await;
        String::new()
    }

    #[tool(description = "panics after the first await")]
    async fn crash_late(&self) -> String {
        tokio::task::yield_now().await;
        panic!("postgres://app:hunter22@db.internal/rooms")
    }

    #[tool(description = "meets an error that it did not foresee")]
    async fn break_down(&self) -> Result<Outcome<Booked>, Stop> {
        breaks()?;
        Ok(outcome("completed"))
    }

    #[tool(description = "needs a scope that it asks for inside")]
    async fn inside(&self, call: Call) -> Result<Outcome<Booked>, Stop> {
        call.principal().requires("rooms:audit")?;
        Ok(outcome("completed"))
    }

    #[tool(description = "makes its result by itself")]
    async fn plain(&self) -> CallToolResult {
        let mut result = CallToolResult::success(vec![ContentBlock::text("as it was")]);
        result.structured_content =
            Some(serde_json::from_str(r#"{"price":1.10,"b":1,"a":2}"#).expect("JSON"));
        let mut meta = rmcp::model::MetaObject::new();
        meta.0.insert("own/key".into(), json!(1));
        meta.0
            .insert("candor/verdict".into(), json!({ "outcome": "completed" }));
        meta.0.insert("candor/said".into(), json!(0));
        result.meta = Some(meta);
        result
    }

    #[tool(description = "makes an error by itself")]
    async fn plain_error(&self) -> CallToolResult {
        CallToolResult::error(vec![ContentBlock::text("no room")])
    }

    #[tool(description = "refuses at the protocol")]
    async fn protocol_error(&self) -> Result<String, ErrorData> {
        Err(ErrorData::new(
            rmcp::model::ErrorCode(-32042),
            "go there",
            Some(json!({ "url": "x" })),
        ))
    }
}

#[tool_handler(router = self.router)]
impl ServerHandler for Macros {}

/// The server by macro, with a rule, a clock that stands still, and tools for some only.
pub(crate) fn macros() -> Candor<Macros> {
    Candor::builder(Macros {
        router: Macros::router(),
    })
    .clock(today)
    .tool(
        "book",
        Declaration::writes().rule(|arguments, now, _| future(arguments, now)),
    )
    .tool("raw", Declaration::reads().exact_numbers())
    .tool("plain_error", Declaration::reads())
    .tool("crash_late", Declaration::reads())
    .build()
    .expect("nothing is wrong with it")
}

/// A server by hand, whose list has two pages and depends on nothing that the wrapper could ask without a caller.
#[derive(Clone)]
pub(crate) struct Hand;

impl ServerHandler for Hand {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let schema = object(
            json!({ "type": "object", "properties": { "guests": { "type": "integer", "maximum": 9 } },
            "required": ["guests"], "additionalProperties": false }),
        );
        let first = request.and_then(|request| request.cursor).is_none();
        let name = if first { "first" } else { "second" };
        let mut list = ListToolsResult::with_all_items(vec![Definition::new(name, "by hand", schema)]);
        list.next_cursor = first.then(|| "2".to_owned());
        Ok(list)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let arguments: Which2 =
            rmcp::handler::server::tool::parse_json_object(request.arguments.unwrap_or_default())?;
        Ok(CallToolResult::success(vec![ContentBlock::text(format!("{} guests", arguments.guests))]).into())
    }
}

#[derive(Deserialize)]
struct Which2 {
    guests: i8,
}

/// The server of tools without macros.
pub(crate) fn tools() -> Candor<Tools> {
    let book = Tool::new("book", "books a room")
        .writes()
        .rule(|arguments, now, _| future(arguments, now))
        .run(|wish: Wish, _call: Call| async move { booked(&wish) });
    let end = Tool::new("end_strictly", "ends as asked")
        .writes()
        .run(|asked: Which, _call: Call| async move { outcome(&asked.which) });
    let day = Tool::new("day", "takes a day")
        .reads()
        .run(|day: Day, _call: Call| async move { Outcome::completed(day.day.0) });
    let crash = Tool::new("crash_early", "panics")
        .writes()
        .run(|_: NoArguments, _call: Call| {
            if true {
                panic!("postgres://app:hunter22@db.internal/rooms");
            }
            async move { Outcome::completed(()) }
        });
    let inside = Tool::new("inside", "needs a scope")
        .reads()
        .run(|_: NoArguments, call: Call| async move {
            call.principal().requires("rooms:audit")?;
            Ok::<_, Stop>(Outcome::completed("seen".to_owned()))
        });
    let tools = Tools::new("rooms", "1.0.0")
        .with(book)
        .with(end)
        .with(day)
        .with(crash)
        .with(inside);
    tools
        .builder()
        .and_then(|builder| builder.clock(today).build())
        .expect("nothing is wrong with it")
}
