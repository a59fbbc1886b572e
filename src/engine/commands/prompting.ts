import { Refusal } from '../../protocol/errors.ts';
import type { QueueKind } from '../../session/queue.ts';
import type { Acceptance, Submission } from '../../session/session.ts';
import type { Context, Handlers } from '../dispatch.ts';

export const prompting = {
  prompt: async (params, context) => {
    checkWanted(context);
    const behaviour = params.streamingBehavior;
    return began(await context.agent.session.prompt(params, behaviour), context);
  },

  steer: (params, context) => queued('steer', params, context),

  follow_up: (params, context) => queued('followUp', params, context),

  abort: async ({ clearQueue }, { agent, lane }) => {
    const stopped = agent.session.abort({ clearQueue });
    lane.abort(stopped);
    await stopped;
    return undefined;
  },

  abort_and_prompt: (params, context) => {
    // At once, whatever waits in the lane; and again in its turn, for a run that has begun by then.
    void context.agent.session.makeRoomFor(params);
    return context.lane.run(async () => {
      const { session } = context.agent;
      await session.makeRoomFor(params);
      checkWanted(context);
      return began(await session.prompt(params), context);
    });
  },

  wait_idle: async (_params, { agent, lane }) => {
    await lane.watch(async () => {
      await lane.empty();
      await agent.session.idle();
    });
    const { lastRun } = agent.session;
    return { isIdle: true, ...(lastRun ? { runId: lastRun.runId, outcome: lastRun.outcome } : {}) };
  },

  set_steering_mode: ({ mode }, { agent }) =>
    agent.change(() => {
      agent.session.modes.steering = mode;
      return undefined;
    }),

  set_follow_up_mode: ({ mode }, { agent }) =>
    agent.change(() => {
      agent.session.modes.followUp = mode;
      return undefined;
    }),

  set_interrupt_mode: ({ mode }, { agent }) =>
    agent.change(() => {
      agent.session.modes.interrupt = mode;
      return undefined;
    }),

  clear_queue: (_params, { agent }) => agent.session.queue.clear(),

  remove_queued: ({ queueId }, { agent }) => ({ text: agent.session.queue.remove(queueId).text }),

  edit_queued: ({ queueId, message }, { agent }) => {
    agent.session.queue.edit(queueId, message);
    return undefined;
  },
} satisfies Partial<Handlers>;

/** A message that still waited when an abort came must not begin a run after it. */
function checkWanted({ wasAborted }: Context): void {
  if (wasAborted()) throw new Refusal('agent_busy', 'Stopped by an abort before it began');
}

async function queued(kind: QueueKind, params: Submission, context: Context) {
  checkWanted(context);
  return began(await context.agent.session.prompt(params, kind), context);
}

/** The run begins when its answer is on the way: clients see the answer before the first event. */
function began({ accepted, begin }: Acceptance, { afterAnswer }: Context) {
  if (begin) afterAnswer(begin);
  return accepted;
}
