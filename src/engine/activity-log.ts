import { Broadcast } from '../fanout/broadcast.ts';
import type { Refusal } from '../protocol/errors.ts';
import { commandRows } from '../protocol/generated/command-rows.ts';
import { version } from '../protocol/generated/version.ts';
import type { AgentEvent, AssistantMessage } from '../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../session/hooks.ts';
import type { Log, LogLevel } from '../system/log.ts';
import type { Agent } from './agent.ts';

// Hooks that take longer are logged.
const SLOW_HOOK_MS = 1000;

/**
 * Logs the activity of an agent: what happened, how long it took and how large it was. Never logs text of users,
 * models, tools or providers, not even tool names or error messages.
 */
export class ActivityLog {
  readonly #log: Log;
  #agent: Agent | undefined;
  #runStartedAt = 0;
  #turns = 0;
  #tokens = 0;
  #requestedAt = 0;
  readonly #toolStartTimes = new Map<string, number>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Publishes to clients and logs every event. */
  readonly broadcast = new LoggedBroadcast((event) => this.#logEvent(event));

  logOpened(agent: Agent): void {
    this.#agent = agent;
    this.#log.write('info', 'agent', 'opened', { version, ...this.#sessionFields() });
    if (agent.project.warnings.length > 0) {
      this.#log.write('warn', 'settings', 'ignored in part', { problems: agent.project.warnings.length });
    }
  }

  logClosing(why: string | undefined): void {
    this.#log.write('info', 'agent', 'closing', { why });
  }

  logRefusal(command: string, { code }: Refusal): void {
    const level = code === 'internal' ? 'error' : 'warn';
    this.#log.write(level, 'command', 'refused', {
      command: Object.hasOwn(commandRows, command) ? command : '?',
      code,
    });
  }

  /** Wraps hooks so that slow calls are logged. */
  withTiming(hooks: SessionHooks): SessionHooks {
    const timedHooks = new WeakMap<object, unknown>();
    return new Proxy(hooks, {
      get: (target, name) => {
        const hook: unknown = Reflect.get(target, name);
        if (typeof hook !== 'function') return hook;
        if (!timedHooks.has(hook)) timedHooks.set(hook, this.#timeHook(String(name), hook.bind(target)));
        return timedHooks.get(hook);
      },
    });
  }

  #timeHook(hook: string, call: (...args: unknown[]) => unknown) {
    return (...args: unknown[]) => {
      const startedAt = Date.now();
      const result = call(...args);
      const logIfSlow = () => {
        const ms = Date.now() - startedAt;
        if (ms >= SLOW_HOOK_MS) this.#log.write('warn', 'hook', 'slow', { hook, ms });
      };
      if (result instanceof Promise) result.then(logIfSlow, logIfSlow);
      else logIfSlow();
      return result;
    };
  }

  /** Most events are response deltas: they cost one comparison. */
  #logEvent(event: AgentEvent): void {
    switch (event.type) {
      case 'agent_start':
        if (this.#turns === 0) this.#runStartedAt = Date.now();
        return;
      case 'message_start':
        if (event.message.role === 'assistant') this.#requestedAt = Date.now();
        return;
      case 'message_end':
        if (event.message.role === 'assistant') this.#logModelResponse(event.message);
        return;
      case 'turn_end':
        this.#turns += 1;
        return;
      case 'tool_execution_start':
        this.#toolStartTimes.set(event.toolCallId, Date.now());
        return;
      case 'tool_execution_end':
        this.#logToolEnd(event);
        return;
      case 'agent_settled':
        this.#logRunEnd(event);
        return;
      case 'state_changed':
        if (event.state['sessionId'] !== undefined)
          this.#log.write('info', 'session', 'entered', this.#sessionFields());
        return;
      case 'session_repaired':
        this.#log.write('warn', 'session', 'repaired', {
          toolCalls: event.toolCallIds.length,
          tornBytes: event.tornBytes,
        });
    }
  }

  #logModelResponse({ provider, model, usage, stopReason, errorCode }: AssistantMessage): void {
    this.#tokens += usage.totalTokens ?? 0;
    this.#log.write(stopReason === 'error' ? 'warn' : 'info', 'model', 'answered', {
      model: `${provider}/${model}`,
      ms: Date.now() - this.#requestedAt,
      status: stopReason,
      code: errorCode,
      input: usage.input,
      output: usage.output,
    });
  }

  #logToolEnd({ toolCallId, toolName, isError, result }: Extract<AgentEvent, { type: 'tool_execution_end' }>): void {
    const startedAt = this.#toolStartTimes.get(toolCallId) ?? Date.now();
    this.#toolStartTimes.delete(toolCallId);
    const isKnown = this.#agent?.toolbox.activeNames.includes(toolName);
    this.#log.write('info', 'tool', 'ended', {
      tool: isKnown ? toolName : '?',
      ms: Date.now() - startedAt,
      isError,
      ...(this.#log.isEnabled('debug') ? { characters: JSON.stringify(result.content).length } : {}),
    });
  }

  #logRunEnd({ runId, outcome, errorCode }: Extract<AgentEvent, { type: 'agent_settled' }>): void {
    const level: LogLevel = errorCode === 'storage_failed' || errorCode === 'internal' ? 'error' : 'info';
    this.#log.write(level, 'run', 'settled', {
      run: runId,
      outcome,
      code: errorCode,
      ms: Date.now() - this.#runStartedAt,
      turns: this.#turns,
      tokens: this.#tokens,
    });
    this.#turns = 0;
    this.#tokens = 0;
    this.#toolStartTimes.clear();
  }

  #sessionFields() {
    const log = this.#agent?.session.log;
    return { session: log?.header.id, file: log?.path };
  }
}

/** A broadcast that also passes events to a listener. */
class LoggedBroadcast extends Broadcast {
  readonly #onEvent: (event: AgentEvent) => void;

  constructor(onEvent: (event: AgentEvent) => void) {
    super();
    this.#onEvent = onEvent;
  }

  override publish(event: AgentEvent): void {
    super.publish(event);
    this.#onEvent(event);
  }
}
