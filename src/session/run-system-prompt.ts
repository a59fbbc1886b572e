import type { HookMessage } from '../agent/hooks.ts';
import { unlessAborted } from '../agent/unless-aborted.ts';
import type { AgentMessage } from '../protocol/generated/vocabulary.ts';
import type { SessionHooks } from './hooks.ts';

/** The system prompt of one run: the session's after hooks, or the one that `beforeAgentStart` returned. */
export class RunSystemPrompt {
  readonly #hooks: SessionHooks;
  readonly #signal: AbortSignal;
  #startHookRan = false;
  #override: string | undefined;

  constructor(hooks: SessionHooks, signal: AbortSignal) {
    this.#hooks = hooks;
    this.#signal = signal;
  }

  /** Calls `beforeAgentStart` once per run; returns the messages to add after the opening ones. */
  async runStartHook(base: string, messages: readonly AgentMessage[]): Promise<readonly HookMessage[]> {
    const { beforeAgentStart } = this.#hooks;
    if (this.#startHookRan || !beforeAgentStart) return [];
    this.#startHookRan = true;
    const start = { messages, systemPrompt: await this.resolve(base) };
    const hookResult = await unlessAborted(beforeAgentStart(start, this.#signal), this.#signal);
    this.#override = hookResult?.systemPrompt;
    return hookResult?.messages ?? [];
  }

  async resolve(base: string): Promise<string> {
    const { systemPrompt } = this.#hooks;
    if (this.#override !== undefined) return this.#override;
    return (systemPrompt && (await unlessAborted(systemPrompt(base, this.#signal), this.#signal))) ?? base;
  }
}
