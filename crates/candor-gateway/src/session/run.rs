//! Running one wrapped server from its start to its end.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::convert::Infallible;
use std::path::Path;
use std::pin::Pin;
use std::time::Duration;

use candor_core::delivery::redaction::{KnownSecrets, least};
use candor_core::names::ServerName;
use candor_transport::{
    Child, ChildCommand, ChildProcess, DEFAULT_FRAME_LIMIT, Exit, Frame, FrameReader, Grace, Limits,
    NoiseLog, OwnInput, OwnPipes, SpawnFault, own_pipes, spawn,
};
use tokio::process::ChildStdout;
use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, Sleep, sleep_until, timeout};

use super::batches::Batches;
use super::breaker::Breakers;
use super::confirming::Confirming;
use super::following::Following;
use super::keys::server_of;
use super::linger::{Linger, stay_awake};
use super::news::Newsroom;
use super::own_tools::OwnTools;
use super::pending::Pending;
use super::reconciler::Reconciler;
use super::revival::Revival;
use super::rounds::Rounds;
use super::state::{Server, Session};
use super::tasks::Tasks;
use crate::catalogue::Catalogue;
use crate::config::{CommandLine, Config};
use crate::packs::Packs;
use crate::recorder::Recorder;

/// How much may be queued towards either side before the other is held back.
const HIGH_WATER: usize = 1024 * 1024;
/// More open requests of the host than this, and it is not read from until some are answered.
const MOST_OPEN: usize = 4096;
/// After the server's process has ended: how long its pipe may be silent before it counts as read to its end.
const LAST_WORDS: Duration = Duration::from_millis(250);
/// And how long it is read at most.
const LAST_WORDS_IN_ALL: Duration = Duration::from_secs(2);
/// After the host closed its end: how long requests without a deadline of their own may still be answered.
const AFTER_HOST: Duration = Duration::from_secs(10);
/// For a server that is ended because we are: whoever ended us may not wait long.
const QUICK: Grace = Grace {
    after_close: Duration::from_secs(1),
    after_terminate: Duration::from_secs(1),
    after_kill: Duration::from_millis(500),
};
/// Frames in a row that may come before everything else that wakes the loop.
const FRAMES_FIRST: u32 = 32;
/// How long the record of a session that ends may take.
const LAST_RECORDS: Duration = Duration::from_secs(3);

/// How one server is wrapped.
#[derive(Debug)]
pub struct Options {
    /// What to start.
    pub command: ChildCommand,
    /// The name given by the operator (`--name`).
    pub name: Option<String>,
    /// The contracts.
    pub config: Config,
    /// What the command line says over them.
    pub command_line: CommandLine,
    /// The contract packs that may be applied.
    pub packs: Packs,
    /// Where records go.
    pub recorder: Recorder,
    /// Values that are masked wherever Candor writes: what this process knows to be secret.
    pub secrets: KnownSecrets,
    /// Refuse every call but trusted reads that can't be recorded.
    pub ledger_required: bool,
    /// How long a person may think before a call that they must agree to; `None` for 10 minutes.
    pub confirm_within: Option<Duration>,
    /// Are Candor's own tools and resource added to what the server lists?
    pub own_tools: bool,
    /// `MCP_TOOL_TIMEOUT`, where the host passed it on.
    pub tool_timeout: Option<Duration>,
    /// Is a server that died started anew by the next call?
    pub restart: bool,
    /// The longest message that is carried, in bytes; `None` for the default of 64 MiB.
    pub frame_limit: Option<usize>,
}

