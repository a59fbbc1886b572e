import type { CliArguments } from './flags/flags.ts';
import { topics } from './help/topics.ts';

// The help of a command or subcommand.
interface CommandHelp {
  // The arguments that follow it.
  readonly takes?: string;
  readonly about: string;
}

/** A command after `tau`. */
export interface CliCommand extends CommandHelp {
  readonly subcommands?: Readonly<Record<string, CommandHelp>>;
  readonly run: (args: CliArguments) => Promise<number>;
}

/** Every command, for the parser, the help and shell completion. Each is loaded on demand. */
export const commands: Readonly<Record<string, CliCommand>> = {
  chat: {
    about: 'Chat in this terminal; piped lines are prompts',
    run: async (args) => (await import('./local-chat.ts')).chat(args),
  },
  export: {
    takes: '<path|id> [out.html]',
    about: 'Write a stored session as one HTML page',
    run: async (args) => (await import('./sessions/export.ts')).exportPage(args),
  },
  sessions: {
    takes: '[verb]',
    about: 'Manage the sessions on disk',
    subcommands: {
      list: { about: 'List the sessions of this folder; with --all, of every folder' },
      show: { about: 'Print a summary: tau sessions show <id>' },
      export: { about: 'Write a session as one HTML page: tau sessions export <id>' },
      rm: { about: 'Move sessions to the trash: tau sessions rm <id>...' },
      rename: { about: 'Name a session: tau sessions rename <id> <name>' },
      restore: { about: 'Restore a session from the trash; without an id, list the trash' },
    },
    run: async (args) => (await import('./sessions/sessions.ts')).sessions(args),
  },
  serve: {
    about: 'Serve sessions to browsers and programs',
    run: async (args) => (await import('./serve/serve.ts')).serveSessions(args),
  },
  attach: {
    takes: '[urls] [session|new]',
    about: 'Chat in a session of a server',
    subcommands: { new: { about: 'Create a session' } },
    run: async (args) => (await import('./attach/attach.ts')).attach(args),
  },
  token: {
    takes: '<create|list|revoke>',
    about: 'Manage the tokens of your server or cluster',
    subcommands: {
      create: { about: 'Create a token and print it once: tau token create --name <name>' },
      list: { about: 'List the tokens, without their secrets' },
      revoke: { about: 'Revoke a token: tau token revoke <id|name>' },
    },
    run: async (args) => (await import('./token/token.ts')).token(args),
  },
  cluster: {
    takes: '<verb> <urls>',
    about: 'Set up a cluster on NATS servers, and look at it',
    subcommands: {
      keys: { about: 'Create keys for the users of the NATS servers: tau cluster keys [folder]' },
      init: { about: 'Create the stream and buckets: tau cluster init nats://a,nats://b --max-bytes 200G' },
      check: { about: 'Check that the servers keep what they acknowledge: tau cluster check nats://a,nats://b' },
      import: { about: 'Move session files into the cluster: tau cluster import nats://a,nats://b <path>...' },
      nodes: { about: 'List the nodes: tau cluster nodes nats://a,nats://b' },
    },
    run: async (args) => (await import('./cluster/cluster.ts')).cluster(args),
  },
  shim: {
    takes: 'pi',
    about: 'Write a launcher that starts tau as pi',
    subcommands: {
      pi: { about: 'tau shim pi [--dir <folder on the PATH>] [--force | --remove]' },
    },
    run: async (args) => (await import('./shim/shim.ts')).shim(args),
  },
  mcp: {
    takes: '<list|login|logout>',
    about: 'Manage the MCP servers of mcp.json',
    subcommands: {
      list: { about: 'List the servers and their sign-ins' },
      login: { about: 'Sign in to a server: tau mcp login <name>' },
      logout: { about: 'Forget the sign-in of a server: tau mcp logout <name>' },
    },
    run: async (args) => (await import('./mcp.ts')).mcp(args),
  },
  approvals: {
    takes: '<list|remove>',
    about: 'Manage the saved approvals of tool calls',
    subcommands: {
      list: { about: 'List the approvals of this folder; with --all, of every folder' },
      remove: { about: "Withdraw one: tau approvals remove 'bash(npm test)'" },
    },
    run: async (args) => (await import('./approvals.ts')).approvals(args),
  },
  login: {
    takes: '[provider]',
    about: 'Sign in to a provider, or store its key',
    run: async (args) => (await import('./auth/login.ts')).login(args),
  },
  logout: {
    takes: '[provider]',
    about: 'Remove the stored key or sign-in',
    run: async (args) => (await import('./auth/login.ts')).logout(args),
  },
  auth: {
    takes: '<verb> [provider]',
    about: 'Check or print stored credentials',
    subcommands: {
      check: { about: 'Check the credential of a provider, or all stored ones; renews a sign-in that is due' },
      'print-api-key': { about: 'Print the key that requests send: tau auth print-api-key <provider>' },
      'print-bearer-token': { about: 'Print the token of a sign-in; --min-expiry 10m renews one that expires sooner' },
    },
    run: async (args) => (await import('./auth/auth.ts')).auth(args),
  },
  doctor: {
    about: 'Check all that tau needs; --pi: a set-up of pi',
    run: async (args) => (await import('./doctor.ts')).doctor(args),
  },
  completion: {
    about: 'Print the completion script of a shell',
    subcommands: {
      bash: { about: 'eval "$(tau completion bash)"' },
      zsh: { about: 'source <(tau completion zsh)' },
      fish: { about: 'tau completion fish | source' },
    },
    run: async (args) => (await import('./completion/completion.ts')).completion(args),
  },
  help: {
    takes: '[topic]',
    about: 'Print the help of a topic or command',
    subcommands: topics,
    run: async ({ positionals }) => (await import('./help/help.ts')).help(positionals.slice(1)),
  },
};
