import { ImageInput } from '../content.ts';
import { amount, choice, count, nonEmpty, flag, list, object, optional, text } from '../schema.ts';
import { InterruptMode, QueueMode } from '../state.ts';
import { type CommandTable, persist } from './row.ts';

const images = optional(list(ImageInput));
const clientMessageId = optional(nonEmpty('Makes the message safe to send again: it is stored and acted on once.'));

const builtins = optional(
  flag('Whether built-in slash commands are run in this message; as `hello` said unless given.'),
);

const limits = optional(
  object(
    {
      turns: optional(count('Model calls.')),
      tokens: optional(count('Tokens of all model calls together.')),
      cost: optional(amount('Dollars.')),
      wallMs: optional(count('Milliseconds from the start of the run.')),
    },
    'Limits',
    'What a run may use up. It ends with outcome `budget` before the model call that would go beyond.',
  ),
);

const Accepted = object(
  {
    disposition: choice(['started', 'queued', 'handled'], undefined, 'Opened a run, joined one, or needed none.'),
    runId: optional(text('The run that serves the message.')),
    queueId: optional(text('The queued item, when it was queued.')),
    duplicate: optional(flag('This `clientMessageId` was here before.')),
    output: optional(text('What a built-in command has to say.')),
  },
  'Accepted',
);

export const prompting = {
  prompt: {
    doc: 'Send a user message. Answered once it is stored, queued or handled; what happens next arrives as events.',
    params: {
      message: text(),
      images,
      streamingBehavior: optional(choice(['steer', 'followUp'], undefined, 'Required while a run is active.')),
      clientMessageId,
      limits,
      builtins,
    },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  steer: {
    doc: 'Queue a message for delivery before the next model call of the run; opens a run when idle.',
    params: { message: text(), images, clientMessageId },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  follow_up: {
    doc: 'Queue a message for delivery when the run would end; opens a run when idle.',
    params: { message: text(), images, clientMessageId },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'session',
    scope: 'prompt',
  },
  abort: {
    doc: 'Stop the run. Answered when everything has stopped; succeeds when idle. Queued messages are kept and join the next run; a message that still waits to be accepted is refused.',
    params: { clearQueue: optional(flag('Drop the queued messages too.')) },
    fails: [],
    lane: 'control',
    scope: 'prompt',
  },
  abort_and_prompt: {
    doc: 'Stop the run and start another one with this message, before anything queued.',
    params: { message: text(), images, clientMessageId, limits, builtins },
    result: Accepted,
    fails: ['agent_busy', 'model_not_found', 'permission_denied', 'overloaded'],
    lane: 'control',
    scope: 'prompt',
  },
  wait_idle: {
    doc: 'Answered when no run is active, at once if none is.',
    params: {},
    result: object({ isIdle: flag(), runId: optional(text('The run that ended last.')), outcome: optional(text()) }),
    fails: [],
    lane: 'read',
    scope: 'view',
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
  set_interrupt_mode: {
    doc: 'Let steering wait for the tools of the turn, or skip those not started yet.',
    params: { mode: InterruptMode, persist },
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  clear_queue: {
    doc: 'Take every queued message back.',
    params: {},
    result: object({ steering: list(text()), followUp: list(text()) }),
    fails: [],
    lane: 'session',
    scope: 'prompt',
  },
  remove_queued: {
    doc: 'Take one queued message back.',
    params: { queueId: nonEmpty() },
    result: object({ text: text() }),
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  edit_queued: {
    doc: 'Change the text of a queued message, which keeps its place.',
    params: { queueId: nonEmpty(), message: text() },
    fails: ['not_found'],
    lane: 'session',
    scope: 'prompt',
  },
  hello: {
    doc: 'Tell what this client wants; answers the protocol number, the capabilities in force and the limits.',
    params: {
      client: optional(object({ name: text(), version: optional(text()) })),
      stream: optional(choice(['cumulative', 'delta'])),
      legacyNames: optional(flag('False: no events under their older names.')),
      builtins: optional(flag('True: built-in slash commands are listed and run.')),
      entries: optional(flag('True: every session entry is sent as `entry_appended`.')),
      ui: optional(list(text(), 'The dialog methods this client can show.')),
      heartbeatMs: optional(count('Send `heartbeat` this often; 0 = never.')),
    },
    result: object({
      protocol: count(),
      server: object({ name: text(), version: text() }),
      capabilities: object({
        stream: choice(['cumulative', 'delta']),
        legacyNames: flag(),
        builtins: flag(),
        entries: flag(),
        ui: optional(list(text())),
        heartbeatMs: count(),
      }),
      limits: object({ maxLineBytes: count(), maxQueuedMessages: count() }),
    }),
    fails: [],
    lane: 'control',
    scope: 'view',
  },
  ping: {
    doc: 'Answered at once, whatever the agent does: the connection is alive.',
    params: {},
    fails: [],
    lane: 'control',
    scope: 'view',
  },
} as const satisfies CommandTable;
