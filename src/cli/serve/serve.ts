import { statSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { messageOf, NO_SANDBOX } from '../../protocol/errors.ts';
import { takeEnvToken } from '../../server/auth/env-token.ts';
import type { ClusterOptions } from '../../server/cluster/open-cluster.ts';
import type { AgentLaunch } from '../../server/hosting/agent/agent-process.ts';
import { AllowLists } from '../../server/http/admission/allow-lists.ts';
import { basePathFrom } from '../../server/http/admission/base-path.ts';
import { readTlsFiles, type Tls } from '../../server/http/listen/tls-files.ts';
import { DEFAULT_MAX_SESSIONS, PING_MS, type RunningServer, type ServeOptions, serve } from '../../server/serve.ts';
import { agentDir } from '../../store/agent-dir.ts';
import { GUESSABLE, isGuessable } from '../../store/tokens/token-record.ts';
import { onExitSignal } from '../../system/exit-signals.ts';
import { openLog } from '../../system/log.ts';
import { warn } from '../../system/terminal-text.ts';
import { natsAddress, nodeName } from '../cluster/nats-flags.ts';
import { engineOptions } from '../engine-options.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { openRequestedLog } from '../lifetime.ts';
import { printAndExit } from '../stdio.ts';
import { agentArguments } from './agent-arguments.ts';

// The time for shutting down besides draining runs.
const DRAIN_OVERHEAD_MS = 10_000;

/**
 * `tau serve`: serves sessions until a signal ends it. Prints one address per line once clients can connect, on a terminal
 * with a label.
 */
export async function serveSessions(args: CliArguments): Promise<number> {
  const options = await optionsFrom(args);
  const drainMs = seconds(args, 'drain-seconds', 20);
  let server: RunningServer;
  let link: string;
  try {
    await checkAgentFlags(args);
    server = await serve(options);
    link = await linkOf(server);
  } catch (error) {
    if (error instanceof UsageError) throw error;
    warn(messageOf(error));
    return 1;
  }
  warnIfGuessable(options, args);
  if (args.sandbox === 'required') await warnWithoutSandbox();
  onExitSignal(() => server.drain(drainMs), { limitMs: drainMs + DRAIN_OVERHEAD_MS });
  const { socketUrl } = server;
  await printAndExit(
    process.stdout.isTTY ? labelledAddresses({ link, socketUrl }, options) : `${link}\n${socketUrl}\n`,
  );
  return new Promise(() => {});
}

/** A server whose link cannot be made ends, and leaves its name in the cluster to the next one. */
async function linkOf(server: RunningServer): Promise<string> {
  try {
    return await server.loginLink();
  } catch (error) {
    await server.drain(0);
    throw error;
  }
}

function labelledAddresses({ link, socketUrl }: Addresses, { socketPath }: ServeOptions): string {
  const file = socketPath === undefined ? '' : `Socket file, for tau attach:               ${socketPath}\n`;
  return `Page, opens once within 10 minutes:        ${link}\nWebSocket, for programs that have a token: ${socketUrl}\n${file}`;
}

interface Addresses {
  readonly link: string;
  readonly socketUrl: string;
}

async function optionsFrom(args: CliArguments): Promise<ServeOptions> {
  const envToken = takeEnvToken(process.env);
  const { host = '127.0.0.1', 'allow-origin': allowOrigins = [], 'allow-host': allowHosts = [] } = args;
  orUsageError(() => new AllowLists({ host, isTls: false, allowHosts, allowOrigins }));
  return {
    host,
    port: wholeNumber(args, 'port', { usual: 4170, max: 65_535 }),
    cwd: folder(args.cwd ?? '.'),
    agentDir: agentDir(process.env),
    agent: agentCommand(args),
    tokensFile: args.tokens,
    envToken,
    allowOrigins,
    allowHosts,
    basePath: orUsageError(() => basePathFrom(args['base-path'] ?? '')),
    tls: tlsFrom(args),
    behindProxy: args['behind-proxy'] !== undefined,
    socketPath: args.socket === undefined ? undefined : resolve(args.socket),
    pageFolder: join(import.meta.dirname, '../page'),
    parkAfterMs: seconds(args, 'park-after', 120),
    pingMs: 1000 * wholeNumber(args, 'ping-seconds', { usual: PING_MS / 1000, min: 1, max: 3600 }),
    // A node without sessions of its own forwards its clients to others.
    maxSessions: wholeNumber(args, 'max-sessions', {
      usual: DEFAULT_MAX_SESSIONS,
      min: args.cluster === undefined ? 1 : 0,
      max: 10_000,
    }),
    cluster: clusterFrom(args),
    log: (await openRequestedLog(args, 'serve')) ?? openLog({ level: 'warn' }),
  };
}

/** Prints the warning to stderr, and logs it if the log is a file. */
function warnIfGuessable({ envToken, log }: ServeOptions, { 'log-file': file }: CliArguments): void {
  if (envToken === undefined || !isGuessable(envToken)) return;
  const text = `PI_AUTH_TOKEN ${GUESSABLE}`;
  warn(text);
  if (file !== undefined) log.write('warn', 'auth', text);
}

/** Its agents run on this machine: without a sandbox none of them starts. */
async function warnWithoutSandbox(): Promise<void> {
  const { probeSandbox } = await import('../../system/sandbox/probe.ts');
  const probe = await probeSandbox();
  if (probe.engine === undefined) warn(`${NO_SANDBOX}: no session opens. ${probe.reason}. ${probe.remedy}`);
}

/** The program of this package, or the shell command given instead. */
function agentCommand(args: CliArguments): AgentLaunch {
  const { env } = process;
  const command = args['agent-command'];
  const extra = agentArguments(args);
  if (command !== undefined) return { command: '/bin/sh', args: ['-c', `exec ${command} "$@"`, 'sh', ...extra], env };
  return { command: process.execPath, args: [join(import.meta.dirname, '../tau.cjs'), ...extra], env };
}

/** Checks the flags of agents before the first client connects. Another program may accept flags that tau does not. */
async function checkAgentFlags(args: CliArguments): Promise<void> {
  if (args['agent-command'] === undefined && agentArguments(args).length > 0) await engineOptions(args);
}

function folder(path: string, flag = '--cwd'): string {
  const absolute = resolve(path);
  if (!statSync(absolute, { throwIfNoEntry: false })?.isDirectory())
    throw new UsageError(`${flag} is no folder: ${path}`);
  return absolute;
}

function tlsFrom(args: CliArguments): Tls | undefined {
  const { 'tls-cert': cert, 'tls-key': key } = args;
  if (cert === undefined && key === undefined) return undefined;
  if (cert === undefined || key === undefined) throw new UsageError('--tls-cert and --tls-key go together');
  return orUsageError(() => readTlsFiles({ cert, key }));
}

const CLUSTER_FLAGS = [
  'node',
  'shared',
  'prepare-workspace',
  'nats-creds',
  'nats-nkey',
  'nats-ca',
  'cluster-replicas',
] as const;

function clusterFrom(args: CliArguments): ClusterOptions | undefined {
  const { cluster } = args;
  if (cluster === undefined) {
    const flag = CLUSTER_FLAGS.find((name) => args[name] !== undefined);
    if (flag !== undefined) throw new UsageError(`--${flag} goes with tau serve --cluster`);
    return undefined;
  }
  const shared = (args.shared ?? []).map((path) => folder(path, '--shared'));
  return { node: nodeName(args), shared, prepareWorkspace: args['prepare-workspace'], ...natsAddress(cluster, args) };
}

/** Converts errors in the value of a flag to usage errors. */
function orUsageError<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

type NumberFlag = 'port' | 'park-after' | 'ping-seconds' | 'max-sessions' | 'drain-seconds';

function wholeNumber(
  args: CliArguments,
  name: NumberFlag,
  { usual, min = 0, max }: { usual: number; min?: number; max: number },
) {
  const text = args[name];
  if (text === undefined) return usual;
  const number = /^\d{1,9}$/.test(text) ? Number(text) : Number.NaN;
  if (number >= min && number <= max) return number;
  throw new UsageError(`--${name} takes a whole number from ${min} to ${max}, not ${text}`);
}

const seconds = (args: CliArguments, name: NumberFlag, usual: number) =>
  1000 * wholeNumber(args, name, { usual, max: 1_000_000 });
