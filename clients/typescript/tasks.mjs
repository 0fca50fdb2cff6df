//! The official TypeScript SDK, 1.x line, as a client that takes tasks (2025-11-25): has a slow tool run as a task, lets it go on, and
//! asks the next process for the answer. Prints what its caller saw, a JSON value a line. Argument: the server's command, as JSON.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { CallToolResultSchema } from '@modelcontextprotocol/sdk/types.js';

const [command, ...args] = JSON.parse(process.argv[2]);
const say = seen => console.log(JSON.stringify(seen));

async function connected() {
  const client = new Client({ name: 'candor-tests-typescript-1', version: '0.0.0' });
  await client.connect(new StdioClientTransport({ command, args, stderr: 'inherit' }));
  await client.listTools();
  return client;
}

let client = await connected();
let task;
const stream = client.experimental.tasks.callToolStream({ name: 'export', arguments: {} }, CallToolResultSchema, { task: { ttl: 60_000 } });
for await (const seen of stream) {
  if (seen.type === 'taskCreated') {
    task = seen.task.taskId;
    await client.callTool({ name: 'go', arguments: {} });
  }
  // How often it looks is its own affair.
  if (seen.type !== 'taskStatus') say(seen);
}
await client.close();

client = await connected();
say({ type: 'kept', task: await client.experimental.tasks.getTask(task) });
say({ type: 'result', result: await client.experimental.tasks.getTaskResult(task, CallToolResultSchema) });
await client.close();
