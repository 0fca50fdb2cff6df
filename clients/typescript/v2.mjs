//! The official TypeScript SDK, 2.x line (@modelcontextprotocol/client). It speaks both eras; `auto` asks with a process of its own first.

import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { play } from './driver.mjs';

const MODES = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };

await play(async (command, era, hear) => {
  const client = new Client(
    { name: 'candor-tests-typescript-2', version: '0.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode: MODES[era] } }
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    hear({ asked: 'elicitation/create', message: params.message });
    return { action: 'accept', content: { name: 'Ada' } };
  });
  client.setRequestHandler('sampling/createMessage', () => {
    hear({ asked: 'sampling/createMessage' });
    return { model: 'abacus', role: 'assistant', content: { type: 'text', text: '4' } };
  });
  client.setRequestHandler('roots/list', () => {
    hear({ asked: 'roots/list' });
    return { roots: [{ uri: 'file:///srv/site', name: 'site' }] };
  });
  client.setNotificationHandler('notifications/message', ({ params }) => hear({ log: params.data }));
  client.setNotificationHandler('notifications/tools/list_changed', () => hear({ changed: 'tools' }));

  const [program, ...args] = command;
  const transport = new StdioClientTransport({ command: program, args, stderr: 'inherit' });
  await client.connect(transport);
  return {
    opened: () => ({
      server: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      revision: client.getNegotiatedProtocolVersion(),
      era: client.getProtocolEra()
    }),
    ping: options => client.ping(options),
    // Without a cursor this SDK walks all pages itself.
    page: (_cursor, options) => client.listTools(undefined, options),
    call: (name, args, options) => client.callTool({ name, arguments: args }, options),
    listen: () => client.listen({ toolsListChanged: true }),
    close: () => client.close()
  };
});
