//! The same conversation, bare and through Candor: both hosts read the same bytes, both servers too.

use candor_fixtures::script::{Era, MODERN, REVISIONS};
use serde_json::json;

use crate::harness::{
    conversation::Opening,
    frame,
    host::Host,
    scene::{Scene, Way},
    spec::SpecCheck,
    transcript::Transcript,
};

/// Has the same conversation both ways.
fn both(scene: &Scene, converse: impl Fn(&mut Host)) -> (Transcript, Transcript) {
    let run = |way| {
        let mut host = scene.start(way);
        converse(&mut host);
        scene.end(way, host)
    };
    (run(Way::Bare), run(Way::Through))
}

/// Fails unless both runs are the same, but for ids where a proxy may renumber them.
fn assert_same(bare: &Transcript, through: &Transcript) {
    // Responses must carry the host's own ids; only the server's requests may come under another.
    let as_read = |line: &String| {
        let is_server_request = frame::method(line).is_some() && frame::id(line).is_some();
        if is_server_request {
            frame::without_ids(line)
        } else {
            line.clone()
        }
    };
    let read = |lines: &[String]| lines.iter().map(as_read).collect::<Vec<_>>();
    assert_eq!(
        read(&bare.host_received),
        read(&through.host_received),
        "what the hosts read"
    );
    let blank = |lines: &[String]| {
        lines
            .iter()
            .map(|line| frame::without_ids(line))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        blank(&bare.server_received),
        blank(&through.server_received),
        "what the servers read"
    );
    assert_eq!(bare.code, through.code, "exit codes");
}

/// Requests and notifications with bytes that a careless proxy would rewrite.
const ODD_LINES: &[&str] = &[
    r#"{"jsonrpc":"2.0","id":1,"method":"x-odd","params":{"n":1.10,"e":1E2,"big":123456789012345678901234567890}}"#,
    r#"{"jsonrpc":"2.0","id":"two \" \u00e9 \/","method":"x-odd","params":{"n":1,"n":2,"u":"\ud83d\ude00 caf\u00e9 \/"}}"#,
    r#"{ "method" : "x-odd" , "id" : 9007199254740993 , "jsonrpc" : "2.0" , "x-unknown" : [ 1.0 ] }"#,
    r#"{"jsonrpc":"2.0","id":-4,"method":"logging/setLevel","params":{"level":"debug","x-unknown":{}}}"#,
    r#"{"jsonrpc":"2.0","id":"","method":"resources/read","params":{"uri":"file:///a%20b","_meta":{"x.example/k":1.0}}}"#,
    r#"{"jsonrpc":"2.0","id":0,"method":"prompts/get","params":{"name":"p","arguments":{"tools":"x","content":[]}}}"#,
    r#"{"jsonrpc":"2.0","id":6,"method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"p"},"argument":{"name":"a","value":""}}}"#,
    r#"{"jsonrpc":"2.0","id":7,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}"#,
    r#"{"jsonrpc":"2.0","id":8,"method":"x-log"}"#,
    r#"{"jsonrpc":"2.0","id":9,"method":"x-error"}"#,
];

#[test]
fn unknown_methods_members_numbers_and_escapes_pass_in_every_revision() {
    for revision in REVISIONS {
        let (bare, through) = both(&Scene::of("echo"), |host| {
            let opening = Opening::of(revision);
            opening.open(host);
            opening.list(host);
            host.send(r#"{"jsonrpc":"2.0","method":"notifications/x-poke","params":{"z":1.0,"a":null}}"#);
            host.message("notifications/x-poked");
            host.send(r#"{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}"#);
            for line in ODD_LINES {
                host.ask(line);
            }
            if revision != MODERN {
                host.ask(&opening.request("\"ping\"", "ping", json!({})));
            }
        });
        assert!(
            bare.host_received.len() > ODD_LINES.len(),
            "{revision}: nothing was said"
        );
        assert_same(&bare, &through);
        if let Some(spec) = SpecCheck::of(revision) {
            spec.check(&through);
        }
    }
}

#[test]
fn requests_of_the_server_reach_the_host_and_their_answers_the_server() {
    for answer in [
        r#""result":{"z":1.10,"a":[],"x-unknown":1E2}"#,
        r#""error":{"code":-32601,"message":"no","data":{"z":1.0,"a":null}}"#,
        r#""result":{}"#,
    ] {
        let (bare, through) = both(&Scene::of("echo"), |host| {
            Opening::newest(Era::Legacy).open(host);
            host.send(r#"{"jsonrpc":"2.0","id":1,"method":"x-ask"}"#);
            let asked = host.message("x-asked");
            let id = frame::id(&asked).unwrap();
            host.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},{answer}}}"#));
            host.response_to("1");
        });
        assert_same(&bare, &through);
    }
}

#[test]
fn a_subscription_is_known_to_both_ends_by_the_hosts_own_id() {
    let (bare, through) = both(&Scene::of("asking"), |host| {
        let opening = Opening::newest(Era::Modern);
        opening.open(host);
        let params = json!({ "notifications": { "toolsListChanged": true } });
        host.send(&opening.request("\"sub \\u00e9\"", "subscriptions/listen", params));
        host.message("notifications/tools/list_changed");
        host.send(
            r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"sub \u00e9"}}"#,
        );
        host.response_to("\"sub \\u00e9\"");
    });
    assert_same(&bare, &through);
}

#[test]
fn lists_of_several_pages_pass_page_by_page() {
    for era in [Era::Legacy, Era::Modern] {
        let (bare, through) = both(&Scene::of("pages"), |host| {
            let opening = Opening::newest(era);
            opening.open(host);
            opening.list(host);
        });
        assert_eq!(bare.host_received.len(), 4);
        assert_same(&bare, &through);
    }
}

#[test]
fn noise_on_stdout_is_kept_out_and_what_the_server_says_before_it_is_asked_is_not() {
    let (bare, through) = both(&Scene::of("noise"), |host| {
        host.message("notifications/message");
        Opening::newest(Era::Legacy).open(host);
        Opening::newest(Era::Legacy).list(host);
    });
    let is_message = |line: &&String| frame::raw_at(line, &["jsonrpc"]).is_some();
    let messages: Vec<_> = bare.host_received.iter().filter(is_message).collect();
    assert!(
        messages.len() < bare.host_received.len(),
        "the fixture made no noise"
    );
    assert_eq!(messages, through.host_received.iter().collect::<Vec<_>>());
}

#[test]
fn a_refused_revision_is_passed_as_the_server_said_it() {
    let scene = Scene::written(
        r#"{ "about": "legacy only", "server": { "name": "old", "version": "1" }, "revisions": ["2024-11-05"] }"#,
    );
    let (bare, through) = both(&scene, |host| {
        let opening = Opening::of("2025-06-18");
        opening.open(host);
        host.ask(&opening.request("2", "server/discover", json!({})));
    });
    assert!(bare.host_received[0].contains("2024-11-05"));
    assert_same(&bare, &through);
}
