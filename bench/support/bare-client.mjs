// Asks a model over HTTP the plainest way, for a line on its input: bare-client.mjs <base url> <model>.
import { Agent, request } from 'node:http';
import { createInterface } from 'node:readline';

const [, , url, model] = process.argv;
const agent = new Agent({ keepAlive: true });
const question = JSON.stringify({ model, stream: true, messages: [{ role: 'user', content: 'go' }] });

createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, type } = JSON.parse(line);
  if (type === 'prompt') ask();
  else say({ id, type: 'response' });
});

function ask() {
  const options = { method: 'POST', agent, headers: { 'content-type': 'application/json' } };
  request(`${url}/chat/completions`, options, hear).end(question);
}

function hear(response) {
  let rest = '';
  response.setEncoding('utf8').on('data', (text) => {
    const events = (rest + text).split('\n\n');
    rest = events.pop();
    for (const event of events) tell(event.slice('data: '.length));
  });
  response.on('end', () => say({ type: 'agent_settled' }));
}

function tell(data) {
  if (data === '[DONE]') return;
  const delta = JSON.parse(data).choices[0]?.delta.content;
  if (delta === undefined) return;
  say({ type: 'message_update', assistantMessageEvent: { type: 'text_delta', contentIndex: 0, delta } });
}

function say(record) {
  process.stdout.write(`${JSON.stringify(record)}\n`);
}
