import { expect, it } from 'vitest';
import { AgentClient } from '../../client/client.ts';
import { toLine } from '../../wire/json-lines.ts';
import { memoryPair } from '../../wire/memory.ts';
import { Printer, plainInk } from './printer.ts';
import { show } from './show.ts';

it('calls dialogs off, so that no run waits for an answer that nobody can give', async () => {
  const [agent, link] = memoryPair();
  show(new AgentClient(link), new Printer({ atLineStart: true, print: () => {} }, plainInk));
  const answered = new Promise((resolve) => agent.onLine(resolve));

  agent.write(toLine({ type: 'extension_ui_request', id: 'n', method: 'notify', message: 'Look' }));
  agent.write(toLine({ type: 'extension_ui_request', id: 'd', method: 'select', title: 'Which?', options: ['a'] }));

  expect(await answered).toEqual({ text: '{"type":"extension_ui_response","id":"d","cancelled":true}' });
});
