import { AGENT_ENDED } from '../model/call-model.ts';
import type { ModelRegistry } from '../model/registry/registry.ts';
import { Refusal } from '../protocol/errors.ts';
import type { AgentEvent } from '../protocol/generated/vocabulary.ts';
import type { PromptParts } from '../session/context/system-prompt.ts';
import { initialChoice, recordChoice, storedChoice } from '../session/model-choice.ts';
import { repairToolCalls } from '../session/repair.ts';
import { Session } from '../session/session.ts';
import { autoFeaturesFrom, deliveryModesFrom } from '../session/session-modes.ts';
import { recoverCommands } from '../session/shell-commands.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { Agent, AgentParts } from './agent.ts';
import { publishStateSince } from './agent-state.ts';
import type { ApprovalPolicy } from './approvals/policy.ts';
import { ignoreErrors, withinGrace } from './grace-period.ts';
import type { Project } from './project.ts';

export type SwitchReason = 'new' | 'resume' | 'fork';

// A session that the agent can switch to.
interface PreparedSession {
  readonly session: Session;
  readonly project: Project;
  // Tool calls whose results were lost in a crash.
  readonly repaired: readonly string[];
}

/** The session of the agent, and the switch to another one. */
export class CurrentSession {
  readonly #agent: Agent;
  readonly #parts: AgentParts;
  #session: Session;
  readonly #openingEvents: AgentEvent[];
  #switching: Promise<void> | undefined;
  readonly #closingSessions = new Set<Promise<void>>();

  constructor(agent: Agent, parts: AgentParts, first: SessionLog) {
    this.#agent = agent;
    this.#parts = parts;
    const prepared = this.#build(first, undefined);
    this.#session = prepared.session;
    this.#openingEvents = openingEvents(prepared);
    if (agent.currentProject.skippedFiles.length > 0) this.#openingEvents.push(agent.currentProject.trustSkipped);
  }

  get session(): Session {
    return this.#session;
  }

  /** Events about the opening of the first session, for the first client. */
  takeOpeningEvents(): AgentEvent[] {
    return this.#openingEvents.splice(0);
  }

  /** Stops the run and switches to another session. If that cannot be prepared, the run continues. */
  async switchTo(log: SessionLog, reason: SwitchReason): Promise<void> {
    await loadStoredModel(this.#parts.registry, log);
    await this.#agent.addons.prepareFor(log);
    const prepared = this.#build(log, this.#session);
    const policy = await this.#parts.policyFor(prepared.project);
    await this.#agent.approvals.prepareFor(policy, log);
    await this.#session.stop();
    if (this.#agent.isClosing) throw new Refusal('overloaded', 'The agent is shutting down');
    this.#switching = this.#switch({ ...prepared, policy }, reason);
    await this.#switching;
  }

  /** Interrupts the run; a switch that has begun is completed within the grace period. */
  async stop(): Promise<void> {
    await this.#session.stop(AGENT_ENDED);
    await withinGrace(this.#switching);
  }

  /** Closes the session, and waits for previous ones within the grace period. */
  async close(): Promise<void> {
    await this.#session.shell.close();
    await closeLog(this.#session);
    await withinGrace(Promise.all(this.#closingSessions).then(() => {}));
  }

  async #switch(prepared: PreparedSession & { policy: ApprovalPolicy }, reason: SwitchReason): Promise<void> {
    const { hooks, addons, approvals, clients, broadcast, currentProject } = this.#agent;
    const previous = this.#session;
    const { log } = prepared.session;
    await withinGrace(ignoreErrors(() => hooks.sessionShutdown?.({ reason, targetSessionFile: log.path })));
    // The run has ended its own dialogs; those of commands belong to the session too.
    addons.loaded?.dialogs.dismissAll('abort');
    // Stops shell commands that clients started after the run ended.
    await previous.shell.close();
    const before = this.#agent.state;
    this.#session = prepared.session;
    approvals.switchTo(prepared.policy, log);
    currentProject.use(prepared.project);
    const finishedFeeds = [...clients].map(({ feed }) => feed?.restart(log));
    publishStateSince(this.#agent, before);
    for (const event of openingEvents(prepared, previous)) broadcast.publish(event);
    // The switch is done: the old session can neither fail nor delay it any more.
    await withinGrace(this.#release(previous, Promise.all(finishedFeeds)));
    await ignoreErrors(() => addons.onSessionSwitched());
    await ignoreErrors(() => hooks.sessionStart?.({ reason, previousSessionFile: previous.log.path }));
  }

  /** Closes the log of the previous session once all entry feeds have finished with it. */
  #release(previous: Session, finishedFeeds: Promise<unknown>): Promise<void> {
    const closed = finishedFeeds.then(() => closeLog(previous)).catch(() => {});
    this.#closingSessions.add(closed);
    return closed.finally(() => this.#closingSessions.delete(closed));
  }

  #build(log: SessionLog, previous: Session | undefined): PreparedSession {
    const project = this.#agent.currentProject.forFolder(log.header.cwd);
    if (log.isReadOnly) return { session: this.#create(log, project, previous), project, repaired: [] };
    const repaired = repairToolCalls(log);
    recoverCommands(log);
    const session = this.#create(log, project, previous);
    if (isNewSession(log)) recordChoice(log, session.choice);
    return { session, project, repaired };
  }

  #promptParts(project: Project): PromptParts {
    const parts = this.#parts.promptParts(project);
    const { skills = [], mcpInstructions } = this.#agent.addons.loaded ?? {};
    return {
      ...parts,
      skills,
      append: mcpInstructions === undefined ? parts.append : [...parts.append, mcpInstructions],
    };
  }

  #create(log: SessionLog, project: Project, previous: Session | undefined): Session {
    const { broadcast, registry, hooks, shell, requested, keptByHost } = this.#parts;
    return new Session({
      permit: (run) => this.#agent.approvals.permitFor(run),
      log,
      events: broadcast,
      registry,
      hooks,
      tools: () => this.#agent.toolbox.active,
      callableTools: () => this.#agent.toolbox.callable,
      shell: () => shell(project),
      promptParts: () => this.#promptParts(project),
      settings: () => project.settings,
      choice: initialChoice(registry, { log, requested, previous: previous?.choice, settings: project.settings }),
      modes: previous ? { ...previous.modes } : deliveryModesFrom(project.settings),
      keptByHost,
      automatic: previous ? { ...previous.automatic } : autoFeaturesFrom(project.settings),
    });
  }
}

/** Closes the file of a session. A session without messages is removed unless one is queued. */
const closeLog = ({ log, queue }: Session) => log.close({ keepEmpty: queue.length > 0 });

const isNewSession = (log: SessionLog) => log.size === log.count('session_info');

/** Loads the model that a stored session used, so that it is found, or reported missing by name. */
export async function loadStoredModel(registry: ModelRegistry, log: SessionLog): Promise<void> {
  const { model } = storedChoice(log);
  if (model) await registry.loadModel(model.provider, model.id);
}

/** Events about a session beyond its state: repairs and queued messages. */
function openingEvents({ session, repaired }: PreparedSession, previous?: Session): AgentEvent[] {
  const { tornBytes, header } = session.log;
  const events: AgentEvent[] = [];
  if (repaired.length > 0 || tornBytes > 0) {
    events.push({ type: 'session_repaired', sessionId: header.id, toolCallIds: [...repaired], tornBytes });
  }
  if (session.queue.length > 0 || previous?.queue.length) events.push(session.queue.update());
  return events;
}
