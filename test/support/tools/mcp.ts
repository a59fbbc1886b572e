import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Home } from '../agent/test-agent.ts';
import type { Peer, WireRecord } from '../clients/peer.ts';

const SERVER = join(import.meta.dirname, '../../fixtures/mcp/stdio-server.mjs');

/** Behaviour of the fixture server; see test/fixtures/mcp/stdio-server.mjs. */
export interface ServerBehaviour {
  tools?: readonly (object | null)[];
  pageSize?: number;
  endless?: boolean;
  withoutTools?: boolean;
  version?: string;
  /** Result of the tool `answer`. */
  answer?: unknown;
  /** Error message of the tool `refuse`. */
  words?: string;
  /** File for which the tool `progress` and the method `holds` wait. */
  gate?: string;
  holds?: string;
  /** Length of the line that the tool `shout` prints. */
  length?: number;
  /** The method that gets no response. */
  silent?: string;
  garbage?: boolean;
  stderr?: string;
  exit?: number;
  /** File created by the first start; later starts exit. */
  once?: string;
  /** Keeps running when its input ends. */
  stays?: boolean;
  /** Starts a child in another process group. */
  child?: boolean;
  /** File to which the server logs what happens. */
  notes?: string;
}

/** The fixture server as an entry of mcp.json. */
export const stdioServer = (behaviour: ServerBehaviour = {}, more: object = {}) => ({
  command: process.execPath,
  args: [SERVER, JSON.stringify(behaviour)],
  ...more,
});

/** Writes mcp.json of the user or of the project. */
export function writeMcpServers({ agentDir, cwd }: Home, servers: object, of: 'user' | 'project' = 'user'): void {
  const path = join(of === 'user' ? agentDir : join(cwd, '.pi'), 'mcp.json');
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, JSON.stringify({ mcpServers: servers }));
}

/** Lines that the server has logged. */
export const readNotes = (path: string): string[] =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];

/** Process ids that the server has logged. */
export const notedPids = (path: string): number[] =>
  readNotes(path).flatMap((note) => (note.startsWith('pid ') ? Number(note.slice(4)) : []));

interface ServerStatus {
  readonly name: string;
  readonly status: string;
  readonly tools: readonly string[];
  readonly error?: string;
}

/** Settles when the server has had these statuses in order; returns the last one. */
export async function waitForStatuses(peer: Peer, name: string, statuses: readonly string[]): Promise<ServerStatus> {
  let reached = 0;
  const record = await peer.find(({ type, server }) => {
    const status = server as ServerStatus | undefined;
    if (type === 'mcp_status' && status?.name === name && status.status === statuses[reached]) reached++;
    return reached === statuses.length;
  });
  return record['server'] as ServerStatus;
}

/** All statuses of a server, in order. */
export const statusesOf = (records: readonly WireRecord[], name: string): string[] =>
  records.flatMap((record) => {
    const server = record['server'] as ServerStatus | undefined;
    return record.type === 'mcp_status' && server?.name === name ? server.status : [];
  });

/** Text and failure of each tool call of a run. */
export const toolOutcomes = (records: readonly WireRecord[]): { text: string; isError: boolean }[] =>
  records
    .filter(({ type }) => type === 'tool_execution_end')
    .map((record) => {
      const { content } = record['result'] as { content: { text?: string }[] };
      return { text: content.map(({ text = '(image)' }) => text).join('|'), isError: record['isError'] as boolean };
    });

/** A script that makes these calls one after another. */
export const toolCallScript = (...calls: readonly (string | readonly [string, object])[]) => [
  ...calls.map((call) => {
    const [name, args] = typeof call === 'string' ? [call, {}] : call;
    return { toolCall: { name, arguments: args } };
  }),
  { text: 'done' },
];
