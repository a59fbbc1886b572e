import type { AssistantMessageEvent } from '../../protocol/generated/vocabulary.ts';
import { type Block, Call, Prose, type WatchParts } from './block.ts';
import type { Rule } from './rule.ts';
import { reaches } from './scope.ts';

/** Rules that have matched, and in what. */
export interface Finding {
  readonly rules: readonly Rule[];
  /** Undefined: in what the model said or thought. */
  readonly callId: string | undefined;
}

/** Follows one answer. Each rule is found in it once. */
export class Watch {
  readonly #parts: WatchParts;
  readonly #rules: Set<Rule>;
  /** Undefined while nobody watches. */
  #block: Block | undefined;

  constructor(rules: readonly Rule[], parts: WatchParts) {
    this.#parts = parts;
    this.#rules = new Set(rules);
  }

  hear(step: AssistantMessageEvent): Finding | undefined {
    switch (step.type) {
      case 'text_start':
        return this.#prose('text');
      case 'thinking_start':
        return this.#prose('thinking');
      case 'toolcall_start':
        return this.#call({ id: step.id, tool: step.toolName });
      case 'text_delta':
      case 'thinking_delta':
      case 'toolcall_delta':
        return this.#found(this.#block?.add(step.delta));
      case 'toolcall_end':
        return this.#found(this.#block?.end?.(step.toolCall));
      default:
        return undefined;
    }
  }

  #prose(kind: 'text' | 'thinking'): undefined {
    const rules = [...this.#rules].filter(({ scope }) => scope[kind]);
    this.#block = rules.length > 0 ? new Prose(rules, this.#parts) : undefined;
  }

  #call(call: { id: string; tool: string }): undefined {
    const rules = [...this.#rules].filter((rule) => reaches(rule, { tool: call.tool, path: undefined }) !== false);
    this.#block = rules.length > 0 ? new Call(call, rules, this.#parts) : undefined;
  }

  #found(rules: readonly Rule[] = []): Finding | undefined {
    if (rules.length === 0) return undefined;
    for (const rule of rules) this.#rules.delete(rule);
    return { rules, callId: this.#block?.id };
  }
}
