//! A real backend on loopback, asked with reqwest, that answers in each way; also by not answering at all.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use axum::Router;
use axum::extract::Path;
use axum::http::{Method, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::any;
use candor::Outcome;
use candor::http::{Exchange, Loss, NoConnection, Sign, Terms};
use candor::outcome::{Effect, Kind, Reason, Reference, Repeat};
use jiff::Timestamp;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};

/// Generous: nothing here waits for it unless something is broken.
const DEADLINE: Duration = Duration::from_secs(30);

/// No answer here has a date, so any moment will do.
const NOW: Timestamp = Timestamp::UNIX_EPOCH;

fn client(timeout: Duration) -> reqwest::Client {
    let builder = reqwest::Client::builder()
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy();
    builder.timeout(timeout).build().expect("a client")
}

/// As the documentation says it.
async fn ask(client: &reqwest::Client, method: Method, url: String) -> Exchange {
    match client.request(method.clone(), url).send().await {
        Ok(response) => Exchange::answered(method, response.into(), 4_096, DEADLINE).await,
        Err(fault) if fault.is_builder() => Exchange::never_connected(method, NoConnection::Other),
        Err(fault) if fault.is_connect() => Exchange::never_connected(method, NoConnection::Refused),
        Err(fault) if fault.is_timeout() => Exchange::lost(method, Loss::TimedOut),
        Err(_) => Exchange::lost(method, Loss::Closed),
    }
}

/// Answers as its path says.
async fn backend(Path(way): Path<String>) -> Response {
    let problem = |status: u16, body: Value| {
        let headers = [
            (header::CONTENT_TYPE, "application/problem+json"),
            (header::RETRY_AFTER, "3"),
        ];
        (
            StatusCode::from_u16(status).expect("a status"),
            headers,
            body.to_string(),
        )
            .into_response()
    };
    let data = |text: &str| ([(header::CONTENT_TYPE, "application/json")], text.to_owned()).into_response();
    match way.as_str() {
        "data" => data(r#"{"room":12}"#),
        "long" => data(&format!(r#"{{"room":"{}"}}"#, "x".repeat(5_000))),
        "page" => ([(header::CONTENT_TYPE, "text/html")], "<title>Sign in</title>").into_response(),
        "accepted" => (StatusCode::ACCEPTED, [(header::LOCATION, "/jobs/7")]).into_response(),
        "moved" => (StatusCode::TEMPORARY_REDIRECT, [(header::LOCATION, "/data")]).into_response(),
        "taken" => problem(
            409,
            json!({ "type": "https://rooms.example/taken", "detail": "12 is taken" }),
        ),
        "invalid" => problem(
            422,
            json!({ "errors": [{ "pointer": "#/guests", "detail": "at most 9" }] }),
        ),
        status => problem(status.parse().expect("a status"), json!({ "title": "As asked" })),
    }
}

async fn served() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let address = listener.local_addr().expect("it is bound");
    let app = Router::new().route("/{way}", any(backend));
    tokio::spawn(async move { axum::serve(listener, app).await });
    format!("http://{address}")
}

fn terms() -> Terms {
    let taken = Reason::new("ROOM_UNAVAILABLE", "The room is taken");
    Terms::new("the booking service").rejected(Sign::of_type("https://rooms.example/taken"), taken)
}

fn reason<T: std::fmt::Debug>(outcome: Outcome<T>) -> (&'static str, Reason) {
    match outcome {
        Outcome::Rejected(reason) => ("rejected", reason),
        Outcome::Failed(reason) => ("failed", reason),
        Outcome::Unknown(reason) => ("unknown", reason),
        other => panic!("no reason in {other:?}"),
    }
}

#[tokio::test]
async fn each_way_to_answer_is_read_over_a_real_connection() {
    let (base, client, terms) = (served().await, client(DEADLINE), terms());
    let post = async |way: &str| {
        ask(&client, Method::POST, format!("{base}/{way}"))
            .await
            .read::<Value>(&terms, NOW)
    };
    let Outcome::Completed(done) = post("data").await else {
        panic!("not done")
    };
    assert_eq!(done.value, json!({ "room": 12 }));
    assert!(matches!(post("204").await, Outcome::Completed(_)));
    let Outcome::Accepted(Reference(reference)) = post("accepted").await else {
        panic!("not accepted")
    };
    assert_eq!(reference, "/jobs/7");
    for (way, word, effect, code) in [
        ("page", "unknown", Effect::Unknown, "HTTP_BODY_NOT_AS_PROMISED"),
        ("long", "unknown", Effect::Unknown, "HTTP_BODY_NOT_AS_PROMISED"),
        ("moved", "unknown", Effect::Unknown, "HTTP_307"),
        ("taken", "rejected", Effect::NotApplied, "ROOM_UNAVAILABLE"),
        ("invalid", "rejected", Effect::NotApplied, "HTTP_422"),
        ("401", "rejected", Effect::NotApplied, "HTTP_401"),
        ("404", "rejected", Effect::NotApplied, "HTTP_404"),
        ("408", "rejected", Effect::Unknown, "HTTP_408"),
        ("425", "rejected", Effect::NotApplied, "HTTP_425"),
        ("429", "rejected", Effect::NotApplied, "HTTP_429"),
        ("500", "failed", Effect::Unknown, "HTTP_500"),
        ("503", "failed", Effect::Unknown, "HTTP_503"),
    ] {
        let (said, told) = reason(post(way).await);
        assert_eq!(
            (said, told.effect, told.code.as_str()),
            (word, Some(effect), code),
            "{way}"
        );
    }
    let (_, invalid) = reason(post("invalid").await);
    assert_eq!(invalid.issues[0].path, "/guests");
    assert_eq!(
        reason(post("429").await).1.retry_after,
        Some(Duration::from_secs(3))
    );
    let read = ask(&client, Method::GET, format!("{base}/500"))
        .await
        .read::<Value>(&terms, NOW);
    let (said, told) = reason(read);
    assert_eq!(
        (said, told.effect),
        ("failed", Some(Effect::NotApplied)),
        "a read changed nothing"
    );
}

/// How a bare server treats its connections.
#[derive(Clone, Copy)]
enum Rude {
    /// Ends them before it reads anything.
    Before,
    /// Reads the request, then ends them.
    After,
    /// Answers a head that promises more than comes.
    Half,
    /// Answers something that is not HTTP.
    Noise,
    /// Reads, and never answers.
    Silent,
}

async fn treat(mut stream: TcpStream, how: Rude, read: &AtomicUsize) {
    if matches!(how, Rude::Before) {
        return;
    }
    let mut bytes = [0; 4_096];
    let count = stream.read(&mut bytes).await.expect("a request");
    assert!(count > 0);
    read.fetch_add(1, Ordering::SeqCst);
    let answer = match how {
        Rude::Half => {
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 99\r\n\r\n{\"room\":"
        }
        Rude::Noise => "SSH-2.0-room\r\n\r\n",
        Rude::Silent => return std::future::pending().await,
        Rude::Before | Rude::After => return,
    };
    stream.write_all(answer.as_bytes()).await.expect("it is read");
}

/// The address of a bare server, and how many requests it has read.
async fn rude(how: Rude) -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    let read = Arc::new(AtomicUsize::new(0));
    let counter = read.clone();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let counter = counter.clone();
            tokio::spawn(async move { treat(stream, how, &counter).await });
        }
    });
    (url, read)
}

