import type { Arguments } from './flags.ts';
import { topics } from './help/topics.ts';

/** What a word on the command line is for. */
interface Wording {
  /** What may follow it. */
  readonly takes?: string;
  readonly about: string;
}

/** A word after `tau`, and what it does. */
export interface Command extends Wording {
  /** The words that may come next. */
  readonly subcommands?: Readonly<Record<string, Wording>>;
  readonly run: (args: Arguments) => Promise<number>;
}

/** Every command, for the parser, for the help and for completion. Each is loaded when it is asked for. */
export const commands: Readonly<Record<string, Command>> = {
  chat: {
    about: 'Talk to the agent in this terminal; without one, each line of stdin is a prompt',
    run: async (args) => (await import('./chat.ts')).chat(args),
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
    run: async (args) => (await import('./completion.ts')).completion(args),
  },
  help: {
    takes: '[topic]',
    about: 'Tell more about one thing',
    subcommands: topics,
    run: async ({ positionals }) => (await import('./help.ts')).help(positionals[1]),
  },
};
