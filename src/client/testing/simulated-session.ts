import fc from 'fast-check';
import type {
  AgentEvent,
  AgentMessage,
  AssistantMessage,
  AssistantMessageEvent,
  ExtensionUiRequestEvent,
  QueuedItem,
  SessionState,
  ToolExecutionStartEvent,
  ToolExecutionUpdateEvent,
} from '../../protocol/generated/vocabulary.ts';
import { applyStep } from '../../wire/assistant-message.ts';
import { anyStream, empty, type Stream } from '../../wire/testing/streams.ts';

// A step of a simulated session.
type Act = (session: SimulatedSession) => void;

type Of<T extends string> = Extract<AgentEvent, { type: T }>;

/** A session made of random events, with the snapshot that a client would get after each. */
export class SimulatedSession {
  readonly events: AgentEvent[] = [];
  /** `snapshots[n]` is the snapshot after n events. */
  readonly snapshots: AgentEvent[][] = [];
  #ids = 0;
  #messages: AgentMessage[] = [];
  #fields: Partial<SessionState> = { sessionId: 's1', thinkingLevel: 'off', isStreaming: false, isCompacting: false };
  #queue: QueuedItem[] = [];
  #streaming: { readonly opening: AssistantMessage; message: AssistantMessage } | undefined;
  readonly #tools = new Map<string, (ToolExecutionStartEvent | ToolExecutionUpdateEvent)[]>();
  readonly #dialogs = new Map<string, ExtensionUiRequestEvent>();
  readonly #uiByKey = new Map<string, ExtensionUiRequestEvent>();

