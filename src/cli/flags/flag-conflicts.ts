import { type CliArguments, type FlagName, UsageError } from './flags.ts';

// At most one flag of each list may be given.
const exclusiveFlags: readonly (readonly FlagName[])[] = [
  ['session', 'session-id', 'continue', 'resume', 'fork'],
  ['session', 'no-session'],
  ['continue', 'no-session'],
  ['resume', 'no-session'],
  ['fork', 'no-session'],
  ['fork', 'read-only'],
  ['name', 'read-only'],
  ['tools', 'no-tools'],
  ['tools', 'no-builtin-tools'],
  ['approve', 'no-approve'],
  ['force', 'remove'],
  ['nats-creds', 'nats-nkey'],
];

/** Flags of single commands. */
export const flagCommands: Readonly<Partial<Record<FlagName, readonly string[]>>> = {
  all: ['sessions', 'approvals'],
  json: ['sessions', 'approvals', 'doctor', 'token', 'mcp', 'cluster'],
  pi: ['doctor'],
  dir: ['shim'],
  force: ['shim'],
  remove: ['shim'],
  scope: ['token'],
  path: ['token'],
  limit: ['token'],
  expires: ['token'],
  host: ['serve'],
  port: ['serve'],
  cwd: ['serve', 'attach'],
  tokens: ['serve'],
  'agent-command': ['serve'],
  'allow-origin': ['serve'],
  'allow-host': ['serve'],
  'base-path': ['serve', 'attach'],
  'tls-cert': ['serve'],
  'tls-key': ['serve'],
  'behind-proxy': ['serve'],
  'park-after': ['serve'],
  'ping-seconds': ['serve'],
  'max-sessions': ['serve'],
  'drain-seconds': ['serve'],
  cluster: ['serve', 'token'],
  node: ['serve', 'cluster'],
  shared: ['serve'],
  'prepare-workspace': ['serve'],
  'nats-creds': ['serve', 'token', 'cluster'],
  'nats-nkey': ['serve', 'token', 'cluster'],
  'nats-ca': ['serve', 'token', 'cluster'],
  'cluster-replicas': ['serve', 'cluster'],
  'lease-seconds': ['cluster'],
  'nats-monitor': ['cluster'],
  'max-bytes': ['cluster'],
  url: ['attach'],
  'token-file': ['attach'],
};

/** Rejects contradicting flags, so that none is dropped silently. */
export function checkConflicts(args: CliArguments): void {
  for (const names of exclusiveFlags) {
    const [first, second] = names.filter((name) => args[name] !== undefined);
    if (second) throw new UsageError(`--${first} and --${second} contradict each other`);
  }
  if (args.print && args.mode === 'rpc') throw new UsageError('--print and --mode rpc contradict each other');
  if (args['on-eof'] && args.mode !== 'rpc') throw new UsageError('--on-eof goes with --mode rpc');
  for (const name of ['read-only', 'kept-by-host'] as const)
    if (args[name] && args.mode !== 'rpc') throw new UsageError(`--${name} goes with --mode rpc`);
  const command = args.mode || args.print ? '' : (args.positionals[0] ?? 'chat');
  if (args.socket && args.mode !== 'rpc' && command !== 'serve' && command !== 'attach') {
    throw new UsageError('--socket goes with --mode rpc, tau serve and tau attach');
  }
  for (const [name, commands] of Object.entries(flagCommands)) {
    if (args[name as FlagName] === undefined || commands.includes(command)) continue;
    throw new UsageError(`--${name} goes with tau ${commands.join(' and tau ')}`);
  }
}