/// Why a session could not begin, or could not go on.
#[derive(Debug, thiserror::Error)]
pub enum RunFault {
    /// The server could not be started.
    #[error(transparent)]
    Spawn(#[from] SpawnFault),
    /// Our own pipes or signals could not be set up.
    #[error("stdin, stdout or the signals of this process can't be used: {0}")]
    Own(#[from] std::io::Error),
}

/// Wraps one server: carries frames between the host on our own stdin and stdout and the server's process, until the
/// host closes its end. Returns how the server ended.
///
/// # Errors
/// Where the server can't be started, or our own pipes can't be used.
pub async fn run(options: Options) -> Result<Exit, RunFault> {
    let limit = options.frame_limit.unwrap_or(DEFAULT_FRAME_LIMIT);
    let told_to_end = told_to_end()?;
    let limits = Limits {
        frame: limit,
        high_water: HIGH_WATER,
    };
    let child = spawn(&options.command, limits)?;
    let OwnPipes { input: host, output } = own_pipes(limit, HIGH_WATER)?;
    let Child {
        output: server,
        input,
        process,
    } = child;
    let session = Session {
        fallback_name: fallback_name(&options.command),
        given_name: options
            .name
            .as_deref()
            .map(|name| ServerName::from(least(name, &options.secrets).value.as_ref())),
        config: options.config,
        command_line: options.command_line,
        packs: options.packs,
        server_name: None,
        host_name: None,
        tool_timeout: options.tool_timeout,
        ledger_required: options.ledger_required,
        frame_limit: limit,
        circumstances: None,
        revision: None,
        initialized: false,
        has_handshake: false,
        recorder: options.recorder,
        secrets: options.secrets,
        to_host: output,
        to_server: input,
        server: Server::Running,
        revival: Revival::new(options.restart),
        reconciler: Reconciler::default(),
        breakers: Breakers::default(),
        host_left: false,
        gathers: false,
        pending: Pending::default(),
        batches: Batches::default(),
        calls: HashMap::new(),
        confirming: Confirming::new(options.confirm_within),
        following: Following::default(),
        own_tools: OwnTools::new(options.own_tools),
        malformed: HashMap::new(),
        progress: HashMap::new(),
        next_call: 0,
        catalogue: Catalogue::default(),
        listing: None,
        host_list: None,
        timers: BTreeMap::new(),
        next_timer: 0,
        records: JoinSet::new(),
        refusals: HashMap::new(),
        key_server: server_of(options.name.as_deref(), &options.command),
        rounds: Rounds::default(),
        tasks: Tasks::default(),
        news: Newsroom::default(),
        refusal_order: VecDeque::new(),
        noise: NoiseLog::new(),
        strays: 0,
    };
    let mut wires = Wires {
        command: options.command,
        limits,
        host,
        server,
        process,
        host_open: true,
        server_open: true,
        leave_by: None,
        alarm: Box::pin(sleep_until(Instant::now())),
        told_to_end,
        in_a_row: 0,
        for_host: Linger::default(),
        for_server: Linger::default(),
    };
    Ok(wires.carry(session).await)
}

/// The program's own name, for a server that has not said its.
fn fallback_name(command: &ChildCommand) -> ServerName {
    let name = Path::new(&command.program)
        .file_name()
        .map(|name| name.to_string_lossy().into_owned());
    ServerName::from(name.as_deref().unwrap_or("server"))
}

/// What the loop reads from.
struct Wires {
    command: ChildCommand,
    limits: Limits,
    host: FrameReader<OwnInput>,
    server: FrameReader<ChildStdout>,
    process: ChildProcess,
    host_open: bool,
    server_open: bool,
    /// After the host closed its end: when requests without a deadline of their own are given up.
    leave_by: Option<Instant>,
    /// Rings when a timer is due, or earlier.
    alarm: Pin<Box<Sleep>>,
    /// Closes when a signal asks us to end.
    told_to_end: oneshot::Receiver<Infallible>,
    /// Frames that came one after the other, with nothing else between them.
    in_a_row: u32,
    /// The waits for the host's next request,
    for_host: Linger,
    /// and for the answer to the only one that is open.
    for_server: Linger,
}

/// What woke the loop.
enum Woken {
    Host(std::io::Result<Option<Frame>>),
    Server(std::io::Result<Option<Frame>>),
    Recorded(super::state::Recorded),
    Due,
    HostGone,
    ProcessEnded(Exit),
    ToldToEnd,
}

impl Wires {
    async fn carry(&mut self, mut session: Session) -> Exit {
        loop {
            let woken = self.next(&mut session).await;
            self.in_a_row = match woken {
                Woken::Host(_) | Woken::Server(_) if self.in_a_row < FRAMES_FIRST => self.in_a_row + 1,
                _ => 0,
            };
            match woken {
                Woken::Host(Ok(Some(frame))) => {
                    session.gathers = self.host.holds_more();
                    session.frame_from_host(&frame);
                }
                Woken::Host(Ok(None) | Err(_)) => {
                    self.host_open = false;
                    self.leave_by = Some(Instant::now() + AFTER_HOST);
                    session.withdraw_questions();
                }
                Woken::Server(Ok(Some(frame))) => {
                    session.gathers = self.server.holds_more();
                    session.frame_from_server(&frame);
                }
                Woken::Server(Ok(None) | Err(_)) => self.server_closed(&mut session).await,
                Woken::Recorded(recorded) => {
                    // Several are put on disk together, so their answers leave together.
                    session.gathers = true;
                    session.recorded(recorded);
                }
                Woken::Due => session.fire_timers(),
                Woken::HostGone => {
                    session.host_gone();
                    self.host_open = false;
                    self.leave_by = Some(Instant::now());
                }
                Woken::ProcessEnded(exit) => self.process_ended(&mut session, exit).await,
                Woken::ToldToEnd => return self.end(session, QUICK).await,
            }
            if session.revival.wanted {
                session.revival.wanted = false;
                self.start_anew(&mut session);
            }
            let leaves = !self.host_open && self.may_leave(&mut session);
            if leaves || (session.is_given_up() && session.is_quiet()) {
                return self.end(session, Grace::default()).await;
            }
        }
    }

    fn start_anew(&mut self, session: &mut Session) {
        // What is left of the one before must not go on beside it.
        self.process.kill_group();
        match spawn(&self.command, self.limits) {
            Ok(Child {
                output,
                input,
                process,
            }) => {
                self.server = output;
                self.process = process;
                self.server_open = true;
                session.revived(input);
            }
            Err(fault) => session.revival_failed(&fault.to_string()),
        }
    }

    async fn next(&mut self, session: &mut Session) -> Woken {
        let due = session.next_due();
        let due = self.leave_by.map_or(due, |leave| leave.min(due));
        // One that rings too early does no harm, and setting it anew for every call would cost each of them.
        if due < self.alarm.deadline() || self.alarm.is_elapsed() {
            self.alarm.as_mut().reset(due);
        }
        let open = session.pending.open_count();
        let may_read = self.host_open && open < MOST_OPEN;
        let Session {
            to_host,
            records,
            server,
            host_left,
            ..
        } = session;
        let quiet = records.is_empty();
        let frames = async {
            tokio::select! {
                frame = self.host.next(), if may_read => Woken::Host(frame),
                frame = async { to_host.ready().await; self.server.next().await }, if self.server_open => Woken::Server(frame),
                else => std::future::pending().await,
            }
        };
        let rest = async {
            tokio::select! {
                Some(done) = records.join_next() => match done {
                    Ok(recorded) => Woken::Recorded(recorded),
                    // A writer that panicked: the call it was for stays unrecorded, and its deadline ends it.
                    Err(fault) => { tracing::error!(%fault, "recording a call failed"); Woken::Due }
                },
                () = &mut self.alarm => Woken::Due,
                _ = to_host.closed(), if !*host_left => Woken::HostGone,
                exit = self.process.wait(), if !matches!(server, Server::Gone(_)) && self.server_open => Woken::ProcessEnded(exit),
                _ = &mut self.told_to_end => Woken::ToldToEnd,
            }
        };
        // Of several calls in flight the next is seldom far, and their servers want the cores; the disk is never that quick.
        let mut linger = match open {
            0 => Some(&mut self.for_host),
            1 => Some(&mut self.for_server),
            _ => None,
        };
        let frames_first = self.in_a_row < FRAMES_FIRST;
        let awake = quiet && frames_first && linger.as_ref().is_some_and(|linger| linger.is_worth_it());
        let began = Instant::now();
        // Asking all the others whether they are due costs a frame more than its own way through, and nothing once it
        // has left; but they must have their turn.
        let woken = if frames_first {
            tokio::select! { biased; woken = frames => woken, woken = rest => woken, never = stay_awake(), if awake => match never {} }
        } else {
            tokio::select! { biased; woken = rest => woken, woken = frames => woken }
        };
        if let (Woken::Host(_) | Woken::Server(_), Some(linger)) = (&woken, &mut linger) {
            linger.note(began.elapsed(), awake);
        }
        woken
    }

    /// The server's process has ended. What it wrote before is still in its pipe.
    async fn process_ended(&mut self, session: &mut Session, exit: Exit) {
        // A descendant may hold the pipe and write on for ever.
        let until = Instant::now() + LAST_WORDS_IN_ALL;
        while Instant::now() < until
            && let Ok(Some(frame)) = self.server.next_within(LAST_WORDS).await
        {
            session.frame_from_server(&frame);
        }
        self.server_open = false;
        session.server_ended(&exit.to_string());
    }

    /// The server closed its stdout: it can't answer any more. If it does not end by itself it is left to finish what
    /// it does; it ends with us, or when another takes its place.
    async fn server_closed(&mut self, session: &mut Session) {
        self.server_open = false;
        match timeout(LAST_WORDS, self.process.wait()).await {
            Ok(exit) => session.server_ended(&exit.to_string()),
            Err(_) => session.server_ended("it closed its output"),
        }
    }

    /// The host has closed its end: may this session end?
    fn may_leave(&mut self, session: &mut Session) -> bool {
        if session.is_quiet() {
            return true;
        }
        if self.leave_by.is_some_and(|leave| leave <= Instant::now()) {
            self.leave_by = None;
            session.host_gone();
        }
        session.host_left && session.is_quiet()
    }

    /// Ends the session: what is open is recorded as given up, what is written is flushed, the child ends.
    async fn end(&mut self, mut session: Session, grace: Grace) -> Exit {
        session.give_up();
        let flushed = async {
            while let Some(done) = session.records.join_next().await {
                if let Ok(recorded) = done {
                    session.recorded(recorded);
                }
            }
            session.to_host.flushed().await;
        };
        if timeout(LAST_RECORDS, flushed).await.is_err() {
            tracing::warn!("the last answers or records of this session could not be written in time");
        }
        let input = session.to_server.clone();
        // What it still says goes into the record: a write that was given up may be answered only now.
        let drain = async {
            while self.server_open
                && let Ok(Some(frame)) = self.server.next().await
            {
                session.frame_from_server(&frame);
            }
        };
        // Its whole group ends with us, also where its leader is gone already.
        let stop = self.process.stop(&input, grace);
        tokio::pin!(stop);
        let exit = tokio::select! {
            exit = &mut stop => exit,
            () = drain => stop.await,
        };
        if let Recorder::Ledger(ledger) = session.recorder
            && let Err(fault) = ledger.close().await
        {
            tracing::warn!(%fault, "the ledger was not closed in order");
        }
        exit
    }
}

/// What closes when a signal asks this process to end in order. The signals have a task of their own: to ask three of
/// them each time the loop goes round costs more than all the rest of its waiting.
fn told_to_end() -> std::io::Result<oneshot::Receiver<Infallible>> {
    let mut terminate = signal(SignalKind::terminate())?;
    let mut interrupt = signal(SignalKind::interrupt())?;
    let mut hangup = signal(SignalKind::hangup())?;
    let (open, told) = oneshot::channel();
    tokio::spawn(async move {
        tokio::select! {
            _ = terminate.recv() => {}
            _ = interrupt.recv() => {}
            _ = hangup.recv() => {}
        }
        drop(open);
    });
    Ok(told)
}
