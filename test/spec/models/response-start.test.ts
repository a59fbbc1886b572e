import { once } from 'node:events';
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { newHome, openTestAgent, writeUserFile } from '../../support/agent/test-agent.ts';
import type { WireRecord } from '../../support/clients/peer.ts';
import { apis, modelDescription } from '../../support/providers/configured-providers.ts';
import type { Api } from '../../support/providers/provider-double.ts';

/** Opens an agent whose model server hands each response to the test. */
async function openHeld(api: Api) {
  const responses: ServerResponse[] = [];
  let onRequest = () => {};
  const server = createServer((request, response) => {
    responses.push(response);
    request.resume();
    onRequest();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const home = newHome();
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const provider = { baseUrl, apiKey: 'k', api: api.name, models: [modelDescription] };
  writeUserFile(home, 'models.json', JSON.stringify({ providers: { held: provider } }));
  const { peer } = await openTestAgent('stdio', { home, args: ['--model', 'held/m', '--stream', 'delta'] });
  const requested = new Promise<void>((resolve) => {
    onRequest = resolve;
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  await requested;
  return { peer, response: responses[0] as ServerResponse };
}

const ofAnswer = (records: readonly WireRecord[]) =>
  records.filter(
    ({ type, message }) =>
      type === 'message_update' ||
      (type === 'message_start' && (message as { role: string } | undefined)?.role === 'assistant'),
  );

const isAnswerStart = (record: WireRecord) => record.type === 'message_start' && ofAnswer([record]).length > 0;

it.each(apis.map((api) => [api.name, api] as const))(
  '[M14 M27] %s: message_start and start are sent when the server responds, before its first event',
  async (_name, api) => {
    const { peer, response } = await openHeld(api);
    await peer.ok({ type: 'get_state' });
    expect(ofAnswer(peer.records)).toEqual([]);

    response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();

    expect(await peer.next(isAnswerStart)).toMatchObject({ message: { role: 'assistant', content: [] } });
    expect(await peer.next('message_update')).toMatchObject({ assistantMessageEvent: { type: 'start' } });
    for (const { event, data } of api.encode({ text: 'Hello.' }))
      response.write(`${event === undefined ? '' : `event: ${event}\n`}data: ${data}\n\n`);
    response.end();
    expect(await peer.next('agent_settled')).toMatchObject({ outcome: 'ok' });
  },
);

it.each(apis.map((api) => [api.name, api] as const))(
  '[M28] %s: a request that the server rejects has a message without updates',
  async (_name, api) => {
    const { peer, response } = await openHeld(api);

    response.writeHead(400, { 'content-type': 'application/json' }).end(api.errorBody({ status: 400, message: 'No' }));
    await peer.next('agent_settled');

    const failed = { role: 'assistant', content: [], stopReason: 'error', errorCode: 'model_error' };
    const [start, ...updates] = ofAnswer(peer.records);
    expect(start).toMatchObject({ type: 'message_start', message: failed });
    expect(updates).toEqual([]);
    expect(peer.records.findLast(({ type }) => type === 'message_end')).toMatchObject({ message: failed });
  },
);

it('[M28] a request that is aborted before any response has a message without updates', async () => {
  const [api] = apis as [Api];
  const { peer } = await openHeld(api);

  await peer.ok({ type: 'abort' });
  await peer.next('agent_settled');

  const [start, ...updates] = ofAnswer(peer.records);
  expect(start).toMatchObject({ message: { content: [], stopReason: 'aborted' } });
  expect(updates).toEqual([]);
});

it('[M26] an answer whose chunks come at once arrives in more than one delta', async () => {
  const [api] = apis as [Api];
  const { peer, response } = await openHeld(api);
  response.writeHead(200, { 'content-type': 'text/event-stream' });

  const events = api.encode({ thinking: 'one two three', text: 'four five six' });
  response.end(events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(''));
  await peer.next('agent_settled');

  const types = peer.records.flatMap(({ type, assistantMessageEvent }) =>
    type === 'message_update' ? [(assistantMessageEvent as { type: string }).type] : [],
  );
  for (const type of ['thinking_delta', 'text_delta'])
    expect(types.filter((one) => one === type).length).toBeGreaterThan(1);
});
