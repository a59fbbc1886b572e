/**
 * A client that shows the dialogs and notices of extensions, over plain JSON lines. Pairs with examples/extensions/rpc-demo.ts:
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

const [program = 'tau', ...words] = (process.env['TAU'] ?? 'tau').split(' ');
const extension = join(import.meta.dirname, 'extensions', 'rpc-demo.ts');
const agent = spawn(program, [...words, '--mode', 'rpc', '--no-session', '-e', extension, ...process.argv.slice(2)], {
  stdio: ['pipe', 'pipe', 'inherit'],
  env: { ...process.env, PI_RPC_EMIT_TITLE: '1' },
});
const send = (record: object) => agent.stdin.write(`${JSON.stringify(record)}\n`);

interface Dialog {
  readonly question: string;
  /** Converts the typed line to the fields of the response; undefined cancels the dialog. */
  readonly answer: (line: string) => object | undefined;
}

const dialogs: Record<string, (request: Fields) => Dialog> = {
  select: ({ title, options }) => {
    const choices = options as string[];
    const list = choices.map((choice, index) => `  ${index + 1}. ${choice}\n`).join('');
    const answer = (line: string) => {
      const value = choices[Number(line) - 1];
      return value === undefined ? undefined : { value };
    };
    return { question: `${title}\n${list}number> `, answer };
  },
  confirm: ({ title, message }) => ({
    question: `${title} ${message} [y/n]> `,
    answer: (line) => ({ confirmed: /^y/i.test(line) }),
  }),
  input: ({ title, placeholder }) => ({
    question: `${title} (${placeholder ?? ''})> `,
    answer: (line) => ({ value: line }),
  }),
  editor: ({ title, prefill }) => ({
    question: `${title}\n${prefill ?? ''}\none line instead> `,
    answer: (line) => ({ value: line }),
  }),
};

const notices: Record<string, (request: Fields) => string> = {
  notify: ({ message, notifyType }) => `[${notifyType ?? 'info'}] ${message}`,
  setStatus: ({ statusKey, statusText }) => `[status ${statusKey}] ${statusText ?? '(cleared)'}`,
  setWidget: ({ widgetKey, widgetLines }) =>
    `[widget ${widgetKey}] ${(widgetLines as string[] | undefined)?.join(' | ') ?? '(cleared)'}`,
  setTitle: ({ title }) => `[title] ${title}`,
  set_editor_text: ({ text }) => `[editor] ${text}`,
};

/** Open dialogs; the first one is on the screen. */
const open: (Dialog & { id: unknown })[] = [];

function show(request: Fields): void {
  const { id, method } = request;
  const dialog = dialogs[String(method)]?.(request);
  if (!dialog) console.log(notices[String(method)]?.(request) ?? `[${method}]`);
  else if (open.push({ id, ...dialog }) === 1) showNext();
}

function showNext(): void {
  stdout.write(open[0]?.question ?? '');
}

/** Removes a dialog that timed out or whose run was aborted. */
function withdraw({ id, by }: Fields): void {
  const index = open.findIndex((dialog) => dialog.id === id);
  if (index === -1) return;
  open.splice(index, 1);
  console.log(`\n[too late: ${by}]`);
  showNext();
}

function reply({ id, answer }: (typeof open)[number], line: string): void {
  const fields = line === '' ? undefined : answer(line);
  send({ type: 'extension_ui_response', id, ...(fields ?? { cancelled: true }) });
  showNext();
}

createInterface({ input: agent.stdout }).on('line', (line) => {
  const record = JSON.parse(line) as Fields;
  switch (record.type) {
    case 'extension_ui_request':
      show(record);
      break;
    case 'extension_ui_resolved':
      withdraw(record);
      break;
    case 'extension_error':
      console.log(`[failed] ${record['event']}: ${record['error']}`);
      break;
    case 'message_update': {
      const { type, delta } = record['assistantMessageEvent'] as Fields;
      if (type === 'text_delta') stdout.write(String(delta));
      else if (type === 'text_end') stdout.write('\n');
      break;
    }
    case 'agent_settled':
      console.log(`[${record['outcome']}]`);
      break;
    case 'response':
      if (!record['success']) console.log(`[refused] ${record['error']}`);
      break;
  }
});

const keyboard = createInterface({ input: stdin });
keyboard.on('line', (line) => {
  const dialog = open.shift();
  if (dialog) reply(dialog, line);
  else if (line.trim() !== '') send({ type: 'prompt', message: line, streamingBehavior: 'steer' });
});
keyboard.on('close', () => agent.stdin.end());
agent.on('close', (code) => process.exit(code ?? 1));
