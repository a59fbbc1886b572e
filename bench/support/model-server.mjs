// Serves models as streamed chat completions. Prints its port and runs until its input ends.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DELTA } from './stream.mjs';

const BEFORE_MS = 5;
const AFTER_MS = 25;
const PACED_DELTAS = 3;

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"true"}' } };

/** The deltas of each model. */
const models = {
  /** Calls `bash` with `true`, then sends ok. */
  turn: ({ messages }, send) => {
    if (messages.at(-1).role === 'tool') send({ content: 'ok' });
    else send({ role: 'assistant', tool_calls: [call] });
  },
  ok: (_, send) => send({ content: 'ok' }),
  /** Sends its only delta alone: pauses keep it out of neighbouring writes. */
  slow: async (_, send) => {
    await sleep(BEFORE_MS);
    writtenAt.push(process.hrtime.bigint());
    send({ content: 'ok' });
    await sleep(AFTER_MS);
  },
  paced: async (_, send) => {
    await sleep(BEFORE_MS);
    writtenAt.push(process.hrtime.bigint());
    for (let n = 0; n < PACED_DELTAS; n++) {
      send({ content: DELTA });
      await sleep(AFTER_MS);
    }
  },
  /** Streams until the client closes the connection. */
  endless: async (_, send, isOpen) => {
    for (; isOpen(); await sleep(AFTER_MS)) send({ content: DELTA });
  },
  many: (_, send) => {
    for (let n = 0; n < 40_000; n++) send({ content: DELTA });
  },
};

/** Send times of the first deltas of `slow` and `paced`; a GET request returns and clears them. */
const writtenAt = [];

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(writtenAt.splice(0).map(String)));
    return;
  }
  let body = '';
  for await (const text of request.setEncoding('utf8')) body += text;
  await respond(JSON.parse(body), response);
});

async function respond(request, response) {
  let reason = 'stop';
  const write = (choice) => {
    const choices = [{ index: 0, ...choice }];
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: request.model, choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  const send = (delta) => {
    if (delta.tool_calls) reason = 'tool_calls';
    write({ delta, finish_reason: null });
  };
  await models[request.model](request, send, () => !response.destroyed);
  write({ delta: {}, finish_reason: reason });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit());
