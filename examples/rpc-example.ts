/**
 * The smallest interactive client worth having: prompts in, text and tools out, Ctrl+C stops the run.
 *
 *   npx jiti examples/rpc-example.ts
 *
 * TAU names another program to start than `tau`.
 */
import { spawn } from 'node:child_process';
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';

type Fields = Record<string, unknown> & { type: string };

const [program = 'tau', ...words] = (process.env['TAU'] ?? 'tau').split(' ');
const agent = spawn(program, [...words, '--mode', 'rpc', '--no-session', ...process.argv.slice(2)], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
let requests = 0;
let isRunning = false;
const send = (command: object) => agent.stdin.write(`${JSON.stringify({ id: `req-${++requests}`, ...command })}\n`);

// One record per line; nothing else ends a line, so readline must not split at other characters than \n.
let rest = '';
agent.stdout.setEncoding('utf8').on('data', (chunk: string) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop() ?? '';
  for (const line of lines) if (line !== '') hear(JSON.parse(line) as Fields);
});

function hear(record: Fields): void {
  switch (record.type) {
    case 'agent_start':
      isRunning = true;
      break;
    case 'message_update': {
      const { type, delta } = record['assistantMessageEvent'] as Fields;
      if (type === 'text_delta') stdout.write(String(delta));
      break;
    }
    case 'tool_execution_start':
      console.log(`\n[${record['toolName']}] ${JSON.stringify(record['args'])}`);
      break;
    case 'tool_execution_end':
      if (record['isError']) console.log('[failed]');
      break;
    case 'agent_settled':
      isRunning = false;
      console.log('');
      keyboard.prompt();
      break;
    case 'response':
      if (!record['success']) console.log(`[refused] ${record['error']}`);
      break;
  }
}

const keyboard = createInterface({ input: stdin, output: stdout, prompt: '> ' });
keyboard.on('line', (line) => {
  if (line.trim() === '') keyboard.prompt();
  else send({ type: 'prompt', message: line, ...(isRunning ? { streamingBehavior: 'steer' } : {}) });
});
keyboard.on('SIGINT', () => (isRunning ? send({ type: 'abort' }) : keyboard.close()));
keyboard.on('close', () => agent.stdin.end());
agent.on('exit', (code) => process.exit(code ?? 1));
keyboard.prompt();
