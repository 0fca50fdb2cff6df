//! Every target over its corpus and a fixed number of mutations. `CANDOR_FUZZ_SEED` takes another row of mutations,
//! `CANDOR_FUZZ_ROUNDS` another number of them.

use std::env;
use std::path::Path;

use candor_fuzz::{Plan, Target, run};

/// The seed of every run that names none.
const SEED: u64 = 20_261_130;

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(
        text.parse()
            .unwrap_or_else(|_| panic!("{name} is {text:?}; a whole number was expected")),
    )
}

fn hold(name: &str) {
    let target = Target::named(name).expect("a target");
    let plan = Plan {
        corpus: Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").join(name),
        kept: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz"),
        seed: number("CANDOR_FUZZ_SEED").unwrap_or(SEED),
        rounds: number("CANDOR_FUZZ_ROUNDS").map_or(target.rounds, |rounds| rounds.try_into().expect("fits")),
    };
    let report = run(target, &plan).unwrap_or_else(|failure| panic!("{failure}"));
    assert!(
        report.corpus >= 5,
        "the corpus of {name} has {} files",
        report.corpus
    );
    assert_eq!(report.made, plan.rounds);
    println!(
        "{name}: {} of the corpus, {} made; slowest {:?}: {}",
        report.corpus,
        report.made,
        report.slowest,
        String::from_utf8_lossy(&report.slowest_input)
            .chars()
            .take(300)
            .collect::<String>()
    );
}

/// One test a target, so that they run side by side and fail by name.
macro_rules! bounded {
    ($($name:ident)*) => {
        $(
            #[test]
            fn $name() {
                hold(stringify!($name));
            }
        )*

        const HELD: &[&str] = &[$(stringify!($name)),*];
    };
}

bounded! { frame envelope head schema arguments coercion redaction record config reply rules }

#[test]
fn every_target_is_held_and_has_a_program() {
    let named: Vec<&str> = Target::ALL.iter().map(|target| target.name).collect();
    assert_eq!(named, HELD);
    let fuzz = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/fuzz_targets");
    for name in named {
        assert!(
            fuzz.join(format!("{name}.rs")).is_file(),
            "fuzz/fuzz_targets has no {name}.rs"
        );
    }
}
