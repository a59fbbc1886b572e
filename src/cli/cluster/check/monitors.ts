import { fine, problem, warning } from '../../../engine/diagnosis/finding.ts';
import { messageOf } from '../../../protocol/errors.ts';
import type { Finding } from '../../../protocol/generated/vocabulary.ts';
import { warningAbout } from './servers.ts';

// The servers age the keys of nodes by their own clocks: with a larger difference a lease may end too early.
const MAX_SKEW_MS = 2000;

const MONITOR_TIMEOUT_MS = 5000;

const NS_PER_SECOND = 1e9;

interface Monitored {
  readonly name: string;
  /** By how much the clock of the server is ahead of the one here, and how exactly that is known. */
  readonly offsetMs: number;
  readonly uncertaintyMs: number;
  readonly finding: Finding;
}

/** Checks what only the monitoring ports of the servers show: whether an acknowledged record is on disk, and the clocks. */
export async function checkMonitors(monitors: readonly string[], members: ReadonlySet<string>): Promise<Finding[]> {
  if (monitors.length === 0)
    return [warning('sync', 'Not checked: name the monitoring ports with --nats-monitor http://host:8222')];
  const results = await Promise.all(
    monitors.map((url) => monitored(url).catch((error: unknown) => failed(url, error))),
  );
  const servers = results.filter((result): result is Monitored => 'name' in result);
  const names = new Set(servers.map(({ name }) => name));
  return [
    ...results.map((result) => ('name' in result ? result.finding : result)),
    ...warningAbout(members, names, { check: 'sync', advice: 'name their monitoring ports with --nats-monitor too' }),
    ...clockFindings(servers),
  ];
}

const failed = (url: string, error: unknown): Finding =>
  problem(`sync ${url}`, `The monitoring port does not answer: ${messageOf((error as Error).cause ?? error)}`);

async function monitored(url: string): Promise<Monitored> {
  const startedAt = Date.now();
  const { now, server_name: name = url } = await read<{ now?: string; server_name?: string }>(url, 'varz');
  const endedAt = Date.now();
  const { config } = await read<{ config?: { sync_always?: boolean; sync_interval?: number } }>(url, 'jsz?config=1');
  return {
    name,
    offsetMs: Date.parse(now ?? '') - (startedAt + endedAt) / 2,
    uncertaintyMs: (endedAt - startedAt) / 2,
    finding: syncFinding(`sync ${name}`, config ?? {}),
  };
}

async function read<T>(url: string, path: string): Promise<T> {
  const address = new URL(path, url.endsWith('/') ? url : `${url}/`);
  const response = await fetch(address, { signal: AbortSignal.timeout(MONITOR_TIMEOUT_MS), redirect: 'error' });
  if (!response.ok) throw new Error(`HTTP status ${response.status}`);
  return (await response.json()) as T;
}

function syncFinding(
  check: string,
  { sync_always: isAlways, sync_interval: interval = 0 }: { sync_always?: boolean; sync_interval?: number },
): Finding {
  if (isAlways) return fine(check, 'a record is on disk when it is acknowledged');
  const seconds = interval / NS_PER_SECOND;
  return problem(check, `A power cut loses the records of the last ${seconds} s: configure sync_interval: always`);
}

/** Compares the clocks of the servers with each other; that of this machine may be wrong. */
function clockFindings(servers: readonly Monitored[]): readonly Finding[] {
  if (servers.length < 2) return [];
  const [first, ...others] = [...servers].sort((one, other) => one.offsetMs - other.offsetMs);
  const last = others.at(-1);
  if (!first || !last) return [];
  const skew = last.offsetMs - first.offsetMs - last.uncertaintyMs - first.uncertaintyMs;
  if (Number.isNaN(skew)) return [warning('clocks', 'The servers report no time')];
  if (skew <= MAX_SKEW_MS) return [fine('clocks', `the servers agree within ${Math.max(0, Math.round(skew))} ms`)];
  const text = `The clocks of ${first.name} and ${last.name} differ by ${(skew / 1000).toFixed(1)} s: synchronize them`;
  return [problem('clocks', text)];
}
