//! Rules fire, stay quiet, and say when they can't tell; nothing they are given makes them run long.

use serde_json::{Value, json};

use super::*;

fn now() -> Timestamp {
    "2025-08-08T10:00:00Z".parse().unwrap()
}

fn compile(check: &str, message: &str, path: &str) -> Result<Rule, Vec<RuleFault>> {
    Rule::compile(
        "future",
        check,
        message,
        &path.parse().unwrap(),
        &Zone::named("Europe/Zurich").unwrap(),
    )
}

fn rule(check: &str) -> Rule {
    compile(check, "the message", "").unwrap_or_else(|fault| panic!("{check}: {fault:?}"))
}

fn holds(check: &str, args: &Value) -> bool {
    match rule(check).check(args, now()) {
        RuleAnswer::Holds => true,
        RuleAnswer::Broken(_) => false,
        RuleAnswer::CannotTell(issue) => panic!("{check}: {}", issue.expected),
    }
}

fn departure() -> Rule {
    compile(
        "date(args.departureDate, 'dd/mm/yyyy') > now",
        "departureDate must be in the future; it is now {{ format(now, 'dd/mm/yyyy') }}",
        "/departureDate",
    )
    .unwrap()
}

#[test]
fn a_departure_must_be_in_the_future() {
    assert_eq!(
        departure().check(&json!({"departureDate": "09/08/2025"}), now()),
        RuleAnswer::Holds
    );
    let RuleAnswer::Broken(issue) = departure().check(&json!({"departureDate": "12/12/2024"}), now()) else {
        panic!("a date in the past must be refused");
    };
    assert_eq!(
        issue,
        Issue {
            path: "/departureDate".into(),
            rule: "future".into(),
            expected: "departureDate must be in the future; it is now 08/08/2025".into(),
            received: Some("\"12/12/2024\"".into()),
            hint: None,
        }
    );
}

