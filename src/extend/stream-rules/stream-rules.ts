import { isFailedOrAborted } from '../../agent/tool-calls.ts';
import type { Continuation, EndedCall, Interruption, ToolResult, EndedTurn } from '../../agent/hooks.ts';
import type { AgentEvent, AssistantMessageEvent } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';
import { detailsOf, INJECTION, interruptMessage, reminderMessage, resultReminder } from './injection.ts';
import { PatternSearch } from './pattern-search.ts';
import { silentRules } from './repeats.ts';
import type { InterruptMode, Rule } from './rule.ts';
import { type RulePlaces, ruleFiles } from './rule-files.ts';
import { type Finding, Watch } from './watch.ts';

/** How often a run is asked again for the sake of rules: a model that cannot keep to them ends all the same. */
const MAX_REPEATED_ANSWERS = 10;

/** How much of what was said stays where it is to stay. */
const MAX_KEPT_CHARACTERS = 8000;

export interface RuleHome {
  /** Of the session that the agent is in. */
  readonly transcript: () => Transcript;
  readonly settings: () => Settings;
  readonly publish: (event: AgentEvent) => void;
  readonly warn: (warning: string) => void;
}

/** Rules that watch what the model says while it says it. */
export class StreamRules {
  readonly hooks: SessionHooks;
  /** What is wrong with the files. */
  readonly warnings: readonly string[];
  readonly #rules: readonly Rule[];
  readonly #cwd: string;
  readonly #home: RuleHome;
  readonly #search: PatternSearch;
  /** Of the run that the rest is about. */
  #run: AbortSignal | undefined;
  #repeatsLeft = 0;
  #options: NonNullable<Settings['ttsr']> = {};
  #watch: Watch | undefined;
  #said = '';
  /** Rules to be told after the answer, and before the results of calls. */
  #late: Rule[] = [];
  readonly #beforeResults = new Map<string, readonly Rule[]>();

  private constructor(
    { rules, warnings }: { rules: readonly Rule[]; warnings: readonly string[] },
    cwd: string,
    home: RuleHome,
  ) {
    this.#rules = rules;
    this.#cwd = cwd;
    this.#home = home;
    this.warnings = warnings;
    this.#search = new PatternSearch((pattern) => {
      const path = rules.find(({ patterns }) => patterns.includes(pattern))?.facts.path;
      home.warn(`${path}: the condition ${pattern.text} takes too long and is given up`);
    });
    this.hooks =
      rules.length === 0
        ? {}
        : {
            delta: (step, signal) => this.#hear(step, signal),
            toolResult: async (ended) => this.#review(ended),
            turnEnd: async (turn) => this.#follow(turn),
          };
  }

  /** Reads the rules that count here. */
  static async load(places: RulePlaces, home: RuleHome): Promise<StreamRules> {
    const { files, warnings } = ruleFiles(places);
    if (files.length === 0) return new StreamRules({ rules: [], warnings }, places.cwd, home);
    const read = (await import('./read-rules.ts')).readRules(files);
    return new StreamRules({ rules: read.rules, warnings: [...warnings, ...read.warnings] }, places.cwd, home);
  }

  #hear(step: AssistantMessageEvent, signal: AbortSignal): Interruption | undefined {
    if (step.type === 'start') this.#begin(signal);
    if (!this.#watch) return undefined;
    if (step.type === 'text_delta') this.#keep(step.delta);
    const finding = this.#watch.hear(step);
    return finding && this.#found(finding);
  }

  /** An answer begins. */
  #begin(run: AbortSignal): void {
    if (run !== this.#run) {
      this.#run = run;
      this.#repeatsLeft = MAX_REPEATED_ANSWERS;
    }
    this.#options = this.#home.settings().ttsr ?? {};
    this.#forget();
    if (this.#options.enabled === false || this.#repeatsLeft === 0) return;
    const silent = silentRules(this.#home.transcript().log, this.#options);
    const rules = this.#rules.filter(({ facts }) => !silent.has(facts.name));
    if (rules.length === 0) return;
    this.#watch = new Watch(rules, {
      cwd: this.#cwd,
      fits: ({ patterns }, view) => patterns.some((pattern) => this.#search.finds(pattern, view)),
    });
  }

  #forget(): void {
    this.#watch = undefined;
    this.#said = '';
    this.#late = [];
    this.#beforeResults.clear();
  }

  #keep(delta: string): void {
    if (this.#options.contextMode === 'keep') this.#said = (this.#said + delta).slice(-MAX_KEPT_CHARACTERS);
  }

  #found({ rules, callId }: Finding): Interruption | undefined {
    const usual = this.#options.interruptMode ?? 'always';
    const kind = callId === undefined ? 'prose-only' : 'tool-only';
    const [interrupting, quiet] = parted(rules, ({ facts }) => interrupts(facts.interruptMode ?? usual, kind));
    if (interrupting.length > 0) return this.#interrupt(interrupting);
    if (callId === undefined) this.#late.push(...quiet);
    else {
      this.#beforeResults.set(callId, [...(this.#beforeResults.get(callId) ?? []), ...quiet]);
      this.#tell(quiet);
    }
    return undefined;
  }

  #interrupt(rules: readonly Rule[]): Interruption {
    this.#tell(rules);
    const said = this.#said;
    this.#forget();
    this.#repeatsLeft--;
    const names = rules.map(({ facts }) => facts.name).join(', ');
    return {
      reason: `TTSR matched ${rules.length > 1 ? 'rules' : 'rule'}: ${names}`,
      messages: [interruptMessage(rules, said)],
      discard: this.#options.contextMode !== 'keep',
    };
  }

  #tell(rules: readonly Rule[]): void {
    this.#home.publish({ type: 'ttsr_triggered', rules: rules.map(({ facts }) => ({ ...facts })) });
  }

  /** A call that was let through has a result: the rules it goes against stand before it. */
  #review({ call, result }: EndedCall): ToolResult | undefined {
    const rules = this.#beforeResults.get(call.id);
    if (!rules) return undefined;
    this.#beforeResults.delete(call.id);
    this.#home.transcript().append({ type: 'custom', customType: INJECTION, data: detailsOf(rules) });
    return { ...result, content: [{ type: 'text', text: resultReminder(rules) }, ...result.content] };
  }

  /** The answer was let through: the model is told afterwards. */
  #follow({ message }: EndedTurn): Continuation | undefined {
    const rules = this.#late;
    this.#late = [];
    if (rules.length === 0 || isFailedOrAborted(message)) return undefined;
    this.#repeatsLeft--;
    return { messages: [reminderMessage(rules)], continue: true };
  }
}

const interrupts = (mode: InterruptMode, kind: 'prose-only' | 'tool-only') => mode === 'always' || mode === kind;

function parted<T>(items: readonly T[], test: (item: T) => boolean): [T[], T[]] {
  return [items.filter(test), items.filter((item) => !test(item))];
}
