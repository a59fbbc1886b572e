/**
 * A small interactive client: sends prompts, prints text and tool calls, and aborts the run on Ctrl+C.
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
const send = (command: object) => agent.stdin.write(`${JSON.stringify(command)}\n`);

const keyboard = createInterface({ input: stdin, output: stdout, prompt: '> ' });
let isRunning = false;
let isClosed = false;

createInterface({ input: agent.stdout }).on('line', (line) => handle(JSON.parse(line) as Fields));

function handle(record: Fields): void {
  switch (record.type) {
    case 'agent_start':
      isRunning = true;
      break;
    case 'message_update': {
      const { type, delta } = record['assistantMessageEvent'] as Fields;
      if (type === 'text_delta') stdout.write(String(delta));
      else if (type === 'text_end') stdout.write('\n');
      break;
    }
    case 'tool_execution_start':
      console.log(`[${record['toolName']}] ${JSON.stringify(record['args'])}`);
      break;
    case 'tool_execution_end':
      if (record['isError']) console.log('[failed]');
      break;
    case 'agent_settled':
      isRunning = false;
      console.log(`[${record['outcome']}]`);
      promptUser();
      break;
    case 'response':
      if (record['success']) break;
      console.log(`[refused] ${record['error']}`);
      promptUser();
      break;
  }
}

/** Shows the prompt, unless the input has ended: newer versions of Node throw then. */
function promptUser(): void {
  if (!isClosed) keyboard.prompt();
}

keyboard.on('line', (line) => {
  if (line.trim() === '') keyboard.prompt();
  else send({ type: 'prompt', message: line, streamingBehavior: 'steer' });
});
keyboard.on('SIGINT', () => (isRunning ? send({ type: 'abort' }) : keyboard.close()));
keyboard.on('close', () => {
  isClosed = true;
  agent.stdin.end();
});
agent.on('close', (code) => process.exit(code ?? 1));
keyboard.prompt();
