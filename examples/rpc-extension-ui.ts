/**
 * A client that shows what extensions want to show, over plain JSON lines. Pairs with examples/extensions/rpc-demo.ts:
 *
 *   npx jiti examples/rpc-extension-ui.ts
 *
 * Type a prompt or one of the demo's commands, such as /rpc-select. TAU names another program to start than `tau`.
 */
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';

type Fields = Record<string, unknown> & { type: string };

const extension = join(import.meta.dirname, 'extensions', 'rpc-demo.ts');
const [program = 'tau', ...words] = (process.env['TAU'] ?? 'tau').split(' ');
const agent = spawn(program, [...words, '--mode', 'rpc', '--no-session', '-e', extension], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const send = (record: object) => agent.stdin.write(`${JSON.stringify(record)}\n`);

/** Lines that were typed, and whoever waits for the next one. */
const typed: string[] = [];
let wanted: ((line: string) => void) | undefined;

function nextLine(question: string): Promise<string> {
  stdout.write(question);
  const line = typed.shift();
  if (line !== undefined) return Promise.resolve(line);
  return new Promise((resolve) => {
    wanted = resolve;
  });
}

/** What is sent back to a dialog; undefined calls it off. */
const dialogs: Record<string, (request: Fields) => Promise<object | undefined>> = {
  select: async ({ title, options }) => {
    const choices = options as string[];
    console.log(`${title}\n${choices.map((choice, index) => `  ${index + 1}. ${choice}`).join('\n')}`);
    const value = choices[Number(await nextLine('number> ')) - 1];
    return value === undefined ? undefined : { value };
  },
  confirm: async ({ title, message }) => ({ confirmed: /^y/i.test(await nextLine(`${title} ${message} [y/n]> `)) }),
  input: async ({ title, placeholder }) => {
    const value = await nextLine(`${title} (${placeholder ?? ''})> `);
    return value === '' ? undefined : { value };
  },
  editor: async ({ title, prefill }) => {
    console.log(`${title}\n${prefill ?? ''}`);
    const value = await nextLine('one line instead> ');
    return value === '' ? undefined : { value };
  },
};

const notices: Record<string, (request: Fields) => string> = {
  notify: ({ message, notifyType }) => `[${notifyType ?? 'info'}] ${message}`,
  setStatus: ({ statusKey, statusText }) => `[status ${statusKey}] ${statusText ?? '(cleared)'}`,
  setWidget: ({ widgetKey, widgetLines }) =>
    `[widget ${widgetKey}] ${(widgetLines as string[] | undefined)?.join(' | ') ?? '(cleared)'}`,
  setTitle: ({ title }) => `[title] ${title}`,
  set_editor_text: ({ text }) => `[editor] ${text}`,
};

async function show(request: Fields): Promise<void> {
  const method = String(request['method']);
  const dialog = dialogs[method];
  if (!dialog) {
    console.log(notices[method]?.(request) ?? `[${method}]`);
    return;
  }
  const answer = await dialog(request);
  send({ type: 'extension_ui_response', id: request['id'], ...(answer ?? { cancelled: true }) });
}

const records = createInterface({ input: agent.stdout });
records.on('line', (line) => {
  const record = JSON.parse(line) as Fields;
  if (record.type === 'extension_ui_request') void show(record);
  else if (record.type === 'extension_error') console.log(`[error] ${record['event']}: ${record['error']}`);
  else if (record.type === 'message_update') {
    const step = record['assistantMessageEvent'] as Fields;
    if (step.type === 'text_delta') stdout.write(String(step['delta']));
  } else if (record.type === 'agent_settled') console.log(`\n[${record['outcome']}]`);
  else if (record.type === 'response' && !record['success']) console.log(`[refused] ${record['error']}`);
});

const keyboard = createInterface({ input: stdin });
keyboard.on('line', (line) => {
  const waiting = wanted;
  wanted = undefined;
  if (waiting) waiting(line);
  else if (line.trim() !== '') send({ type: 'prompt', message: line, streamingBehavior: 'steer' });
});
keyboard.on('close', () => agent.stdin.end());
agent.on('exit', (code) => process.exit(code ?? 1));
