import type { Continuation } from '../../agent/hooks.ts';
import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../../agent/tool.ts';
import { throwIfAborted } from '../../agent/unless-aborted.ts';
import type { AgentEvent, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';
import { announcementMessage, isUnannounced } from './announcement.ts';
import { FinishedTaskTimer } from './finished-task-timer.ts';
import { TODOS_TYPE } from './entry-type.ts';
import { describePlan } from './plan-text.ts';
import { applyOperations, type Operation } from './plan-operations.ts';
import { isOpen, type TodoPlan, planFrom, tasksOf, withOneActive, withoutTasks } from './plan.ts';
import { isFinalMessage, reminderState, reminderMessage } from './plan-messages.ts';
import { storedPlan } from './stored-plan.ts';
import { type TodoSettings, todoSettings } from './todo-settings.ts';

/** What todos need of the agent they belong to. */
export interface TodoAgent {
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
    sessionStart: async ({ reason }) => (reason === 'startup' ? this.branchChanged() : undefined),
    beforeAgentStart: async () => this.#announcement(),
    beforeSettle: async ({ outcome }) => (outcome === 'ok' ? this.#reminder() : undefined),
    afterTree: async () => this.branchChanged(),
  };
  readonly #agent: TodoAgent;
  readonly #finishedTasks = new FinishedTaskTimer((ids) => this.#clear(ids));
  #cached: { readonly transcript: Transcript; readonly entryId: string; readonly plan: TodoPlan } | undefined;
  #timedTranscript: Transcript | undefined;

  constructor(agent: TodoAgent) {
    this.#agent = agent;
  }

  /** The plan that was stored last on the branch of the session. */
  get phases(): TodoPlan {
    const transcript = this.#agent.transcript();
    const [latest] = transcript.log.nodesOfKind(TODOS_TYPE);
    if (!latest) return [];
    if (this.#cached?.transcript !== transcript || this.#cached.entryId !== latest.id) {
      this.#cached = { transcript, entryId: latest.id, plan: storedPlan(transcript.log, latest.id) };
    }
    return this.#cached.plan;
  }

  /** Whether the model has use for the tool. */
  get isToolUseful(): boolean {
    return tasksOf(this.phases).length > 0 && this.#settings.isEnabled;
  }

  /** Puts another plan in the place of this one; answers it as it is kept. */
  set(phases: readonly TodoPhase[]): TodoPlan {
    this.#store(withOneActive(planFrom(phases)));
    return this.phases;
  }

  /** One call of the tool. */
  async runTool({ args, signal }: ToolInvocation): Promise<ToolOutput> {
    throwIfAborted(signal);
    const operations = (args['ops'] ?? []) as Operation[];
    const { plan, applied: count, errors } = applyOperations(operations, this.phases);
    this.#store(plan);
    const problems = errors.length > 0 ? `Errors: ${errors.join('; ')}\n` : '';
    const output = { ...textOutput(`${problems}${describePlan(plan)}`), details: { phases: plan } };
    if (errors.length > 0 && count === 0) throw new ToolError(output);
    return output;
  }

  /** The agent is in another session, or on another branch of it: what is finished there waits from now on. */
  branchChanged(): void {
    this.#finishedTasks.stop();
    this.#updateTimers();
  }

  close(): void {
    this.#finishedTasks.stop();
  }

  get #settings(): TodoSettings {
    return todoSettings(this.#agent.settings());
  }

  #store(plan: TodoPlan): void {
    if (JSON.stringify(plan) !== JSON.stringify(this.phases)) {
      const transcript = this.#agent.transcript();
      this.#agent.change(() => {
        const { id } = transcript.append({ type: 'custom', customType: TODOS_TYPE, data: plan });
        this.#cached = { transcript, entryId: id, plan };
      });
    }
    this.#updateTimers();
  }

  #updateTimers(): void {
    this.#timedTranscript = this.#agent.transcript();
    this.#finishedTasks.update(this.phases, this.#settings.clearDelay);
  }

  #clear(ids: ReadonlySet<string>): void {
    // Already in another session, which has tasks of its own.
    if (this.#timedTranscript !== this.#agent.transcript()) return;
    try {
      this.#store(withoutTasks(this.phases, ids));
    } catch {
      // A full disk: the tasks stay, and nobody has waited for them to go.
      return;
    }
    this.#agent.publish({ type: 'todo_auto_clear' });
  }

  /** A plan that a client has seeded, or that has changed, is told to the model before it works on it. */
  #announcement() {
    const { log } = this.#agent.transcript();
    if (!this.#agent.hasTool() || !tasksOf(this.phases).some(isOpen) || !isUnannounced(log)) return undefined;
    return { messages: [announcementMessage(this.phases)] };
  }

  /** What is said to an agent that would stop although its plan has more to do. */
  #reminder(): Continuation | undefined {
    const { isEnabled, maxReminders: maxAttempts } = this.#settings;
    const todos = tasksOf(this.phases).filter(isOpen);
    if (!isEnabled || todos.length === 0 || !this.#agent.mayRemind()) return undefined;
    const { log, messages } = this.#agent.transcript();
    if (!isFinalMessage(messages)) return undefined;
    const { times, hasUsedTool } = reminderState(log);
    if (times >= maxAttempts || (times > 0 && !hasUsedTool)) return undefined;
    const attempt = times + 1;
    this.#agent.publish({ type: 'todo_reminder', todos: todos.map((task) => ({ ...task })), attempt, maxAttempts });
    return {
      messages: [reminderMessage(this.phases, { attempt, maxAttempts, hasTool: this.#agent.hasTool() })],
      continue: true,
    };
  }
}
