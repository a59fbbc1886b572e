import type { Home } from '../agent/test-agent.ts';
import { assistantMessage, entry, header, storeSession } from './stored-session.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const FIRST_TIMESTAMP = Date.parse('2026-01-02T09:00:00Z');

/** Stores a session of this many entries with messages of many lengths and returns its id. */
export function storeLongConversation(home: Home, entries: number): string {
  const id = 'long-1';
  const lines = Array.from({ length: entries }, (_, n) =>
    entry('message', idOf(n), n === 0 ? null : idOf(n - 1), { message: messageAt(n) }),
  );
  storeSession(home, [header(home.cwd, { id }), ...lines], { name: `2026-01-02T03-04-05-678Z_${id}.jsonl` });
  return id;
}

// Bytes of each message of a large conversation.
const LARGE_MESSAGE_BYTES = 20 * 1024;

/** Stores a session whose messages have about this many megabytes together and returns its id. */
export function storeLargeConversation(home: Home, megabytes: number): string {
  const id = 'large-1';
  const count = Math.ceil((megabytes * 1024 * 1024) / LARGE_MESSAGE_BYTES);
  const lines = Array.from({ length: count }, (_, n) => {
    const content = [{ type: 'text', text: `${n} `.padEnd(LARGE_MESSAGE_BYTES, 'x') }];
    const message =
      n % 2 === 0 ? { role: 'user', content, timestamp: FIRST_TIMESTAMP + n } : assistantMessage({ content });
    return entry('message', idOf(n), n === 0 ? null : idOf(n - 1), { message });
  });
  storeSession(home, [header(home.cwd, { id }), ...lines], { name: `2026-01-02T03-04-05-678Z_${id}.jsonl` });
  return id;
}

/** Text of the prompt at this entry index. */
export const promptAt = (n: number): string => `Question ${n}: what does part ${n} do?`;

const idOf = (n: number) => n.toString(16).padStart(8, '0');

function messageAt(n: number): object {
  // A new day every 2,500 entries.
  const timestamp = FIRST_TIMESTAMP + Math.floor(n / 2500) * DAY_MS + n;
  const call = { type: 'toolCall', id: `call_${n - 1}`, name: 'read', arguments: { path: `src/part-${n}.ts` } };
  switch (n % 4) {
    case 0:
      return { role: 'user', content: [{ type: 'text', text: promptAt(n) }], timestamp };
    case 1:
      return assistantMessage({ content: [{ type: 'text', text: 'Let me look.' }, call], timestamp });
    case 2:
      return result(`call_${n - 2}`, `export const part = ${n};\n`.repeat(1 + (n % 40)), timestamp);
    default:
      return assistantMessage({ content: [{ type: 'text', text: answerTextAt(n) }], timestamp });
  }
}

const result = (toolCallId: string, text: string, timestamp: number) => ({
  role: 'toolResult',
  toolCallId,
  toolName: 'read',
  content: [{ type: 'text', text }],
  isError: false,
  timestamp,
});

const answerTextAt = (n: number) =>
  [
    `Part ${n} has **${n % 7}** steps:`,
    Array.from({ length: n % 7 }, (_, step) => `- step ${step}: ${'and then some more '.repeat((n + step) % 9)}`).join(
      '\n',
    ),
    n % 5 === 3 ? `\`\`\`ts\n${'export const more = 1;\n'.repeat(n % 30)}\`\`\`` : 'That is all.',
  ].join('\n\n');
