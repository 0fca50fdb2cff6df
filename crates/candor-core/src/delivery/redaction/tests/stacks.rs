//! Frames of stacks: left out in the forms of six languages, with the last cause kept; prose is never taken for one.

use super::super::frames::without_frames;
use super::super::{KnownSecrets, RedactionKind, least};

/// A stack as a language prints it, what must stay of it, and how many frames go.
struct Case {
    language: &'static str,
    text: &'static str,
    stays: &'static str,
    frames: usize,
}

const CASES: &[Case] = &[
    Case {
        language: "Python",
        text: "Error executing tool book:\nTraceback (most recent call last):\n  File \"/srv/app/server.py\", line 12, in handler\n    return book(room)\n           ^^^^^^^^^^\n  File \"/srv/app/db.py\", line 40, in book\n    raise RoomTaken(room)\napp.RoomTaken: room 12 is taken",
        stays: "Error executing tool book:\n… 2 stack frames left out\napp.RoomTaken: room 12 is taken",
        frames: 2,
    },
    Case {
        language: "Python, one exception in another",
        text: "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    g()\nKeyError: 'x'\n\nDuring handling of the above exception, another exception occurred:\n\nTraceback (most recent call last):\n  File \"a.py\", line 3, in f\n    raise ValueError(\"no x\")\n  [Previous line repeated 996 more times]\nValueError: no x",
        stays: "KeyError: 'x'\n… 998 stack frames left out\nValueError: no x",
        frames: 998,
    },
    Case {
        language: "Python, a group of exceptions",
        text: "  + Exception Group Traceback (most recent call last):\n  |   File \"/srv/run.py\", line 5, in main\n  |     await g()\n  | ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n    | Traceback (most recent call last):\n    |   File \"/srv/run.py\", line 9, in g\n    |     raise OSError(\"disk\")\n    | OSError: disk\n    +------------------------------------",
        stays: "| ExceptionGroup: unhandled errors in a TaskGroup (1 sub-exception)\n  +-+---------------- 1 ----------------\n… 2 stack frames left out\n| OSError: disk\n    +------------------------------------",
        frames: 2,
    },
    Case {
        language: "Java",
        text: "java.lang.IllegalStateException: can't book\n\tat com.rooms.Desk.book(Desk.java:41)\n\tat java.base/java.lang.Thread.run(Thread.java:833)\n\t... 12 more\nCaused by: java.sql.SQLException: connection refused\n\tat com.rooms.Pool.get(Pool.java:9) ~[rooms.jar:1.0]\n\tat com.rooms.Pool.<init>(Unknown Source)",
        stays: "java.lang.IllegalStateException: can't book\nCaused by: java.sql.SQLException: connection refused\n… 16 stack frames left out",
        frames: 16,
    },
    Case {
        language: "Node",
        text: "TypeError: Cannot read properties of undefined (reading 'id')\n    at bookRoom (/srv/app/index.js:10:15)\n    at async Server.<anonymous> (file:///srv/app/server.mjs:88:3)\n    at new Promise (<anonymous>)\n    at Object.get [as room] (/srv/app/get.ts:1:2)\n    at /srv/app/last.js:5:6\n    at node:internal/process/task_queues:95:5 {\n  [cause]: Error: no connection\n      at connect (node:net:1:2)\n}",
        stays: "TypeError: Cannot read properties of undefined (reading 'id')\n[cause]: Error: no connection\n… 7 stack frames left out\n}",
        frames: 7,
    },
    Case {
        language: "Rust",
        text: "thread 'main' panicked at src/main.rs:5:10:\ncalled `Result::unwrap()` on an `Err` value: NotFound\nstack backtrace:\n   0: rust_begin_unwind\n             at /rustc/abc/library/std/src/panicking.rs:645:5\n   1: core::panicking::panic_fmt\n   2: rooms::book\n             at ./src/main.rs:5:10\nnote: Some details are omitted, run with `RUST_BACKTRACE=full` for a verbose backtrace.",
        stays: "thread 'main' panicked at src/main.rs:5:10:\ncalled `Result::unwrap()` on an `Err` value: NotFound\n… 3 stack frames left out",
        frames: 3,
    },
    Case {
        language: "Rust, a chain of causes",
        text: "can't book\n\nCaused by:\n    0: can't open the pool\n    1: refused\n\nStack backtrace:\n   0: anyhow::error\n   1: rooms::main",
        stays: "can't book\n\nCaused by:\n    0: can't open the pool\n    1: refused\n… 2 stack frames left out",
        frames: 2,
    },
    Case {
        language: ".NET",
        text: "System.InvalidOperationException: can't book\n ---> System.Net.Http.HttpRequestException: refused (10.0.0.7:443)\n   at System.Net.Http.HttpClient.SendAsync(HttpRequestMessage request, CancellationToken token)\n   --- End of inner exception stack trace ---\n   at Rooms.Desk.Book(String room, Int32 guests) in C:\\src\\Desk.cs:line 41\n   at Rooms.Desk.<Book>d__1.MoveNext()",
        stays: "System.InvalidOperationException: can't book\n ---> System.Net.Http.HttpRequestException: refused (10.0.0.7:443)\n… 3 stack frames left out",
        frames: 3,
    },
    Case {
        language: "Go",
        text: "panic: runtime error: index out of range [5] with length 3\n\ngoroutine 1 [running]:\nmain.(*Desk).Book(0xc000012345, {0x4b, 0x1})\n\t/srv/app/desk.go:8 +0x1d\nmain.main()\n\t/srv/app/main.go:5 +0x1a\ncreated by net/http.(*Server).Serve in goroutine 7\n\t/usr/lib/go/net/http/server.go:3086 +0x4db\nexit status 2",
        stays: "panic: runtime error: index out of range [5] with length 3\n… 3 stack frames left out\nexit status 2",
        frames: 3,
    },
    Case {
        language: "Node inside JSON",
        text: r#"{"message":"no","stack":"Error: no\n    at f (/srv/a.js:1:2)\n    at g (/srv/b.js:3:4)\n"}"#,
        stays: r#"{"message":"no","stack":"Error: no\n… 2 stack frames left out\n"}"#,
        frames: 2,
    },
];

