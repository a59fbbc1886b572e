import type { Continuation, EndedCall, EndedTurn, Interruption, ToolResult } from '../../agent/hooks.ts';
import { isFailedOrAborted } from '../../agent/tool-calls.ts';
import type { AgentEvent, AssistantMessageEvent } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';
import {
  detailsOf,
  INJECTION_TYPE,
  interruptMessage,
  reminderMessage,
  resultReminder,
  suppressedRules,
} from './injection.ts';
import { PatternSearch } from './pattern-search.ts';
import { ResponseWatcher, type RuleMatch } from './response-watcher.ts';
import type { InterruptMode, Rule } from './rule.ts';
import { type RuleLocations, ruleFiles } from './rule-files.ts';

// After this number of retries, a run continues without rules.
const MAX_RULE_RETRIES = 10;

// Limit of the interrupted text that the model gets back.
const MAX_KEPT_CHARACTERS = 8000;

export interface RuleAgent {
  readonly transcript: () => Transcript;
  readonly settings: () => Settings;
  readonly publish: (event: AgentEvent) => void;
  readonly warn: (warning: string) => void;
}

/** Matches rules against model output while it streams, and interrupts or reminds the model. */
export class StreamRules {
  readonly hooks: SessionHooks;
  readonly warnings: readonly string[];
  readonly #rules: readonly Rule[];
  readonly #cwd: string;
  readonly #agent: RuleAgent;
  readonly #search: PatternSearch;
  /** The fields below belong to this run. */
  #run: AbortSignal | undefined;
  #retriesLeft = 0;
  #options: NonNullable<Settings['ttsr']> = {};
  #watcher: ResponseWatcher | undefined;
  #text = '';
  /** Rules for a reminder after the turn, and before the results of calls. */
  #afterTurn: Rule[] = [];
  readonly #beforeResults = new Map<string, readonly Rule[]>();

  private constructor(
    { rules, warnings }: { rules: readonly Rule[]; warnings: readonly string[] },
    cwd: string,
    agent: RuleAgent,
  ) {
    this.#rules = rules;
    this.#cwd = cwd;
    this.#agent = agent;
    this.warnings = warnings;
    this.#search = new PatternSearch((pattern) => {
      const path = rules.find(({ patterns }) => patterns.includes(pattern))?.facts.path;
      agent.warn(`${path}: the condition ${pattern.text} takes too long and is given up`);
    });
    this.hooks =
      rules.length === 0
        ? {}
        : {
            delta: (step, signal) => this.#handleStep(step, signal),
            toolResult: async (ended) => this.#remindInResult(ended),
            turnEnd: async (turn) => this.#remindAfterTurn(turn),
          };
  }

  static async load(locations: RuleLocations, agent: RuleAgent): Promise<StreamRules> {
    const { files, warnings } = ruleFiles(locations);
    if (files.length === 0) return new StreamRules({ rules: [], warnings }, locations.cwd, agent);
    const read = (await import('./rule.ts')).readRules(files);
    return new StreamRules({ rules: read.rules, warnings: [...warnings, ...read.warnings] }, locations.cwd, agent);
  }

  #handleStep(step: AssistantMessageEvent, signal: AbortSignal): Interruption | undefined {
    if (step.type === 'start') this.#startResponse(signal);
    if (!this.#watcher) return undefined;
    if (step.type === 'text_delta') this.#appendText(step.delta);
    const match = this.#watcher.apply(step);
    return match && this.#handleMatch(match);
  }

  #startResponse(run: AbortSignal): void {
    if (run !== this.#run) {
      this.#run = run;
      this.#retriesLeft = MAX_RULE_RETRIES;
    }
    this.#options = this.#agent.settings().ttsr ?? {};
    this.#reset();
    if (this.#options.enabled === false || this.#retriesLeft === 0) return;
    const suppressed = suppressedRules(this.#agent.transcript().log, this.#options);
    const rules = this.#rules.filter(({ facts }) => !suppressed.has(facts.name));
    if (rules.length === 0) return;
    this.#watcher = new ResponseWatcher(rules, {
      cwd: this.#cwd,
      matches: ({ patterns }, view) => patterns.some((pattern) => this.#search.matches(pattern, view)),
    });
  }

  #reset(): void {
    this.#watcher = undefined;
    this.#text = '';
    this.#afterTurn = [];
    this.#beforeResults.clear();
  }

  #appendText(delta: string): void {
    if (this.#options.contextMode === 'keep') this.#text = (this.#text + delta).slice(-MAX_KEPT_CHARACTERS);
  }

  #handleMatch({ rules, callId }: RuleMatch): Interruption | undefined {
    const fallback = this.#options.interruptMode ?? 'always';
    const kind = callId === undefined ? 'prose-only' : 'tool-only';
    const [interrupting, quiet] = partition(rules, ({ facts }) => interrupts(facts.interruptMode ?? fallback, kind));
    if (interrupting.length > 0) return this.#interrupt(interrupting);
    if (callId === undefined) this.#afterTurn.push(...quiet);
    else {
      this.#beforeResults.set(callId, [...(this.#beforeResults.get(callId) ?? []), ...quiet]);
      this.#publish(quiet);
    }
    return undefined;
  }

  #interrupt(rules: readonly Rule[]): Interruption {
    this.#publish(rules);
    const partialText = this.#text;
    this.#reset();
    this.#retriesLeft--;
    const names = rules.map(({ facts }) => facts.name).join(', ');
    return {
      reason: `TTSR matched ${rules.length > 1 ? 'rules' : 'rule'}: ${names}`,
      messages: [interruptMessage(rules, partialText)],
      discard: this.#options.contextMode !== 'keep',
    };
  }

  #publish(rules: readonly Rule[]): void {
    this.#agent.publish({ type: 'ttsr_triggered', rules: rules.map(({ facts }) => ({ ...facts })) });
  }

  /** Adds the reminder before the result of a call that was not interrupted. */
  #remindInResult({ call, result }: EndedCall): ToolResult | undefined {
    const rules = this.#beforeResults.get(call.id);
    if (!rules) return undefined;
    this.#beforeResults.delete(call.id);
    this.#agent.transcript().append({ type: 'custom', customType: INJECTION_TYPE, data: detailsOf(rules) });
    return { ...result, content: [{ type: 'text', text: resultReminder(rules) }, ...result.content] };
  }

  /** Reminds the model after a response that was not interrupted. */
  #remindAfterTurn({ message }: EndedTurn): Continuation | undefined {
    const rules = this.#afterTurn;
    this.#afterTurn = [];
    if (rules.length === 0 || isFailedOrAborted(message)) return undefined;
    this.#retriesLeft--;
    return { messages: [reminderMessage(rules)], continue: true };
  }
}

const interrupts = (mode: InterruptMode, kind: 'prose-only' | 'tool-only') => mode === 'always' || mode === kind;

function partition<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
