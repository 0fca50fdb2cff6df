//! The official TypeScript SDK, 1.x line (@modelcontextprotocol/sdk): what most hosts are built on. It speaks the old era only.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {
  CreateMessageRequestSchema,
  ElicitRequestSchema,
  ListRootsRequestSchema,
  LoggingMessageNotificationSchema,
  ToolListChangedNotificationSchema
} from '@modelcontextprotocol/sdk/types.js';
import { play } from './driver.mjs';

await play(async (server, era, ears) => {
  const hear = event => ears.hear(event);
  if (era !== 'legacy') throw new Error(`this SDK does not speak the era ${era}`);
  const client = new Client(
    { name: 'candor-tests-typescript-1', version: '0.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} } }
  );
  client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
    hear({ asked: 'elicitation/create', message: params.message });
    return ears.answer;
  });
  client.setRequestHandler(CreateMessageRequestSchema, () => {
    hear({ asked: 'sampling/createMessage' });
    return { model: 'abacus', role: 'assistant', content: { type: 'text', text: '4' } };
  });
  client.setRequestHandler(ListRootsRequestSchema, () => {
    hear({ asked: 'roots/list' });
    return { roots: [{ uri: 'file:///srv/site', name: 'site' }] };
  });
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => hear({ log: params.data }));
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => hear({ changed: 'tools' }));

  await client.connect(transport(server));
  return {
    opened: () => ({ server: client.getServerVersion(), capabilities: client.getServerCapabilities() }),
    ping: options => client.ping(options),
    page: (cursor, options) => client.listTools({ cursor }, options),
    call: (name, args, options) => client.callTool({ name, arguments: args }, undefined, options),
    task: (name, args, options) => client.experimental.tasks.callToolStream({ name, arguments: args }, undefined, options),
    close: () => client.close()
  };
});

function transport({ command, url, bearer }) {
  if (url) return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${bearer}` } } });
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, stderr: 'inherit' });
}
