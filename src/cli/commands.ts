import type { Arguments } from './flags.ts';

/** A word after `tau`, and what it does. */
export interface Command {
  /** What may follow it. */
  readonly takes?: string;
  readonly about: string;
  readonly run: (args: Arguments) => Promise<number>;
}

/** Every command, for the parser and for the help. Each is loaded when it is asked for. */
export const commands: Readonly<Record<string, Command>> = {
  chat: {
    about: 'Talk to the agent in this terminal; without one, each line of stdin is a prompt',
    run: async (args) => (await import('./chat.ts')).chat(args),
  },
  doctor: {
    about: 'Look at everything tau depends on here, without spending a token',
    run: async (args) => (await import('./doctor.ts')).doctor(args),
  },
};
