import type { Continuation } from '../../agent/hooks.ts';
import { ToolError, type ToolInvocation, type ToolOutput, textOutput } from '../../agent/tool.ts';
import { throwIfAborted } from '../../agent/unless-aborted.ts';
import type { AgentEvent, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SessionHooks } from '../../session/hooks.ts';
import type { Transcript } from '../../session/transcript.ts';
import type { Settings } from '../../store/settings.ts';
import { TODOS_TYPE } from './entry-type.ts';
import { FinishedTaskTimer } from './finished-task-timer.ts';
import { isOpen, planFrom, storedPlan, type TodoPlan, tasksOf, withOneActive, withoutTasks } from './plan.ts';
import { announcementMessage, isFinalMessage, isUnannounced, reminderMessage, reminderState } from './plan-messages.ts';
import { applyOperations, type Operation } from './plan-operations.ts';
import { describePlan } from './plan-text.ts';

/** The parts of the agent that todos use. */
export interface TodoAgent {
  readonly transcript: () => Transcript;
  readonly settings: () => Settings;
  readonly publish: (event: AgentEvent) => void;
  /** Runs a change of state and publishes the changed fields. */
  readonly change: (work: () => void) => void;
  readonly hasTool: () => boolean;
  /** Whether the run would end now and may call the model again. */
  readonly mayRemind: () => boolean;
}

/** The plan of a session: clients and the model edit it, and the model is reminded of open tasks. */
export class Todos {
  readonly hooks: SessionHooks = {
    // Earlier, clients could not receive the changes.
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

  /** The latest plan on the current branch. */
  get phases(): TodoPlan {
    const transcript = this.#agent.transcript();
    const [latest] = transcript.log.nodesOfKind(TODOS_TYPE);
    if (!latest) return [];
    if (this.#cached?.transcript !== transcript || this.#cached.entryId !== latest.id) {
      this.#cached = { transcript, entryId: latest.id, plan: storedPlan(transcript.log, latest.id) };
    }
    return this.#cached.plan;
  }

  get isToolUseful(): boolean {
    return tasksOf(this.phases).length > 0 && this.#settings.isEnabled;
  }

  /** Replaces the plan and returns it as stored. */
  set(phases: readonly TodoPhase[]): TodoPlan {
    this.#store(withOneActive(planFrom(phases)));
    return this.phases;
  }

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

  /** Restarts the timers of finished tasks after a change of session or branch. */
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
    // The agent is already in another session.
    if (this.#timedTranscript !== this.#agent.transcript()) return;
    try {
      this.#store(withoutTasks(this.phases, ids));
    } catch {
      // The disk may be full: the tasks stay, and no caller waits.
      return;
    }
    this.#agent.publish({ type: 'todo_auto_clear' });
  }

  /** Gives the model a plan that changed since it last saw it. */
  #announcement() {
    const { log } = this.#agent.transcript();
    if (!this.#agent.hasTool() || !tasksOf(this.phases).some(isOpen) || !isUnannounced(log)) return undefined;
    return { messages: [announcementMessage(this.phases)] };
  }

  /** Reminds an agent that would stop although tasks are open. */
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

interface TodoSettings {
  /** Whether the model gets the tool and reminders. */
  readonly isEnabled: boolean;
  readonly maxReminders: number;
  /** In seconds; a negative value keeps finished tasks. */
  readonly clearDelay: number;
}

// The settings with defaults.
function todoSettings(settings: Settings): TodoSettings {
  return {
    isEnabled: settings['todo.enabled'] ?? true,
    maxReminders: (settings['todo.reminders'] ?? true) ? (settings['todo.reminders.max'] ?? 3) : 0,
    clearDelay: settings['tasks.todoClearDelay'] ?? 60,
  };
}
