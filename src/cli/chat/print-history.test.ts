import { expect, it } from 'vitest';
import type { AgentMessage, AssistantMessage, SessionState } from '../../protocol/generated/vocabulary.ts';
import { OwnMessages } from './own-messages.ts';
import { printHistory } from './print-history.ts';
import { SessionPrinter } from './print-session.ts';
import { Printer, plainInk } from './printer.ts';

const timestamp = 1;

const assistant = (more: Partial<AssistantMessage>): AssistantMessage => ({
  role: 'assistant',
  content: [],
  api: 'a',
  provider: 'p',
  model: 'm',
  usage: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, cost: free },
  stopReason: 'stop',
  timestamp,
  ...more,
});

const free = { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 };

it.each<[string, AgentMessage[], string]>([
  ['a user message', [{ role: 'user', content: 'Why?\nHow?', timestamp }], '› Why?\n  How?\n'],
  [
    'an image',
    [{ role: 'user', content: [{ type: 'image', data: '', mimeType: 'image/png' }], timestamp }],
    '› [image/png]\n',
  ],
  [
    'an assistant message',
    [
      assistant({
        content: [
          { type: 'thinking', thinking: 'Hm.' },
          { type: 'text', text: 'So.' },
        ],
      }),
    ],
    'Hm.\nSo.\n',
  ],
  ['an aborted message', [assistant({ stopReason: 'aborted' })], '(stopped)\n'],
  ['a failed message', [assistant({ stopReason: 'error', errorMessage: 'Too hot' })], '(failed: Too hot)\n'],
  [
    'a call with its result',
    [
      assistant({ content: [call('1', 'ls'), call('2', 'pwd')] }),
      { role: 'toolResult', toolCallId: '1', toolName: 'bash', content: [], isError: false, timestamp },
    ],
    '▸ bash ls\n  \n',
  ],
  ['no call without a result', [assistant({ content: [call('1', 'ls')] })], ''],
  [
    'a shell command',
    [{ role: 'bashExecution', command: 'ls', output: 'a\n', cancelled: false, truncated: false, timestamp }],
    '$ ls\na\n',
  ],
  ['a custom message', [{ role: 'custom', customType: 'c', content: 'Look', display: true, timestamp }], 'Look\n'],
  ['no hidden custom message', [{ role: 'custom', customType: 'c', content: 'Hidden', display: false, timestamp }], ''],
  [
    'a summary',
    [{ role: 'compactionSummary', summary: 's', tokensBefore: 1, timestamp }],
    '(Earlier messages are summarised for the model.)\n',
  ],
])('%s is printed', (_what, messages, expected) => {
  const { printer, printed } = captured();

  printHistory(messages, printer);

  expect(printed()).toBe(expected);
});

it('a result is printed with a call from before the reconnect', () => {
  const { printer, printed } = captured();
  const sessionPrinter = new SessionPrinter(new OwnMessages(), printer);
  const state = { sessionId: 's', cwd: '/p', model: null, messageCount: 2 } as SessionState;
  const assistantMessage = assistant({ content: [call('1', 'sleep 9')] });
  sessionPrinter.handleEvent({ type: 'state_synced', state, messages: [assistantMessage] });
  const before = printed();

  const result: AgentMessage = {
    role: 'toolResult',
    toolCallId: '1',
    toolName: 'bash',
    content: [{ type: 'text', text: 'awake' }],
    isError: false,
    timestamp: timestamp + 1,
  };
  sessionPrinter.handleEvent({ type: 'state_synced', state, messages: [assistantMessage, result] });

  expect(printed().slice(before.length)).toBe('▸ bash sleep 9\n  awake\n');
});

function captured() {
  let text = '';
  const target = {
    get atLineStart() {
      return text === '' || text.endsWith('\n');
    },
    print: (more: string) => {
      text += more;
    },
  };
  return { printer: new Printer(target, plainInk), printed: () => text };
}

function call(id: string, command: string) {
  return { type: 'toolCall', id, name: 'bash', arguments: { command } } as const;
}

it('[W126] a warning of the agent is printed', () => {
  const printed: string[] = [];
  const target = { atLineStart: true, print: (text: string) => void printed.push(text) };
  const session = new SessionPrinter(new OwnMessages(), new Printer(target, plainInk));

  session.handleEvent({ type: 'warning', source: 'models', message: 'models.json: not valid\u001b JSON' });

  expect(printed).toEqual(['Warning: models.json: not valid JSON\n']);
});