#[tokio::test]
async fn an_answer_that_does_not_come_leaves_a_write_unknown_whenever_the_connection_ended() {
    for (how, reads) in [
        (Rude::Before, 0),
        (Rude::After, 1),
        (Rude::Half, 1),
        (Rude::Noise, 1),
    ] {
        let (url, read) = rude(how).await;
        let exchange = ask(&client(DEADLINE), Method::POST, url.clone()).await;
        let (said, told) = reason(exchange.read::<Value>(&terms(), NOW));
        assert_eq!((said, told.effect), ("unknown", Some(Effect::Unknown)));
        assert_eq!(told.repeat, Some(Repeat::MayDuplicate));
        assert_eq!(
            read.load(Ordering::SeqCst),
            reads,
            "it was sent once, and by nobody again"
        );
        let exchange = ask(&client(DEADLINE), Method::GET, url).await;
        let (said, told) = reason(exchange.read::<Value>(&terms(), NOW));
        assert_eq!((said, told.effect), ("failed", Some(Effect::NotApplied)));
    }
}

#[tokio::test]
async fn a_silent_backend_is_given_up_and_nobody_says_that_nothing_was_done() {
    let (url, read) = rude(Rude::Silent).await;
    let exchange = ask(&client(Duration::from_millis(300)), Method::POST, url).await;
    let (said, told) = reason(exchange.read::<Value>(&terms(), NOW));
    assert_eq!((said, told.kind), ("unknown", Some(Kind::OutcomeUnknown)));
    assert_eq!(told.message, "The booking service did not answer in time");
    assert_eq!(read.load(Ordering::SeqCst), 1);
}

#[tokio::test]
async fn a_port_where_nobody_listens_shows_that_nothing_was_sent() {
    let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
    let url = format!("http://{}/", listener.local_addr().expect("it is bound"));
    drop(listener);
    let exchange = ask(&client(DEADLINE), Method::POST, url).await;
    let (said, told) = reason(exchange.read::<Value>(&terms(), NOW));
    assert_eq!(
        (said, told.effect, told.repeat),
        ("failed", Some(Effect::NotApplied), Some(Repeat::MayHelp))
    );
    assert_eq!(told.code, "HTTP_NEVER_CONNECTED");
}
