//! Plays a plan with a client of the official TypeScript SDK and prints, one JSON line a step, what its caller saw.
//! Plans are made and judged by crates/candor-cli/tests/clients and crates/candor/tests/official. This file knows steps; v1.mjs and
//! v2.mjs know the SDKs.

import { readFileSync } from 'node:fs';

/** No wait is longer than this, in milliseconds: a client that hangs is a finding, not a hung test. */
const DEADLINE = 20_000;

/** How often `listTools` may be asked for another page. */
const PAGES = 20;

/**
 * @param connect opens one session: `(server, era, ears) => session`, where `server` has `command`, or `url` and `bearer`;
 *   `ears.hear(event)` takes whatever the server says by itself, and `ears.answer` is what the user says when asked. A session has
 *   `opened`, `ping`, `page`, `call`, `listen`, `task`, `close`; `listen` and `task` where its SDK can.
 */
export async function play(connect) {
  const plan = JSON.parse(readFileSync(process.argv[2], 'utf8'));
  for (const server of plan.sessions) {
    const { name, era, steps } = server;
    const ears = new Ears();
    const tell = (step, saw) => console.log(JSON.stringify({ session: name, era, step, saw }));
    let session;
    const opened = await seen(async () => (session = await connect(server, era, ears)).opened());
    tell('open', opened);
    if (!session) continue;
    for (const step of steps) {
      ears.begin(step);
      tell(step.name, await seen(() => STEPS[step.do](session, step, ears), ears));
    }
    tell('close', await seen(async () => ({ closed: (await session.close()) ?? true })));
  }
}

/** What the user says when asked, unless the step has another answer. */
const YES = { action: 'accept', content: { name: 'Ada' } };

/** What the server said by itself since the step began, and what it is answered. */
class Ears {
  heard = [];
  answer = YES;
  #waiting = [];

  hear(event) {
    this.heard.push(event);
    this.#waiting = this.#waiting.filter(one => !(this.heard.length >= one.count && (one.resolve(), true)));
  }

  begin(step) {
    this.heard = [];
    this.answer = step.answer ?? YES;
  }

  /** Resolves when so many events came, or at the deadline: what is missing then is the judge's affair. */
  until(count) {
    if (this.heard.length >= count) return Promise.resolve();
    return new Promise(resolve => {
      const timer = setTimeout(resolve, DEADLINE);
      this.#waiting.push({ count, resolve: () => (clearTimeout(timer), resolve()) });
    });
  }
}

const STEPS = {
  async ping(session) {
    return { pong: await session.ping(options()) };
  },

  async list(session) {
    const tools = [];
    let cursor;
    for (let page = 0; page < PAGES; page += 1) {
      const answer = await session.page(cursor, options());
      tools.push(...answer.tools);
      cursor = answer.nextCursor;
      if (cursor === undefined) break;
    }
    return { tools };
  },

  async call(session, step, ears) {
    const more = step.progress ? { onprogress: progress => ears.hear({ progress }) } : {};
    const result = await session.call(step.tool, step.arguments, options(more));
    await ears.until(step.awaits ?? 0);
    return { result };
  },

  /** Calls, and leaves as soon as the server has said that it began. */
  async cancel(session, step, ears) {
    const leaving = new AbortController();
    const call = session.call(step.tool, step.arguments, options({ signal: leaving.signal }));
    ears.until(1).then(() => leaving.abort('the caller left'));
    return { result: await call };
  },

  /** Two calls at once; the first is answered second. */
  async pair(session, step) {
    const answered = [];
    const one = async tool => answered.push([tool, await session.call(tool, {}, options())]);
    await Promise.all(step.tools.map(one));
    return { answered };
  },

  /** Calls as a task of 2025-11-25, and follows it to its result. */
  async task(session, step) {
    const statuses = [];
    for await (const message of session.task(step.tool, step.arguments, options({ task: { ttl: 60_000 } }))) {
      if (message.type === 'error') throw message.error;
      if (message.type === 'result') return { statuses, result: message.result };
      if (message.task.status !== statuses.at(-1)) statuses.push(message.task.status);
    }
    throw new Error('the task ended without a result');
  },

  async listen(session, step, ears) {
    const subscription = await session.listen();
    await ears.until(step.awaits);
    await subscription.close();
    return { honored: subscription.honoredFilter, events: ears.heard.map(event => event.changed) };
  }
};

function options(more = {}) {
  return { timeout: DEADLINE, ...more };
}

/** What came of it: what was returned, or what was thrown; and what was heard meanwhile. */
async function seen(work, ears) {
  let saw;
  try {
    saw = await work();
  } catch (error) {
    saw = { threw: { class: error?.constructor?.name, code: error?.code, message: String(error?.message ?? error), data: error?.data } };
  }
  return ears?.heard.length ? { ...saw, heard: ears.heard } : saw;
}
