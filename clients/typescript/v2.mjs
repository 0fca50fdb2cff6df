//! The official TypeScript SDK, 2.x line (@modelcontextprotocol/client). It speaks both eras; `auto` asks with a process of its own first.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { play } from './driver.mjs';

const MODES = { legacy: 'legacy', modern: { pin: '2026-07-28' }, auto: 'auto' };

await play(async (server, era, ears) => {
  const hear = event => ears.hear(event);
  const client = new Client(
    { name: 'candor-tests-typescript-2', version: '0.0.0' },
    { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode: MODES[era] } }
  );
  client.setRequestHandler('elicitation/create', ({ params }) => {
    hear({ asked: 'elicitation/create', message: params.message });
    return ears.answer;
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

  await client.connect(transport(server));
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

function transport({ command, url, bearer }) {
  if (url) return new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${bearer}` } } });
  const [program, ...args] = command;
  return new StdioClientTransport({ command: program, args, stderr: 'inherit' });
}
