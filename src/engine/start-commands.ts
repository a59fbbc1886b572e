import type { CommandName, Params } from '../protocol/generated/vocabulary.ts';
import type { InputOptions } from '../session/input/input.ts';
import { publishExtensionError } from './agent-state.ts';
import { checkLimits } from './commands/prompting.ts';
import { findSlashCommand } from './commands/slash-commands.ts';
import type { CommandContext } from './dispatch.ts';

// A message that has waited for the extensions this long is queued.
const START_WAIT_MS = 1000;

// Behind these a message belongs to another session, which is not open yet.
const SESSION_CHANGES: ReadonlySet<string> = new Set(['new_session', 'switch_session', 'fork', 'branch', 'clone']);

// These act on the queue alone, so that they need not wait for the extensions.
const QUEUE_COMMANDS: ReadonlySet<string> = new Set(['remove_queued', 'edit_queued', 'clear_queue']);

type Message = Params<'prompt'>;

/** A session command, and the work that waits for its turn. */
export interface StartCommand<R> {
  readonly name: CommandName;
  readonly params: object;
  readonly work: () => R | Promise<R>;
}

/**
 * Session commands that arrive before the extensions have started. All wait in the lane; a message that waits too long
 * is stored in the queue and gets its response, and runs when its turn in the lane comes.
 */
export class StartCommands {
  #sessionChanges = 0;

  run<R>(command: StartCommand<R>, context: CommandContext): R | Promise<R> {
    const { name, params, work } = command;
    if (isMessage(name, params)) return this.#runMessage({ ...command, params }, context);
    if (QUEUE_COMMANDS.has(name)) return work();
    if (!SESSION_CHANGES.has(name)) return context.lane.run(work);
    this.#sessionChanges++;
    return Promise.resolve(context.lane.run(work)).finally(() => {
      this.#sessionChanges--;
    });
  }

  #runMessage<R>(
    { name, params, work }: StartCommand<R> & { readonly params: Message },
    context: CommandContext,
  ): Promise<R> {
    const { agent, lane, signal } = context;
    const { session } = agent;
    const message = { ...params, ...KINDS[name] };
    const abortsRun = name === 'abort_and_prompt';
    return new Promise((resolve, reject) => {
      let atTurn: () => unknown = work;
      const answer = () => {
        if (signal.aborted || this.#sessionChanges > 0) return;
        try {
          checkLimits(message.limits);
          const accepted = session.hold(message, abortsRun ? 'followUp' : message.streamingBehavior);
          if (!accepted) return;
          const { queueId, duplicate } = accepted;
          atTurn = async () => {
            if (duplicate || queueId === undefined) return;
            // A message before it may have opened a run.
            if (abortsRun && !signal.aborted) await session.abort();
            await runQueued(queueId, message, context);
          };
          // Every command that submits a message has this result.
          resolve(accepted as R);
        } catch (error) {
          atTurn = () => undefined;
          reject(error);
        }
      };
      const timer = setTimeout(answer, agent.project.settings.startWaitMs ?? START_WAIT_MS);
      const turn = () => {
        clearTimeout(timer);
        return atTurn();
      };
      Promise.resolve(lane.run(turn))
        .then((result) => resolve(result as R), reject)
        .finally(() => clearTimeout(timer));
    });
  }
}

const KINDS: Readonly<Record<string, Pick<InputOptions, 'streamingBehavior'>>> = {
  steer: { streamingBehavior: 'steer' },
  follow_up: { streamingBehavior: 'followUp' },
};

/** Whether the command submits a message. A slash command among steering messages can only be refused, once it is known. */
function isMessage(name: CommandName, params: object): params is Message {
  if (name === 'prompt' || name === 'abort_and_prompt') return true;
  return name in KINDS && !(params as Message).message.startsWith('/');
}

/** Runs a message that was answered as queued. The client may have edited or withdrawn it. */
async function runQueued(queueId: string, message: Message, context: CommandContext): Promise<void> {
  const { limits, builtins, streamingBehavior } = message;
  const { agent, signal, input = {} } = context;
  const { session } = agent;
  const item = session.queue.get(queueId);
  if (!item) return;
  try {
    const isText = signal.aborted || input.expand === false;
    const command = isText ? undefined : await findSlashCommand({ message: item.text, builtins }, context);
    if (command) {
      session.queue.remove(queueId);
      await command();
    } else (await session.promptHeld(queueId, limits, { ...input, signal, streamingBehavior }))?.begin?.();
  } catch (error) {
    publishExtensionError(agent, '<runtime>', 'prompt', error);
  }
}
