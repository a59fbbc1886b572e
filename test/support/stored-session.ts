import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { sessionDirFor } from '../../src/store/agent-dir.ts';
import { type Home, sessionFiles, stored } from './open.ts';

const timestamp = '2026-01-02T03:04:05.678Z';

/** The header of a stored session, as pi writes it. */
export const header = (cwd: string, more: object = {}) => ({
  type: 'session',
  version: 3,
  id: 'stored-1',
  timestamp,
  cwd,
  ...more,
});

/** An entry of any type below another one. */
export const entry = (type: string, id: string, parentId: string | null, fields: object = {}) => ({
  type,
  id,
  parentId,
  timestamp,
  ...fields,
});

export const userSaid = (id: string, parentId: string | null, text: string) =>
  entry('message', id, parentId, { message: { role: 'user', content: [{ type: 'text', text }], timestamp: 1 } });

/** An answer of the scripted model; `more` replaces fields of the message. */
export const modelSaid = (id: string, parentId: string | null, text: string, more: object = {}) =>
  entry('message', id, parentId, { message: answer({ content: [{ type: 'text', text }], ...more }) });

export const answer = (more: object = {}) => ({
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

/** A short conversation from its header on: one question, one answer. */
export const conversation = (cwd: string, more: object = {}): object[] => [
  header(cwd, more),
  userSaid('aaaaaaaa', null, 'first'),
  modelSaid('bbbbbbbb', 'aaaaaaaa', 'one'),
];

/** Puts a file where the sessions of a folder are kept, and answers its path. Objects become lines, text stays as it is. */
export function keepSession(
  home: Home,
  lines: readonly (object | string)[],
  { cwd = home.cwd, name = '2026-01-02T03-04-05-678Z_stored-1.jsonl' }: { cwd?: string; name?: string } = {},
): string {
  const path = join(sessionDirFor(home.agentDir, cwd), name);
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, lines.map((line) => `${typeof line === 'string' ? line : JSON.stringify(line)}\n`).join(''));
  return path;
}

/** Keeps a session of this id in which one thing was said, and answered with `Well.`; answers its file. */
export const keepTalk = (home: Home, id: string, text: string): string =>
  keepSession(home, [header(home.cwd, { id }), userSaid('u', null, text), modelSaid('m', 'u', 'Well.')], {
    name: `2026-01-02T03-04-05-678Z_${id}.jsonl`,
  });

/** The lines of a file as they are, without the empty end after the last line feed. */
export const linesOf = (path: string): string[] => readFileSync(path, 'utf8').split('\n').slice(0, -1);

/** The messages of the only session that a user has. */
export function storedMessages(home: Home) {
  const [path = ''] = sessionFiles(home);
  return stored(path).flatMap((entry) => (entry.type === 'message' ? [entry.message] : []));
}

/** What users said and ran in the first session of a home, as it is stored. */
export function said(home: Home): string[] {
  const [file = ''] = sessionFiles(home);
  return stored(file).flatMap(({ message }) => {
    if (message?.role === 'bashExecution') return [`!${message.command}`];
    return message?.role === 'user' ? [message.content[0].text] : [];
  });
}
