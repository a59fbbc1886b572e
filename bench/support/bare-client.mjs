// The simplest HTTP client of a model, which calls it once per prompt on stdin: bare-client.mjs <base url> <model>.
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';

const [, , url, model] = process.argv;
const agent = new Agent({ keepAlive: true });
const body = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'go' }] });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, type } = JSON.parse(line);
  if (type === 'prompt') callModel();
  else send({ id, type: 'response' });
});

function callModel() {
  const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } };
  request(`${url}/chat/completions`, options, readEvents).end(body);
}

function readEvents(response) {
  let rest = '';
  response.setEncoding('utf8').on('data', (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop();
    for (const event of events) sendDelta(event.slice('data: '.length));
  });
  response.on('end', () => send({ type: 'agent_settled' }));
}

function sendDelta(data) {
  if (data === '[DONE]') return;
  const delta = JSON.parse(data).choices[0]?.delta.content;
  if (delta === undefined) return;
  send({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta } });
}

function send(record) {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}
