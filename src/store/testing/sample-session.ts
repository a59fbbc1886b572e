import { readFileSync, writeFileSync } from 'node:fs';
import type { EntryDraft, SessionLog } from '../sessions/session-log.ts';

/** A user message as an entry, for tests. */
export const user = (text: string): EntryDraft => ({
  type: 'message',
  message: { role: 'user', content: [{ type: 'text', text }], timestamp: 1 },
});

export const HEADER =
  '{"type":"session","version":3,"id":"s1","timestamp":"2026-11-15T06:29:21.770Z","cwd":"/srv/shop"}';

/** A message line as pi writes it. */
export const line = (id: string, parentId: string | null, text = 'x') =>
  `{"type":"message","id":"${id}","parentId":${JSON.stringify(parentId)},"timestamp":"2026-11-15T06:29:22.000Z",` +
  `"message":{"role":"user","content":[{"type":"text","text":${JSON.stringify(text)}}],"timestamp":1}}`;

/** Writes a session file of these lines and returns its path. */
export function writeSession(path: string, ...lines: string[]): string {
  writeFileSync(path, `${[HEADER, ...lines].join('\n')}\n`);
  return path;
}

/** The lines of a file that ends with a line feed. */
export const linesOf = (path: string | undefined) =>
  readFileSync(path ?? '', 'utf8')
    .split('\n')
    .slice(0, -1);

/** The ids of a branch, root first. */
export const idsTo = (log: SessionLog, leafId?: string | null) => [...log.nodes(leafId)].map(({ id }) => id).reverse();

/** The ids of all entries in file order. */
export const ids = (log: SessionLog) => log.entries().map(({ id }) => id);