  constructor() {
    this.snapshots.push(this.#snapshot());
  }

  newId = () => `n${++this.#ids}`;

  emit(event: AgentEvent): void {
    this.#apply(event);
    this.events.push(event);
    this.snapshots.push(this.#snapshot());
  }

  /** Keeps the last message only and publishes the result, as after a compaction. */
  shorten(): void {
    this.#messages = this.#messages.slice(-1);
    this.emit(this.#sync());
  }

  get openDialog(): string | undefined {
    return [...this.#dialogs.keys()].at(-1);
  }

  #apply(event: AgentEvent): void {
    if (event.type === 'agent_start') this.#fields = { ...this.#fields, isStreaming: true, runId: 'r' };
    if (event.type === 'agent_settled') this.#fields = { ...this.#fields, isStreaming: false, runId: undefined };
    if (event.type === 'compaction_start') this.#fields = { ...this.#fields, isCompacting: true };
    if (event.type === 'compaction_end') this.#fields = { ...this.#fields, isCompacting: false };
    if (event.type === 'state_changed') this.#fields = { ...this.#fields, ...event.state };
    if (event.type === 'queue_update') this.#queue = event.items;
    if (event.type === 'auto_retry_start') this.#messages = this.#messages.slice(0, -1);
    if (event.type === 'tool_execution_start') this.#tools.set(event.toolCallId, [event]);
    if (event.type === 'tool_execution_update') this.#tools.get(event.toolCallId)?.splice(1, 1, event);
    if (event.type === 'tool_execution_end') this.#tools.delete(event.toolCallId);
    if (event.type === 'extension_ui_resolved') this.#dialogs.delete(event.id);
    this.#applyMessage(event);
    if (event.type === 'extension_ui_request') this.#applyRequest(event);
  }

  #applyMessage(event: AgentEvent): void {
    if (event.type === 'message_start' && event.message.role === 'assistant') {
      this.#streaming = { opening: event.message, message: event.message };
    }
    if (event.type === 'message_update' && this.#streaming) {
      this.#streaming.message = applyStep(this.#streaming.message, event.assistantMessageEvent);
    }
    if (event.type === 'message_end') {
      this.#streaming = undefined;
      this.#messages = [...this.#messages, event.message];
    }
  }

  #applyRequest(event: ExtensionUiRequestEvent): void {
    if (event.method === 'input') this.#dialogs.set(event.id, event);
    if (event.method !== 'setStatus' && event.method !== 'setWidget') return;
    const [key, isCleared] =
      event.method === 'setStatus'
        ? [`status ${event.statusKey}`, event.statusText === undefined]
        : [`widget ${event.widgetKey}`, event.widgetLines === undefined];
    this.#uiByKey.delete(key);
    if (!isCleared) this.#uiByKey.set(key, event);
  }

  #sync(): Of<'state_synced'> {
    const state = { ...this.#fields, queuedMessages: this.#queue } as SessionState;
    return { type: 'state_synced', state, messages: this.#messages };
  }

  #snapshot(): AgentEvent[] {
    const running = [...this.#tools.values()].flat();
    return [this.#sync(), ...this.#catchUp(), ...running, ...this.#uiByKey.values(), ...this.#dialogs.values()];
  }

  /** The streaming message so far, as one delta for each block. */
  #catchUp(): AgentEvent[] {
    if (!this.#streaming) return [];
    const { opening: message, message: soFar } = this.#streaming;
    const steps = soFar.content.flatMap((block, contentIndex): AssistantMessageEvent[] => {
      if (block.type === 'text') return [{ type: 'text_delta', contentIndex, delta: block.text }];
      if (block.type === 'thinking') return [{ type: 'thinking_delta', contentIndex, delta: block.thinking }];
      return [{ type: 'toolcall_end', contentIndex, toolCall: block }];
    });
    return [{ type: 'message_start', message }, ...steps.map(updateOf)];
  }
}

const updateOf = (assistantMessageEvent: AssistantMessageEvent): AgentEvent => ({
  type: 'message_update',
  assistantMessageEvent,
});

const key = fc.constantFrom('a', 'b', '__proto__');
const word = fc.string({ maxLength: 3 });

const prompts = word.map(
  (content): Act =>
    (session) => {
      const message: AgentMessage = { role: 'user', content, timestamp: 1 };
      session.emit({ type: 'message_start', message });
      session.emit({ type: 'message_end', message });
    },
);

const streamMessage =
  ({ message, steps }: Stream, stopReason: 'stop' | 'error'): Act =>
  (session) => {
    session.emit({ type: 'message_start', message: empty });
    for (const step of steps) session.emit(updateOf(step));
    session.emit({ type: 'message_end', message: { ...message, stopReason } });
  };

const completions = anyStream.map((streamed) => streamMessage(streamed, 'stop'));

const failures = anyStream.map(
  (streamed): Act =>
    (session) => {
      streamMessage(streamed, 'error')(session);
      session.emit({ type: 'auto_retry_start', attempt: 1, maxAttempts: 3, delayMs: 5, errorMessage: 'no' });
      session.emit({ type: 'auto_retry_end', success: true, attempt: 1 });
    },
);

const toolsRun = fc.array(fc.tuple(fc.nat(2), fc.boolean()), { maxLength: 3 }).map(
  (tools): Act =>
    (session) => {
      const calls = tools.map(([updates, isError]) => ({ toolCallId: session.newId(), updates, isError }));
      for (const { toolCallId } of calls)
        session.emit({ type: 'tool_execution_start', toolCallId, toolName: 't', args: {} });
      for (const { toolCallId, updates } of calls) {
        for (let count = 0; count < updates; count++) {
          const partialResult = { content: [{ type: 'text' as const, text: `${count}` }] };
          session.emit({ type: 'tool_execution_update', toolCallId, toolName: 't', args: {}, partialResult });
        }
      }
      for (const { toolCallId, isError } of calls.reverse()) {
        session.emit({ type: 'tool_execution_end', toolCallId, toolName: 't', result: { content: [] }, isError });
      }
    },
);

const queueChanges = fc.array(word, { maxLength: 3 }).map(
  (texts): Act =>
    (session) => {
      const items = texts.map((text) => ({ id: session.newId(), kind: 'steer' as const, text }));
      session.emit({ type: 'queue_update', steering: texts, followUp: [], items });
    },
);

const stateChanges = fc
  .record({ thinkingLevel: fc.constantFrom('low', 'high'), sessionName: fc.string({ minLength: 1 }) })
  .map(
    (state): Act =>
      (session) =>
        session.emit({ type: 'state_changed', state }),
  );

const dialogOpens = word.map(
  (title): Act =>
    (session) => {
      session.emit({ type: 'extension_ui_request', id: session.newId(), method: 'input', title });
    },
);

const dialogEnds = fc.constant<Act>((session) => {
  const id = session.openDialog;
  if (id !== undefined) session.emit({ type: 'extension_ui_resolved', id });
});

const statusChanges = fc.tuple(key, fc.option(word, { nil: undefined })).map(
  ([statusKey, statusText]): Act =>
    (session) => {
      session.emit({ type: 'extension_ui_request', id: session.newId(), method: 'setStatus', statusKey, statusText });
    },
);

const widgetChanges = fc.tuple(key, fc.option(fc.array(word, { maxLength: 2 }), { nil: undefined })).map(
  ([widgetKey, widgetLines]): Act =>
    (session) => {
      session.emit({ type: 'extension_ui_request', id: session.newId(), method: 'setWidget', widgetKey, widgetLines });
    },
);

const notices = word.map(
  (message): Act =>
    (session) => {
      session.emit({ type: 'extension_ui_request', id: session.newId(), method: 'notify', message });
    },
);

const compacts = fc.constantFrom('manual' as const, 'threshold' as const).map(
  (reason): Act =>
    (session) => {
      session.emit({ type: 'compaction_start', reason });
      session.emit({ type: 'compaction_end', reason, result: null, aborted: false, willRetry: false });
      session.shorten();
    },
);

const beside = [queueChanges, stateChanges, dialogOpens, dialogEnds, statusChanges, widgetChanges, notices];

const run = fc.array(fc.oneof(prompts, completions, failures, toolsRun, compacts, ...beside), { maxLength: 6 }).map(
  (acts): Act =>
    (session) => {
      session.emit({ type: 'agent_start' });
      for (const act of acts) act(session);
      session.emit({ type: 'agent_end', messages: [], willRetry: false, isTerminal: true });
      session.emit({ type: 'agent_settled', runId: 'r', aborted: false, outcome: 'ok', clientMessageIds: [] });
    },
);

/** Any session, from its beginning. */
export const anySimulatedSession: fc.Arbitrary<SimulatedSession> = fc
  .array(fc.oneof({ arbitrary: run, weight: 3 }, compacts, ...beside), { maxLength: 5 })
  .map((acts) => {
    const session = new SimulatedSession();
    for (const act of acts) act(session);
    return session;
  });
