import type { Continuation } from '../../agent/hooks.ts';
import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../../agent/tool.ts';
import { throwIfAborted } from '../../agent/unless-aborted.ts';
import type { AgentEvent, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';
import { announcementOf, isNews } from './announcement.ts';
import { Clearing } from './clearing.ts';
import { TODOS } from './entry-type.ts';
import { remaining } from './listing.ts';
import { applied, type Operation } from './operations.ts';
import { isOpen, type Plan, planFrom, tasksOf, withOneActive, without } from './plan.ts';
import { isLastWord, remindedIn, reminderOf } from './reminder.ts';
import { planIn } from './stored-plan.ts';
import { type TodoSettings, todoSettings } from './todo-settings.ts';

/** What todos need of the agent they belong to. */
export interface TodoHome {
  /** Of the session that the agent is in. */
  readonly transcript: () => Transcript;
  /** As far as they count. */
  readonly settings: () => Settings;
  readonly publish: (event: AgentEvent) => void;
  /** Does something that changes the state, and tells clients of it. */
  readonly change: (work: () => void) => void;
  /** Whether the model is offered the tool. */
  readonly hasTool: () => boolean;
  /** Whether nobody else goes on with the run, and it may ask the model again. */
  readonly mayRemind: () => boolean;
}

/** The plan of a session: clients seed it, the model works on it, and is reminded of it. */
export class Todos {
  readonly hooks: SessionHooks = {
    // Not before: nobody could be told what goes.
    sessionStart: async ({ reason }) => (reason === 'startup' ? this.entered() : undefined),
    beforeAgentStart: async () => this.#announcement(),
    beforeSettle: async ({ outcome }) => (outcome === 'ok' ? this.#reminder() : undefined),
    afterTree: async () => this.entered(),
  };
  readonly #home: TodoHome;
  readonly #clearing = new Clearing((ids) => this.#clear(ids));
  #read: { readonly transcript: Transcript; readonly entryId: string; readonly plan: Plan } | undefined;
  #watched: Transcript | undefined;

  constructor(home: TodoHome) {
    this.#home = home;
  }

  /** The plan that was stored last on the branch of the session. */
  get phases(): Plan {
    const transcript = this.#home.transcript();
    const [latest] = transcript.log.nodesOfKind(TODOS);
    if (!latest) return [];
    if (this.#read?.transcript !== transcript || this.#read.entryId !== latest.id) {
      this.#read = { transcript, entryId: latest.id, plan: planIn(transcript.log, latest.id) };
    }
    return this.#read.plan;
  }

  /** Whether the model has use for the tool. */
  get isUseful(): boolean {
    return tasksOf(this.phases).length > 0 && this.#settings.isOn;
  }

  /** Puts another plan in the place of this one; answers it as it is kept. */
  set(phases: readonly TodoPhase[]): Plan {
    this.#take(withOneActive(planFrom(phases)));
    return this.phases;
  }

  /** One call of the tool. */
  async work({ args, signal }: ToolInvocation): Promise<ToolOutput> {
    throwIfAborted(signal);
    const operations = (args['ops'] ?? []) as Operation[];
    const { plan, applied: count, errors } = applied(operations, this.phases);
    this.#take(plan);
    const problems = errors.length > 0 ? `Errors: ${errors.join('; ')}\n` : '';
    const output = { ...textOutput(`${problems}${remaining(plan)}`), details: { phases: plan } };
    if (errors.length > 0 && count === 0) throw new ToolError(output);
    return output;
  }

  /** The agent is in another session, or on another branch of it: what is finished there waits from now on. */
  entered(): void {
    this.#clearing.stop();
    this.#watch();
  }

  close(): void {
    this.#clearing.stop();
  }

  get #settings(): TodoSettings {
    return todoSettings(this.#home.settings());
  }

  #take(plan: Plan): void {
    if (JSON.stringify(plan) !== JSON.stringify(this.phases)) {
      const transcript = this.#home.transcript();
      this.#home.change(() => {
        const { id } = transcript.append({ type: 'custom', customType: TODOS, data: plan });
        this.#read = { transcript, entryId: id, plan };
      });
    }
    this.#watch();
  }

  #watch(): void {
    this.#watched = this.#home.transcript();
    this.#clearing.watch(this.phases, this.#settings.clearDelay);
  }

  #clear(ids: ReadonlySet<string>): void {
    // Already in another session, which has tasks of its own.
    if (this.#watched !== this.#home.transcript()) return;
    try {
      this.#take(without(this.phases, ids));
    } catch {
      // A full disk: the tasks stay, and nobody has waited for them to go.
      return;
    }
    this.#home.publish({ type: 'todo_auto_clear' });
  }

  /** A plan that a client has seeded, or that has changed, is told to the model before it works on it. */
  #announcement() {
    const { log } = this.#home.transcript();
    if (!this.#home.hasTool() || !tasksOf(this.phases).some(isOpen) || !isNews(log)) return undefined;
    return { messages: [announcementOf(this.phases)] };
  }

  /** What is said to an agent that would stop although its plan has more to do. */
  #reminder(): Continuation | undefined {
    const { isOn, maxReminders: maxAttempts } = this.#settings;
    const todos = tasksOf(this.phases).filter(isOpen);
    if (!isOn || todos.length === 0 || !this.#home.mayRemind()) return undefined;
    const { log, messages } = this.#home.transcript();
    if (!isLastWord(messages)) return undefined;
    const { times, hasActed } = remindedIn(log);
    if (times >= maxAttempts || (times > 0 && !hasActed)) return undefined;
    const attempt = times + 1;
    this.#home.publish({ type: 'todo_reminder', todos: todos.map((task) => ({ ...task })), attempt, maxAttempts });
    return {
      messages: [reminderOf(this.phases, { attempt, maxAttempts, hasTool: this.#home.hasTool() })],
      continue: true,
    };
  }
}
