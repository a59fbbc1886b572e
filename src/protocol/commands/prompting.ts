import { approvalLimit } from '../approvals/approval.ts';
import { ImageInput } from '../content.ts';
import { amount, choice, count, flag, list, nonEmpty, object, optional, text } from '../schema.ts';
import { QueueMode } from '../state.ts';
import { type CommandTable, persist } from './row.ts';

const images = optional(list(ImageInput));
const clientMessageId = optional(
  nonEmpty('Makes the message safe to send again: it is stored once, and calls no tool twice.'),
);

const builtins = optional(flag('Whether built-in slash commands are run in this message; absent: as set by `hello`.'));

const limits = optional(
  object(
    {
      turns: optional(count('Model calls.')),
      tokens: optional(count('Tokens of all model calls together.')),
      cost: optional(amount('Dollars.')),
      wallMs: optional(count('Milliseconds from the start of the run.')),
    },
    'Limits',
    'Limits of a run. It ends with outcome `budget` before the model call that would exceed them; `wallMs` also stops a running call or tool.',
  ),
);

const Accepted = object(
  {
    disposition: choice(['started', 'queued', 'handled'], undefined, 'Opened a run, joined one, or needed none.'),
    runId: optional(text('The run that serves the message.')),
    queueId: optional(text('The queued item, when it was queued.')),
    duplicate: optional(flag('This `clientMessageId` was received before.')),
    output: optional(text('Output of a built-in command.')),
  },
  'Accepted',
);

/** Commands that send prompts and manage the queue. */
export const prompting = {
  prompt: {
    doc: 'Send a user message. Responds once it is stored, queued or handled; the rest arrives as events.',
    params: {
      message: text(),
      images,
      streamingBehavior: optional(choice(['steer', 'followUp'], undefined, 'Required while a run is active.')),
      clientMessageId,
      limits,
      builtins,
      approvalLimit,
    },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  steer: {
    doc: 'Queue a message for delivery before the next model call of the run; opens a run when idle.',
    params: { message: text(), images, clientMessageId, approvalLimit },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  follow_up: {
    doc: 'Queue a message for delivery when the run would end; opens a run when idle.',
    params: { message: text(), images, clientMessageId, approvalLimit },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  abort_and_prompt: {
    doc: 'Stop the run and start another one with this message, before anything queued.',
    params: { message: text(), images, clientMessageId, limits, builtins, approvalLimit },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'control',
    scope: 'prompt',
  },
  set_steering_mode: {
    doc: 'Deliver steering messages one per turn, or all at once.',
    params: { mode: QueueMode, persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  set_follow_up_mode: {
    doc: 'Deliver follow-up messages one at a time, or all at once.',
    params: { mode: QueueMode, persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  clear_queue: {
    doc: 'Withdraw every queued message.',
    params: {},
    result: object({ steering: list(text()), followUp: list(text()) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
    returnsContent: true,
  },
  remove_queued: {
    doc: 'Withdraw one queued message.',
    params: { queueId: nonEmpty() },
    result: object({ text: text() }),
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  edit_queued: {
    doc: 'Change the text of a queued message, which keeps its position.',
    params: { queueId: nonEmpty(), message: text() },
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
} as const satisfies CommandTable;
