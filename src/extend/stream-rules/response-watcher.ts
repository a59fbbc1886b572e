import type { AssistantMessageEvent } from '../../protocol/generated/vocabulary.ts';
import type { Rule } from './rule.ts';
import { coversCall } from './scope.ts';
import { ProseBlock, type StreamedBlock, ToolCallBlock, type WatchOptions } from './streamed-block.ts';

/** Matched rules, and the tool call they matched in. */
export interface RuleMatch {
  readonly rules: readonly Rule[];
  /** Undefined for text and thinking. */
  readonly callId: string | undefined;
}

/** Watches one model response. Each rule matches at most once. */
export class ResponseWatcher {
  readonly #options: WatchOptions;
  readonly #rules: Set<Rule>;
  /** Undefined if no rule covers the current block. */
  #block: StreamedBlock | undefined;

  constructor(rules: readonly Rule[], options: WatchOptions) {
    this.#options = options;
    this.#rules = new Set(rules);
  }

  apply(step: AssistantMessageEvent): RuleMatch | undefined {
    switch (step.type) {
      case 'text_start':
        return this.#startProse('text');
      case 'thinking_start':
        return this.#startProse('thinking');
      case 'toolcall_start':
        return this.#startCall({ id: step.id, tool: step.toolName });
      case 'text_delta':
      case 'thinking_delta':
      case 'toolcall_delta':
        return this.#match(this.#block?.add(step.delta));
      case 'toolcall_end':
        return this.#match(this.#block?.end?.(step.toolCall));
      default:
        return undefined;
    }
  }

  #startProse(kind: 'text' | 'thinking'): undefined {
    const rules = [...this.#rules].filter(({ scope }) => scope[kind]);
    this.#block = rules.length > 0 ? new ProseBlock(rules, this.#options) : undefined;
  }

  #startCall(call: { id: string; tool: string }): undefined {
    const rules = [...this.#rules].filter((rule) => coversCall(rule, { tool: call.tool, path: undefined }) !== false);
    this.#block = rules.length > 0 ? new ToolCallBlock(call, rules, this.#options) : undefined;
  }

  #match(rules: readonly Rule[] = []): RuleMatch | undefined {
    if (rules.length === 0) return undefined;
    for (const rule of rules) this.#rules.delete(rule);
    return { rules, callId: this.#block?.id };
  }
}