#[test]
fn frames_of_six_languages_are_left_out_and_the_last_cause_stays() {
    for case in CASES {
        let (stays, frames) = without_frames(case.text).unwrap_or_else(|| panic!("{}", case.language));
        assert_eq!(stays, case.stays, "{}", case.language);
        assert_eq!(frames, case.frames, "{}", case.language);
        assert_eq!(without_frames(&stays), None, "{}: once is enough", case.language);
        let secrets = KnownSecrets::default();
        let told = least(case.text, &secrets);
        let frames = told
            .changes
            .iter()
            .find(|change| change.kind == RedactionKind::StackFrame);
        assert_eq!(
            frames.map(|change| change.count),
            Some(case.frames),
            "{}",
            case.language
        );
    }
}

#[test]
fn prose_and_lists_are_no_stack() {
    for text in [
        "meet at noon (room 12)",
        "    at the desk (ask for Anna)\n    at noon",
        "at 10.0.0.1:8080 nobody answers\nat 12:30 try again",
        "File \"rooms.csv\", line with a comma, is missing",
        "Steps:\n  0: open\n  1: read\n  2: close",
        "0: refused\n1: tried again",
        "the file /srv/app/main.go:8 does not compile",
        "created by Anna",
        "src/main.rs:5:10: error: expected `;`\n  --> src/main.rs:5:10",
        "... 12 more rows",
        "goroutine 1 is blocked",
        "Traceback (most recent call last):",
        "note: run with `RUST_BACKTRACE=1` environment variable to display a backtrace",
        "",
    ] {
        assert_eq!(without_frames(text), None, "{text:?}");
    }
}

#[test]
fn a_very_long_stack_costs_no_more_than_its_lines() {
    let text = format!("Error: x\n{}", "    at f (/srv/a.js:1:2)\n".repeat(100_000));
    assert_eq!(
        without_frames(&text),
        Some(("Error: x\n… 100000 stack frames left out".to_owned(), 100_000))
    );
}
