import type { Home } from './open.ts';
import { answer, entry, header, keepSession } from './stored-session.ts';

const DAY_MS = 24 * 60 * 60 * 1000;
const BEGIN = Date.parse('2026-01-02T09:00:00Z');

/** Keeps a session of so many entries: questions, tool calls, their results and answers of many lengths. Answers its id. */
export function keepLongConversation(home: Home, entries: number): string {
  const id = 'long-1';
  const lines = Array.from({ length: entries }, (_, n) =>
    entry('message', idOf(n), n === 0 ? null : idOf(n - 1), { message: messageAt(n) }),
  );
  keepSession(home, [header(home.cwd, { id }), ...lines], { name: `2026-01-02T03-04-05-678Z_${id}.jsonl` });
  return id;
}

/** What the question says that is so many entries from the beginning. */
export const questionAt = (n: number): string => `Question ${n}: what does part ${n} do?`;

const idOf = (n: number) => n.toString(16).padStart(8, '0');

function messageAt(n: number): object {
  // A quarter of the conversation each day.
  const timestamp = BEGIN + Math.floor(n / 2500) * DAY_MS + n;
  const call = { type: 'toolCall', id: `call_${n - 1}`, name: 'read', arguments: { path: `src/part-${n}.ts` } };
  switch (n % 4) {
    case 0:
      return { role: 'user', content: [{ type: 'text', text: questionAt(n) }], timestamp };
    case 1:
      return answer({ content: [{ type: 'text', text: 'Let me look.' }, call], timestamp });
    case 2:
      return result(`call_${n - 2}`, `export const part = ${n};\n`.repeat(1 + (n % 40)), timestamp);
    default:
      return answer({ content: [{ type: 'text', text: answerAt(n) }], timestamp });
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

const answerAt = (n: number) =>
  [
    `Part ${n} has **${n % 7}** steps:`,
    Array.from({ length: n % 7 }, (_, step) => `- step ${step}: ${'and then some more '.repeat((n + step) % 9)}`).join(
      '\n',
    ),
    n % 5 === 3 ? `\`\`\`ts\n${'export const more = 1;\n'.repeat(n % 30)}\`\`\`` : 'That is all.',
  ].join('\n\n');
