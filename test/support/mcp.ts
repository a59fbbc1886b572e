import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from './open.ts';
import type { Peer, Record_ } from './peer.ts';

const SERVER = join(import.meta.dirname, '../fixtures/mcp/stdio-server.mjs');

/** How the server that is written by hand behaves; see test/fixtures/mcp/stdio-server.mjs. */
export interface Behaviour {
  tools?: readonly (object | null)[];
  pageSize?: number;
  endless?: boolean;
  withoutTools?: boolean;
  version?: string;
  /** What the tool `answer` answers. */
  answer?: unknown;
  /** What the tool `refuse` says. */
  words?: string;
  /** What the tool `progress` waits for, and the method that is held. */
  gate?: string;
  holds?: string;
  /** How much the tool `shout` says in a line. */
  length?: number;
  /** The method that is never answered. */
  silent?: string;
  garbage?: boolean;
  stderr?: string;
  exit?: number;
  /** Made by the first to start; who finds it exits. */
  once?: string;
  /** Does not leave when its input ends. */
  stays?: boolean;
  /** Leaves its group with a child. */
  child?: boolean;
  /** Where it writes down what happens to it. */
  notes?: string;
}

/** A server that is written by hand, as an entry of mcp.json. */
export const byHand = (behaviour: Behaviour = {}, more: object = {}) => ({
  command: process.execPath,
  args: [SERVER, JSON.stringify(behaviour)],
  ...more,
});

/** Writes the mcp.json of this user, or of their project. */
export function writeServers({ agentDir, cwd }: Home, servers: object, of: 'user' | 'project' = 'user'): void {
  const path = join(of === 'user' ? agentDir : join(cwd, '.pi'), 'mcp.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
}

/** What a server has written down. */
export const notesIn = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

/** The processes that a server has told of. */
export const pidsIn = (path: string): number[] =>
  notesIn(path).flatMap((note) => (note.startsWith('pid ') ? Number(note.slice(4)) : []));

interface Told {
  readonly name: string;
  readonly status: string;
  readonly tools: readonly string[];
}

/** Settles when a server has been said to be all this, one after the other; answers what was said last. */
export async function lived(peer: Peer, name: string, statuses: readonly string[]): Promise<Told> {
  let step = 0;
  const record = await peer.find(({ type, server }) => {
    const said = server as Told | undefined;
    if (type === 'mcp_status' && said?.name === name && said.status === statuses[step]) step++;
    return step === statuses.length;
  });
  return record['server'] as Told;
}

/** What was said of a server, in order. */
export const told = (records: readonly Record_[], name: string): string[] =>
  records.flatMap((record) => {
    const server = record['server'] as Told | undefined;
    return record.type === 'mcp_status' && server?.name === name ? server.status : [];
  });

/** What the calls of a run came to: their text, and whether they failed. */
export const outcomes = (records: readonly Record_[]): { text: string; isError: boolean }[] =>
  records
    .filter(({ type }) => type === 'tool_execution_end')
    .map((record) => {
      const { content } = record['result'] as { content: { text?: string }[] };
      return { text: content.map(({ text = '(image)' }) => text).join('|'), isError: record['isError'] as boolean };
    });

/** A script in which these calls are made one after another. */
export const calling = (...calls: readonly (string | readonly [string, object])[]) => [
  ...calls.map((call) => {
    const [name, args] = typeof call === 'string' ? [call, {}] : call;
    return { toolCall: { name, arguments: args } };
  }),
  { text: 'done' },
];
