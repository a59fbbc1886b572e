// A model on this machine, in the streaming form of chat completions. Prints its port, serves until its input ends.
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { DELTA } from './stream.mjs';

const BEFORE_MS = 5;
const AFTER_MS = 25;

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"true"}' } };

/** What each of its models says. */
const models = {
  /** Calls `bash` with `true`, then says ok. */
  turn: ({ messages }, say) => {
    if (messages.at(-1).role === 'tool') say({ content: 'ok' });
    else say({ role: 'assistant', tool_calls: [call] });
  },
  ok: (_, say) => say({ content: 'ok' }),
  /** Its only word has nothing before it and nothing behind it that could carry it along. */
  slow: async (_, say) => {
    await sleep(BEFORE_MS);
    writtenAt.push(process.hrtime.bigint());
    say({ content: 'ok' });
    await sleep(AFTER_MS);
  },
  many: (_, say) => {
    for (let n = 0; n < 40_000; n++) say({ content: DELTA });
  },
};

/** When the slow model spoke, for whoever asks. */
const writtenAt = [];

const server = createServer(async (request, response) => {
  if (request.method === 'GET') {
    response.end(JSON.stringify(writtenAt.splice(0).map(String)));
    return;
  }
  let body = '';
  for await (const text of request.setEncoding('utf8')) body += text;
  await answer(JSON.parse(body), response);
});

async function answer(question, response) {
  let reason = 'stop';
  const write = (choice) => {
    const choices = [{ index: 0, ...choice }];
    const chunk = { id: 'c', object: 'chat.completion.chunk', created: 1, model: question.model, choices };
    response.write(`data: ${JSON.stringify(chunk)}\n\n`);
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
  await models[question.model](question, (delta) => {
    if (delta.tool_calls) reason = 'tool_calls';
    write({ delta, finish_reason: null });
  });
  write({ delta: {}, finish_reason: reason });
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  response.write(`data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', choices: [], usage })}\n\n`);
  response.end('data: [DONE]\n\n');
}

server.listen(0, '127.0.0.1', () => process.stdout.write(`${server.address().port}\n`));
process.stdin.resume().once('end', () => process.exit());
