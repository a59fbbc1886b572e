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
  #block: Block | undefined;

  constructor(rules: readonly Rule[], parts: WatchParts) {
    this.#parts = parts;
    this.#rules = new Set(rules);
  }

  hear(step: AssistantMessageEvent): Finding | undefined {
    switch (step.type) {
      case 'text_start':
        this.#open(
          new Prose(
            this.#those(({ scope }) => scope.text),
            this.#parts,
          ),
        );
        return undefined;
      case 'thinking_start':
        this.#open(
          new Prose(
            this.#those(({ scope }) => scope.thinking),
            this.#parts,
          ),
        );
        return undefined;
      case 'toolcall_start': {
        const call = { id: step.id, tool: step.toolName };
        const rules = this.#those((rule) => reaches(rule, { tool: call.tool, path: undefined }) !== false);
        this.#open(new Call(call, rules, this.#parts));
        return undefined;
      }
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

  #those(test: (rule: Rule) => boolean): Rule[] {
    return [...this.#rules].filter(test);
  }

  /** What nobody watches is not even kept. */
  #open(block: Block): void {
    this.#block = block.isWatched ? block : undefined;
  }

  #found(rules: readonly Rule[] = []): Finding | undefined {
    if (rules.length === 0) return undefined;
    for (const rule of rules) this.#rules.delete(rule);
    return { rules, callId: this.#block?.id };
  }
}