#[test]
fn what_cannot_be_evaluated_is_said() {
    let cases = [
        json!({"departureDate": "2024-12-12"}),
        json!({"departureDate": 20241212}),
        json!({"departureDate": "12/12/2024\u{202e}\n"}),
        json!({}),
        json!([]),
    ];
    let mut said = String::new();
    for args in cases {
        let RuleAnswer::CannotTell(issue) = departure().check(&args, now()) else {
            panic!("{args} must not be decided");
        };
        said.push_str(&format!("{args}\n  expected {}\n", issue.expected));
        said.push_str(&format!(
            "  received {:?}\n  hint {:?}\n",
            issue.received, issue.hint
        ));
    }
    for (check, args) in [
        ("args.n", json!({"n": 3})),
        ("args.n > 'x'", json!({"n": 3})),
        ("args.n / 0 == 1", json!({"n": 3})),
        ("args.n + 9223372036854775807 > 0", json!({"n": 3})),
        ("args.list[3] == 1", json!({"list": [1]})),
        ("timestamp(args.n) > now", json!({"n": "tomorrow"})),
        ("size(args.n) > 0", json!({"n": 3})),
        ("args.a.all(x, x > 0)", json!({"a": 5})),
        (
            "date(args.n, args.p) > now",
            json!({"n": "01/01/2026", "p": "DD/MM"}),
        ),
    ] {
        let RuleAnswer::CannotTell(issue) = rule(check).check(&args, now()) else {
            panic!("{check} must not be decided");
        };
        said.push_str(&format!("{check} on {args}\n  expected {}\n", issue.expected));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn the_language_is_as_documented() {
    let args = json!({
        "from": "2026-01-01", "to": "2026-01-05", "quantity": 3, "price": 2.5, "big": 18446744073709551615_u64,
        "items": [{"id": 1, "tags": ["a"]}, {"id": 2, "tags": ["b", "c"]}], "text": "héllo", "none": null,
    });
    let cases = [
        ("args.quantity * 2 == 6", true),
        ("args.quantity - 5 < 0", true),
        ("args.price * 2.0 == 5.0", true),
        ("args.price > 2", true),
        (
            "double(args.quantity) * 1.5 == 4.5 && double(args.price) * 1.5 == 3.75",
            true,
        ),
        ("args.price > 3", false),
        ("args.big > 1.0", true),
        (
            "date(args.from, 'yyyy-mm-dd') < date(args.to, 'yyyy-mm-dd')",
            true,
        ),
        (
            "date(args.to, 'yyyy-mm-dd') - date(args.from, 'yyyy-mm-dd') <= duration('72h')",
            false,
        ),
        ("today <= now && today > now - duration('24h')", true),
        ("format(today, 'yyyy-mm-dd HH:MM') == '2025-08-08 00:00'", true),
        (
            "now.getHours() == 10 && now.getHours('Europe/Zurich') == 12",
            true,
        ),
        ("!has(args.missing) || args.missing > 3", true),
        ("has(args.from)", true),
        ("args.none == null", true),
        ("args.text.matches('^h.llo$') && size(args.text) == 5", true),
        ("args.text.startsWith('x')", false),
        ("args.items.all(i, i.id > 0)", true),
        ("args.items.exists(i, i.tags.exists(t, t == 'c'))", true),
        ("args.items.exists_one(i, i.id == 3)", false),
        ("size(args.items.filter(i, i.id > 1)) == 1", true),
        ("args.quantity in [1, 2, 3]", true),
        ("type(args.quantity) == int && type(args.text) == string", true),
        ("args.quantity > 2 ? args.price > 2.0 : false", true),
    ];
    for (check, expected) in cases {
        assert_eq!(holds(check, &args), expected, "{check}");
    }
}

#[test]
fn days_begin_in_the_rules_time_zone() {
    let args = json!({"day": "09/08/2025"});
    let late: Timestamp = "2025-08-08T22:30:00Z".parse().unwrap();
    let zone = |name: &str| Zone::named(name).unwrap();
    for (name, expected) in [
        ("Europe/Zurich", false),
        ("UTC", true),
        ("America/New_York", true),
    ] {
        let rule = Rule::compile(
            "r",
            "date(args.day, 'dd/mm/yyyy') > now",
            "",
            &"".parse().unwrap(),
            &zone(name),
        )
        .unwrap();
        assert_eq!(
            matches!(rule.check(&args, late), RuleAnswer::Holds),
            expected,
            "{name}"
        );
    }
    assert!(Zone::named("Europe/Zürich").is_none());
    assert!(Zone::named("Mars/Olympus").is_none());
}

#[test]
fn faults_in_a_rule_name_what_and_where() {
    let long = format!("args.a == '{}'", "x".repeat(3000));
    let deep = vec!["args.a"; 90].join(" + ") + " > 0";
    let cases = [
        ("", ""),
        ("args.a >", ""),
        ("args.a > 1 )", ""),
        ("args.a = 1", ""),
        ("'é' == args.a )", ""),
        ("args.a == 1 &&\n  args.b ==", ""),
        ("args.a == 'x", ""),
        ("'é' == args.a && arg.b > 1", ""),
        ("departureDate > now", ""),
        ("args.a > nwo", ""),
        ("dat(args.a, 'dd/mm/yyyy') > now", ""),
        ("date(args.a) > now", ""),
        ("args.a.date('dd/mm/yyyy') > now", ""),
        ("date(args.a, 'DD/MM/YYYY') > now", ""),
        ("args.a.frobnicate()", ""),
        ("args.a.matches('[')", ""),
        ("args.a.matches('((a{1000}){1000}){1000}')", ""),
        ("args.a.matches(args.b)", ""),
        ("args.a.map(x, x + 1) == [2]", ""),
        ("args.a.map(x, x > 1, x + 1) == [2]", ""),
        ("args.a.all(x, args.a.all(y, args.a.all(z, x == z)))", ""),
        ("principle.name == 'x'", ""),
        ("Foo{a: 1} == args", ""),
        ("args.?a == 1", ""),
        (&long, ""),
        (&deep, ""),
        ("true", "is {{ args.a"),
        ("true", "is {{ args.a }} and {{ ars.b }}"),
        ("true", "é {{ args.a > }}"),
        ("true", "is {{}}"),
        ("true", &"{{ now }}".repeat(17)),
    ];
    let mut said = String::new();
    for (check, message) in cases {
        let faults = compile(check, message, "").expect_err(check);
        let [fault] = faults.as_slice() else {
            panic!("one fault of {check}: {faults:?}")
        };
        let text = if fault.part == Part::Check { check } else { message };
        let at = fault.at.map(|at| text.get(at..).map(|rest| tidy(rest, 12)));
        let shown = tidy(text, 60);
        said.push_str(&format!(
            "{shown}\n  {:?} {:?} {}\n  help {:?}\n",
            fault.part,
            at,
            fault.kind,
            fault.kind.help()
        ));
    }
    insta::assert_snapshot!(said);
}

#[test]
fn a_fault_in_one_text_does_not_hide_one_in_the_other() {
    let parts: Vec<Part> = compile("arg.a", "{{ nwo }}", "")
        .unwrap_err()
        .iter()
        .map(|fault| fault.part)
        .collect();
    assert_eq!(parts, [Part::Check, Part::Message]);
}

#[test]
fn messages_show_what_they_are_asked_to_and_never_fail() {
    let message = "{{args.n}} {{ args.text }} {{now}} {{ args.list }} {{args.gone}} {{ 1.5 }} {{ args.password }} {{ args.max_tokens }}";
    let rule = compile("false", message, "").unwrap();
    let args = json!({"n": 3, "text": "a\u{202e}b\nc", "list": [1], "password": "hunter2hunter2", "max_tokens": "12345678"});
    let RuleAnswer::Broken(issue) = rule.check(&args, now()) else {
        panic!("false is broken")
    };
    assert_eq!(
        issue.expected,
        "3 a\\u{202e}b\\u{a}c 2025-08-08 12:00 a list (unknown) 1.5 [masked] 12345678"
    );
    let long = json!({"text": "x".repeat(1000)});
    let RuleAnswer::Broken(issue) = compile("false", &"{{args.text}} ".repeat(12), "/text")
        .unwrap()
        .check(&long, now())
    else {
        panic!("false is broken")
    };
    assert!(issue.expected.chars().count() <= 501);
    assert_eq!(issue.received.map(|text| text.chars().count()), Some(83));
}

#[test]
fn received_secrets_are_masked_and_their_lookalikes_are_not() {
    let args = json!({"password": "hunter2hunter2", "pin": {"password": "short"}, "max_tokens": "12345678"});
    for (path, expected) in [
        ("/password", Some("[masked]")),
        ("/pin/password", Some("\"short\"")),
        ("/max_tokens", Some("\"12345678\"")),
        ("/pin", Some("an object")),
        ("/gone", None),
    ] {
        let RuleAnswer::Broken(issue) = compile("false", "", path).unwrap().check(&args, now()) else {
            panic!("false is broken")
        };
        assert_eq!(issue.received.as_deref(), expected, "{path}");
    }
}

#[test]
fn work_that_grows_too_fast_is_refused_before_it_starts() {
    let numbers =
        |count: usize| json!({"a": (0..count).collect::<Vec<_>>(), "b": (0..count).collect::<Vec<_>>()});
    let too_much = [
        ("args.a.all(x, args.b.all(y, x >= 0 && y >= 0))", 3000),
        ("args.a.all(x, x in args.b)", 10_000),
        ("args.a.all(x, args.a == args.b)", 10_000),
        ("args.a.all(x, string(x).matches('^[0-9]+$'))", 20_000),
        ("args.a.filter(x, x > 1).all(y, args.a.exists(z, z == y))", 3000),
    ];
    for (check, count) in too_much {
        let RuleAnswer::CannotTell(issue) = rule(check).check(&numbers(count), now()) else {
            panic!("{check} must be refused");
        };
        assert!(
            issue
                .expected
                .ends_with("the arguments are too many for this rule's loops"),
            "{}",
            issue.expected
        );
    }
    let fair = [
        ("args.a.all(x, args.b.all(y, x >= 0 && y >= 0))", 100),
        ("args.a.all(x, x in args.b)", 300),
        ("args.a.all(x, x >= 0)", 10_000),
        ("args.a.all(x, string(x).matches('^[0-9]+$'))", 200),
        ("size(args.a) > 0 && args.a[0] == 0", 20_000),
    ];
    for (check, count) in fair {
        assert!(holds(check, &numbers(count)), "{check}");
    }
}

#[test]
fn a_loop_over_a_part_of_the_item_is_no_square() {
    let rooms: Vec<Value> = (0..1000).map(|id| json!({"id": id, "beds": [1, 2]})).collect();
    let args = json!({"rooms": rooms});
    assert!(holds("args.rooms.all(r, r.beds.all(b, b > 0))", &args));
    let RuleAnswer::CannotTell(_) =
        rule("args.rooms.all(r, args.rooms.all(s, s.id > -1))").check(&args, now())
    else {
        panic!("a loop over the whole in a loop is a square");
    };
}

#[test]
fn the_deepest_text_that_is_parsed_fits_the_stack() {
    let nested = |count: usize| format!("{}1{}", "(1 + 2 * ".repeat(count), ")".repeat(count));
    let loops = |inner: &str| format!("[1].all(x, [2].exists(y, y > x && {inner}))");
    for source in [
        vec!["1"; 62].join("+"),
        format!("args{}", "[0]".repeat(60)),
        format!("args{}", ".a".repeat(60)),
        nested(20),
        vec!["args.a ? 1 :"; 60].join(" ") + " 2",
    ] {
        assert_eq!(
            compile(&source, "", "").unwrap_err()[0].kind,
            FaultKind::TooDeep,
            "{source}"
        );
    }
    let sum = |count: usize| vec!["1"; count].join("+") + " > 0";
    for source in [
        sum(30),
        nested(14) + " > 0",
        loops(&sum(20)),
        loops(&(nested(9) + " > 0")),
    ] {
        assert!(holds(&source, &json!({})), "{source}");
    }
}

#[test]
fn large_arguments_are_not_checked() {
    let fits = json!({"a": "x".repeat(200_000), "list": [1]});
    assert!(holds("args.list.all(x, x == 1)", &fits));
    let large = json!({"a": "x".repeat(300_000)});
    let RuleAnswer::CannotTell(issue) = rule("true").check(&large, now()) else {
        panic!("too large to check")
    };
    assert!(
        issue.expected.ends_with("the arguments are larger than 256 kB"),
        "{}",
        issue.expected
    );
}

mod any {
    use proptest::prelude::*;

    use super::*;

    /// Pieces that expressions are made of, in any order.
    fn soup() -> impl Strategy<Value = String> {
        let piece = prop::sample::select(vec![
            "args",
            "now",
            "today",
            ".",
            "a",
            "b",
            "x",
            "1",
            "2.5",
            "'s'",
            "\"",
            "'",
            "(",
            ")",
            "[",
            "]",
            "{",
            "}",
            ",",
            "+",
            "-",
            "*",
            "/",
            "%",
            "!",
            "<",
            ">",
            "==",
            "&&",
            "||",
            "?",
            ":",
            "in",
            "has(",
            "all(x,",
            "exists(",
            "filter(x,",
            "map(",
            "date(",
            "format(",
            "'dd/mm/yyyy'",
            "size(",
            "matches(",
            "null",
            "true",
            " ",
            "//",
            "\n",
            "\\",
            "r'",
            "b'",
            "0x",
            "1e",
            "1u",
            "é",
            "`",
            "@",
            "#",
            "\0",
        ]);
        prop::collection::vec(piece, 0..30).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn no_text_makes_a_rule_panic(check in soup(), message in soup()) {
            if let Ok(rule) = compile(&check, &message, "/a") {
                for args in [json!({"a": [1, 2], "b": "01/01/2026", "x": {"a": 1}}), json!(null)] {
                    let _ = rule.check(&args, now());
                }
            }
        }

        #[test]
        fn no_text_makes_a_template_panic(message in ".{0,60}") {
            let _ = compile("true", &message, "");
            let _ = compile(&message, "", "");
        }
    }
}
