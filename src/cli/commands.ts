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
    about: 'Talk to the agent in this terminal; without one, each line of stdin is a prompt',
    run: async (args) => (await import('./local-chat.ts')).chat(args),
  },
  export: {
    takes: '<path|id> [out.html]',
    about: 'Write a stored session as one HTML page',
    run: async (args) => (await import('./sessions/export.ts')).exportPage(args),
  },
  sessions: {
    takes: '[list|show|export|rm|rename|restore]',
    about: 'Look after the sessions on disk',
    subcommands: {
      list: { about: 'Those of this folder; with --all, of every folder' },
      show: { about: 'What is in one: tau sessions show <id>' },
      export: { about: 'Write one as a web page: tau sessions export <id>' },
      rm: { about: 'Move some to the trash: tau sessions rm <id>...' },
      rename: { about: 'Give one a name: tau sessions rename <id> <name>' },
      restore: { about: 'Take one out of the trash; without an id, show the trash' },
    },
    run: async (args) => (await import('./sessions/sessions.ts')).sessions(args),
  },
  serve: {
    about: 'Let browsers and programs use sessions on this machine',
    run: async (args) => (await import('./serve/serve.ts')).serveSessions(args),
  },
  attach: {
    takes: '[url] [session|new]',
    about: 'Talk in a session of a server; without one, choose',
    subcommands: { new: { about: 'Begin one there' } },
    run: async (args) => (await import('./attach/attach.ts')).attach(args),
  },
  token: {
    takes: '<create|list|revoke>',
    about: 'Say who may use a server of yours',
    subcommands: {
      create: { about: 'Make one and show it once: tau token create --name <name>' },
      list: { about: 'Those that there are, but not what they are' },
      revoke: { about: 'Take one back: tau token revoke <id|name>' },
    },
    run: async (args) => (await import('./token/token.ts')).token(args),
  },
  doctor: {
    about: 'Look at everything tau depends on here, without spending a token',
    run: async (args) => (await import('./doctor.ts')).doctor(args),
  },
  completion: {
    about: 'Print a script that teaches a shell to complete tau',
    subcommands: {
      bash: { about: 'eval "$(tau completion bash)"' },
      zsh: { about: 'source <(tau completion zsh)' },
      fish: { about: 'tau completion fish | source' },
    },
    run: async (args) => (await import('./completion/completion.ts')).completion(args),
  },
  help: {
    takes: '[topic]',
    about: 'Tell more about one thing',
    subcommands: topics,
    run: async ({ positionals }) => (await import('./help/help.ts')).help(positionals.slice(1)),
  },
};
