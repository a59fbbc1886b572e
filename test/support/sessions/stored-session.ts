import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sessionDirFor } from '../../../src/store/agent-dir.ts';
import { type Home, readSessionFile, sessionFiles } from '../agent/test-agent.ts';

const timestamp = '2026-01-02T03:04:05.678Z';

/** The header of a session file, as pi writes it. */
export const header = (cwd: string, more: object = {}) => ({
  type: 'session',
  version: 3,
  id: 'stored-1',
  timestamp,
  cwd,
  ...more,
});

/** An entry of any type. */
export const entry = (type: string, id: string, parentId: string | null, fields: object = {}) => ({
  type,
  id,
  parentId,
  timestamp,
  ...fields,
});

export const userEntry = (id: string, parentId: string | null, text: string) =>
  entry('message', id, parentId, { message: { role: 'user', content: [{ type: 'text', text }], timestamp: 1 } });

/** An assistant message of the scripted model; `more` replaces fields of the message. */
export const assistantEntry = (id: string, parentId: string | null, text: string, more: object = {}) =>
  entry('message', id, parentId, { message: assistantMessage({ content: [{ type: 'text', text }], ...more }) });

export const assistantMessage = (more: object = {}) => ({
  role: 'assistant',
  content: [],
  api: 'tau-scripted',
  provider: 'tau',
  model: 'scripted',
  usage: usage(10, 5),
  stopReason: 'stop',
  timestamp: 2,
  ...more,
});

export const usage = (input: number, output: number) => ({
  input,
  output,
  cacheRead: 0,
  cacheWrite: 0,
  totalTokens: input + output,
  cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0, total: 0 },
});

/** A header, a prompt and its response. */
export const shortConversation = (cwd: string, more: object = {}): object[] => [
  header(cwd, more),
  userEntry('aaaaaaaa', null, 'first'),
  assistantEntry('bbbbbbbb', 'aaaaaaaa', 'one'),
];

/** Writes a session file and returns its path. Objects become JSON lines, text is written unchanged. */
export function storeSession(
  home: Home,
  lines: readonly (object | string)[],
  { cwd = home.cwd, name = '2026-01-02T03-04-05-678Z_stored-1.jsonl' }: { cwd?: string; name?: string } = {},
): string {
  const path = join(sessionDirFor(home.agentDir, cwd), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

/** Stores a session with this id, one prompt and the response `Well.`; returns its path. */
export const storeShortSession = (home: Home, id: string, text: string): string =>
  storeSession(home, [header(home.cwd, { id }), userEntry('u', null, text), assistantEntry('m', 'u', 'Well.')], {
    name: `2026-01-02T03-04-05-678Z_${id}.jsonl`,
  });

/** The lines of a file, without the empty one after the last LF. */
export const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

/** The messages of a user's only session. */
export function storedMessages(home: Home) {
  const [path = ''] = sessionFiles(home);
  return readSessionFile(path).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}

/** Prompts and `!` commands of a user's first session. */
export function storedUserInputs(home: Home): string[] {
  const [file = ''] = sessionFiles(home);
  return readSessionFile(file).flatMap(({ message }) => {
    if (message?.role === 'bashExecution') return [`!${message.command}`];
    return message?.role === 'user' ? [message.content[0].text] : [];
  });
}
