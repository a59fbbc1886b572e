import { Refusal } from '../../protocol/errors.ts';
import type { Limits, Params } from '../../protocol/generated/vocabulary.ts';
import type { InputOptions } from '../../session/input/input.ts';
import type { QueueKind } from '../../session/input/queue.ts';
import type { Acceptance, Submission } from '../../session/input/submissions.ts';
import { publishChanges, whenIdle } from '../agent-state.ts';
import type { CommandContext, Handlers } from '../dispatch.ts';
import { rejectExtensionCommand, runSlashCommand } from './slash-commands.ts';

/** Handlers that submit messages, abort runs and change the queue. */
export const prompting = {
  prompt: (params, context) => submit(params, {}, context),

  steer: (params, context) => queueMessage('steer', params, context),

  follow_up: (params, context) => queueMessage('followUp', params, context),

  abort: async ({ clearQueue }, { agent, lane }) => {
    agent.addons.loaded?.dialogs.dismissAll('abort');
    const stopped = agent.session.abort({ clearQueue });
    lane.abort(stopped);
    await stopped;
    return undefined;
  },

  abort_and_prompt: (params, context) => {
    checkLimits(params.limits);
    const { agent, lane, signal } = context;
    const work = async () => {
      const { session } = agent;
      await session.abortFor(params);
      const command = params.message.startsWith('/') && (await runSlashCommand(params, context));
      if (command) return command;
      return startAfterResponse(await session.prompt(params, { signal }), context);
    };
    if (agent.isStarting) return agent.startCommands.run({ name: 'abort_and_prompt', params, work }, context);
    // Aborts at once, and again in the lane for a run that started meanwhile.
    void agent.session.abortFor(params);
    return lane.run(work);
  },

  wait_idle: async (_params, { agent, lane }) => {
    await lane.waitOutside(() => whenIdle(agent));
    const { lastRun } = agent.session;
    return { isIdle: true, ...(lastRun ? { runId: lastRun.runId, outcome: lastRun.outcome } : {}) };
  },

  set_steering_mode: ({ mode, persist }, { agent }) => {
    const use = () => void publishChanges(agent, () => Object.assign(agent.session.modes, { steering: mode }));
    return agent.persistThen({ steeringMode: mode }, { persist }, use);
  },

  set_follow_up_mode: ({ mode, persist }, { agent }) => {
    const use = () => void publishChanges(agent, () => Object.assign(agent.session.modes, { followUp: mode }));
    return agent.persistThen({ followUpMode: mode }, { persist }, use);
  },

  set_interrupt_mode: ({ mode, persist }, { agent }) => {
    const use = () => void publishChanges(agent, () => Object.assign(agent.session.modes, { interrupt: mode }));
    return agent.persistThen({ interruptMode: mode }, { persist }, use);
  },

  clear_queue: (_params, { agent }) => agent.session.queue.clear(),

  remove_queued: ({ queueId }, { agent }) => ({ text: agent.session.queue.remove(queueId).text }),

  edit_queued: ({ queueId, message }, { agent }) => {
    agent.session.queue.edit(queueId, message);
    return undefined;
  },
} satisfies Partial<Handlers>;

/** Runs the slash command of a message, starts a run with it, or queues it for the active run. */
export async function submit(params: Params<'prompt'>, { source, expand }: InputOptions, context: CommandContext) {
  const { agent, signal } = context;
  const { streamingBehavior } = params;
  checkLimits(params.limits);
  const isSlashCommand = expand !== false && params.message.startsWith('/');
  const command = isSlashCommand && (await runSlashCommand(params, context));
  if (command) return command;
  return startAfterResponse(await agent.session.prompt(params, { source, expand, streamingBehavior, signal }), context);
}

/** Rejects unknown limits: ignoring one would leave spending unlimited. */
export function checkLimits(limits: Limits | undefined): void {
  const known = ['turns', 'tokens', 'cost', 'wallMs'];
  const unknown = Object.keys(limits ?? {}).find((name) => !known.includes(name));
  if (unknown !== undefined) {
    throw new Refusal('invalid_params', `Invalid parameters: limits.${unknown} is not one of ${known.join(', ')}`);
  }
  if ((limits?.cost ?? 0) < 0)
    throw new Refusal('invalid_params', 'Invalid parameters: limits.cost must be at least 0');
}

async function queueMessage(streamingBehavior: QueueKind, params: Submission, context: CommandContext) {
  const { agent, signal } = context;
  rejectExtensionCommand(params.message, agent);
  return startAfterResponse(await agent.session.prompt(params, { streamingBehavior, signal }), context);
}

/** Starts the run after the response is sent: clients receive the response before the first event. */
function startAfterResponse({ accepted, begin }: Acceptance, { afterResponse }: CommandContext) {
  if (begin) afterResponse(begin);
  return accepted;
}
