import { statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import type { ApprovalMode } from '../../protocol/generated/vocabulary.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { isoTime } from '../../store/tokens/iso-time.ts';
import { type Scope, scopes } from '../../store/tokens/token-record.ts';
import type { NewToken } from '../../store/tokens/token-store.ts';
import { realPath } from '../../system/files/real-path.ts';
import { durationMs } from '../flags/duration.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';

const USUAL_SCOPES: readonly Scope[] = ['view', 'prompt'];

const MAX_NAME_CHARACTERS = 100;

/** The options of a new token. */
export function tokenOptions(args: CliArguments): NewToken {
  const allowedPaths = args.path?.map(args.cluster === undefined ? folderOf : folderOfNodes);
  const expiresAt = args.expires === undefined ? undefined : expiryOf(args.expires);
  return {
    name: nameOf(args),
    scopes: args.scope === undefined ? USUAL_SCOPES : scopesOf(args.scope),
    ...(allowedPaths ? { allowedPaths } : {}),
    ...(args.limit === undefined ? {} : { limit: args.limit as ApprovalMode }),
    ...(expiresAt ? { expiresAt } : {}),
  };
}

function nameOf({ name = '' }: CliArguments): string {
  const trimmed = name.trim();
  if (trimmed === '') throw new UsageError('tau token create requires --name');
  if (trimmed.length > MAX_NAME_CHARACTERS) {
    throw new UsageError(`--name takes at most ${MAX_NAME_CHARACTERS} characters`);
  }
  return trimmed;
}

function scopesOf(values: readonly string[]): readonly Scope[] {
  const words = values.flatMap((value) => value.split(',').map((word) => word.trim()));
  const unknown = words.find((word) => !scopes.some((scope) => scope === word));
  if (unknown !== undefined) {
    throw new UsageError(`--scope must be of ${scopes.join(', ')}, not ${JSON.stringify(unknown)}`);
  }
  return scopes.filter((scope) => words.includes(scope));
}

function folderOf(path: string): string {
  const absolute = resolve(expandHome(path));
  const stats = statSync(absolute, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new UsageError(`--path: there is no folder ${JSON.stringify(path)}`);
  return realPath(absolute);
}

/** A folder of the nodes, which this machine need not have. */
function folderOfNodes(path: string): string {
  if (!isAbsolute(path))
    throw new UsageError(`--path takes an absolute path with --cluster, not ${JSON.stringify(path)}`);
  return resolve(path);
}

/** Parses `--expires`: a duration such as `30d`, or a date. Returns an ISO date. */
function expiryOf(text: string): string {
  const at = afterSpan(text) ?? isoTime(text);
  if (at === undefined) {
    throw new UsageError(`--expires takes 30d, 12h, 45m or a date such as 2030-01-31, not ${JSON.stringify(text)}`);
  }
  if (at <= Date.now()) throw new UsageError(`--expires: ${text} is over already`);
  return new Date(at).toISOString();
}

function afterSpan(text: string): number | undefined {
  const length = text.endsWith('s') ? undefined : durationMs(text);
  return length && Date.now() + length;
}
