import { once } from 'node:events';
import { createServer } from 'node:http';

const call = { index: 0, id: 'call_1', type: 'function', function: { name: 'bash', arguments: '{"command":"true"}' } };

/** A model on this machine: calls `bash` with `true`, then says ok. Speaks the streaming form of chat completions. */
export async function startLocalModel() {
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text) => {
      body += text;
    });
    request.on('end', () => {
      const { messages } = JSON.parse(body);
      const isAnswered = messages.at(-1).role === 'tool';
      const delta = isAnswered ? { content: 'ok' } : { role: 'assistant', tool_calls: [call] };
      const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
      const end = { delta: {}, finish_reason: isAnswered ? 'stop' : 'tool_calls' };
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (const choice of [{ delta, finish_reason: null }, end]) {
        const record = { id: 'c', object: 'chat.completion.chunk', model: 'local', choices: [{ index: 0, ...choice }] };
        response.write(`data: ${JSON.stringify({ ...record, usage })}\n\n`);
      }
      response.end('data: [DONE]\n\n');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${server.address().port}/v1`, stop: () => server.close().closeAllConnections() };
}
