import type { ToolChoice } from '../agent/tool-choice.ts';
import type { ShellOptions } from '../agent/tools/bash/shell.ts';
import { builtinTools } from '../agent/tools/builtin-tools.ts';
import type { Mode } from '../extend/extensions/extension-api.ts';
import { type PromptLocations, untrustedPromptFiles } from '../extend/prompt-file.ts';
import { forbiddenContextFiles, promptParts, type SystemPromptOverrides } from '../extend/prompt-parts.ts';
import { Broadcast } from '../fanout/broadcast.ts';
import { withoutSecrets } from '../model/keys/secret-variables.ts';
import { version } from '../protocol/generated/version.ts';
import type { ReadyEvent, SessionEntry, ThinkingLevel } from '../protocol/generated/vocabulary.ts';
import { PROTOCOL_VERSION } from '../protocol/protocol-version.ts';
import type { SessionHooks } from '../session/hooks.ts';
import { pathWithPrograms, programsFolder, sessionsFolder } from '../store/agent-dir.ts';
import { changeSettings } from '../store/change-settings.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { SessionLog } from '../store/sessions/session-log.ts';
import { sessionNameFrom } from '../store/sessions/session-name.ts';
import type { Log } from '../system/log.ts';
import type { Dialect } from '../wire/dialect.ts';
import type { Link } from '../wire/link.ts';
import type { ActivityLog } from './activity-log.ts';
import { type AddonOptions, hasAddons } from './addons/detect.ts';
import { Agent, type AgentParts } from './agent.ts';
import { type Warning, type WarningSource, whenIdle } from './agent-state.ts';
import { type ApprovalFlags, loadPolicy } from './approvals/policy.ts';
import { ClientConnection } from './client-connection.ts';
import { loadStoredModel } from './current-session.ts';
import { dispatch } from './dispatch.ts';
import { useServedWindows } from './models/model-selection.ts';
import type { Models } from './models/open-models.ts';
import { Project } from './project.ts';

/** The session that an agent opens first. */
export type FirstSession =
  | { readonly kind: 'new'; readonly id?: string | undefined; readonly parentSession?: string | undefined }
  | (StartingPoint & {
      readonly kind: 'memory';
      readonly id?: string | undefined;
      readonly entries?: readonly SessionEntry[];
    })
  /** `create`: create a missing file. */
  | (StartingPoint & { readonly kind: 'file'; readonly path: string; readonly create: boolean });

interface StartingPoint {
  /** The entry to continue from, if it is not the last one; null: before the first. */
  readonly leafId?: string | null;
}

export interface EngineOptions {
  readonly cwd: string;
  readonly agentDir: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Directory for new sessions of a folder. */
  readonly sessionDirectory: (cwd: string) => string;
  readonly first: FirstSession;
  /** The session is only read: no file of it changes, and no add-on is loaded. */
  readonly readOnly?: boolean | undefined;
  /** The client stores the entries too and confirms them with `entries_kept`; the agent runs nothing ahead of that. */
  readonly keptByHost?: boolean | undefined;
  readonly name?: string | undefined;
  readonly models: Models;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** Trusts the project, or not, for this process only. */
  readonly trust?: boolean | undefined;
  /** The project of `cwd`, if it is already loaded. */
  readonly project?: Project;
  readonly tools?: ToolChoice | undefined;
  readonly prompt?: SystemPromptOverrides | undefined;
  readonly dialect?: Partial<Dialect>;
  readonly hooks?: SessionHooks | undefined;
  readonly addons?: AddonOptions | undefined;
  /** Limits for every session: none gets a looser mode or less of a sandbox. */
  readonly approvals?: ApprovalFlags | undefined;
  readonly mode?: Mode | undefined;
  readonly log?: Log | undefined;
}

/** A complete agent that clients can connect to. */
export interface Engine {
  /** For code in the same process. */
  readonly agent: Agent;
  readonly warnings: readonly string[];
  /** The system prompt of the session. */
  systemPrompt(): Promise<string>;
  /** Serves a client until it disconnects. A disconnect ends neither the run nor the agent. */
  connect(link: Link, options?: ConnectOptions): ClientConnection;
  /** Settles when every session command is done and no run is active. */
  idle(): Promise<void>;
  /** Settles when the agent is idle and all extension commands are done. */
  finished(): Promise<void>;
  /** Settles when an extension has requested the end of the process and the agent is idle. */
  readonly exitRequested: Promise<void>;
  /** Stops everything, stores it, releases the session and ends every process it started. `reason`: for the log. */
  close(reason?: string): Promise<void>;
}

/** Creates an agent and opens its first session. */
export async function openEngine(options: EngineOptions): Promise<Engine> {
  const activityLog = options.log && new (await import('./activity-log.ts')).ActivityLog(options.log);
  const broadcast = activityLog?.broadcast ?? new Broadcast();
  // A copy: add-ons put their hooks into this object.
  const hooks = { ...options.hooks };
  const family = newUuid();
  const { registry, requested, unresolved } = options.models;
  const name = options.name === undefined ? undefined : sessionNameFrom(options.name);
  const policyFor = ({ cwd, settings }: Project) =>
    loadPolicy({ cwd, settings, agentDir: options.agentDir, flags: options.approvals ?? {} });
  const parts: AgentParts = {
    broadcast,
    registry,
    hooks: activityLog?.withTiming(hooks) ?? hooks,
    env: options.env,
    agentDir: options.agentDir,
    addonOptions: options.addons ?? {},
    mode: options.mode ?? 'rpc',
    readOnly: options.readOnly,
    keptByHost: options.keptByHost,
    policyFor,
    projectFor: (cwd, trust) => projectFor(cwd, trust, options),
    tools: (shell) =>
      builtinTools(shell, async (call) => (await (await agent.addons.ensureLoaded()).todos()).runTool(call)),
    toolChoice: options.tools ?? {},
    shell: (project) =>
      shellOptionsFor(project, {
        env: shellEnvironment(options),
        programs: programsFolder(options.agentDir),
        family,
        dynamicEnv: () => agentVariables(agent),
      }),
    promptParts: (project) => promptParts(promptLocations(project, options.agentDir), options.prompt ?? {}),
    sessionDirectory: (cwd) => (options.first.kind === 'memory' ? undefined : options.sessionDirectory(cwd)),
    sessionList: async () => {
      const { SessionList } = await import('../store/sessions/listing/list-sessions.ts');
      return new SessionList(sessionsFolder(options.agentDir));
    },
    saveSettings: (values) => changeSettings(options.agentDir, values),
    setApiKey: async (provider, key) => {
      const { removeApiKey, storeApiKey } = await import('../store/credentials.ts');
      if (key === undefined) await removeApiKey(options.agentDir, provider);
      else await storeApiKey(options.agentDir, { provider, key });
    },
    requested: {
      model: requested,
      unresolved: unresolved && { ...unresolved, thinkingLevel: options.thinkingLevel },
      thinkingLevel: options.thinkingLevel ?? options.models.thinkingLevel,
    },
  };
  const agent = await openFirstSession(parts, await openFirstLog(options), name);
  activityLog?.logOpened(agent);
  useServedWindows(agent);
  const warnings = warningsOf(agent, options);
  for (const warning of warnings) agent.warnings.publish(warning);
  return {
    agent,
    warnings: warnings.map(({ message }) => message),
    systemPrompt: async () => {
      await agent.addons.start();
      return agent.session.systemPrompt();
    },
    connect: (link, { isLastClient } = {}) =>
      connect(link, { isLastClient, agent, activityLog, dialect: options.dialect }),
    idle: () => whenIdle(agent),
    finished: async () => {
      await whenIdle(agent);
      await agent.addons.loaded?.commandsDone();
      await whenIdle(agent);
    },
    exitRequested: agent.exitRequested,
    close: async (reason) => {
      activityLog?.logClosing(reason);
      agent.lane.close();
      try {
        await agent.close();
        await agent.registry.auth?.signIns.settled();
      } finally {
        const { killFamily } = await import('../system/processes/process-group.ts');
        await killFamily(family);
      }
    },
  };
}

/** Properties of a client that are known before it connects. */
export interface ConnectOptions {
  /** No other client will connect: once its input is closed, dialogs have no answer. */
  readonly isLastClient?: boolean | undefined;
}

interface ConnectTarget extends ConnectOptions {
  readonly agent: Agent;
  readonly activityLog: ActivityLog | undefined;
  readonly dialect: Partial<Dialect> | undefined;
}

/** Opens the agent's first session; releases the log if that fails. */
async function openFirstSession(parts: AgentParts, log: SessionLog, name: string | undefined): Promise<Agent> {
  try {
    if (name !== undefined) log.append({ type: 'session_info', name });
    await loadStoredModel(parts.registry, log);
    const project = parts.projectFor(log.header.cwd, undefined);
    const policy = await parts.policyFor(project);
    const agent = new Agent(parts, { log, project, policy });
    await agent.addons.prepareFor(log);
    await agent.approvals.prepareFor(policy, log);
    // Only now it is known whether commands are confined, which changes the tools.
    if (agent.approvals.session.wantsSandbox) agent.currentProject.useShell();
    return agent;
  } catch (error) {
    await log.close({ keepEmpty: true });
    throw error;
  }
}

function connect(link: Link, { agent, activityLog, dialect, isLastClient = false }: ConnectTarget): ClientConnection {
  const connection = new ClientConnection(link, dialect, { isLastClient });
  connection.send(ready);
  for (const event of agent.currentSession.takeOpeningEvents()) connection.send(event);
  for (const event of agent.warnings.takeEarly()) connection.send(event);
  agent.broadcast.add(connection);
  agent.clients.add(connection);
  agent.addons.loaded?.onClientConnected(connection);
  const closeInput = () => {
    connection.closeInput();
    agent.addons.loaded?.onInputClosed(connection);
  };
  link.onEnd(closeInput);
  link.onClose(() => {
    closeInput();
    agent.broadcast.remove(connection);
    agent.clients.delete(connection);
    agent.addons.loaded?.dialogs.clientsChanged();
    connection.close();
  });
  agent.lane.holdUntil(agent.start());
  connection.receive((line) => dispatch(line, { agent, connection, lane: agent.lane, activityLog }));
  return connection;
}

function warningsOf(agent: Agent, { agentDir, models }: EngineOptions): Warning[] {
  const { project } = agent;
  const from = (source: WarningSource, messages: readonly string[]) => messages.map((message) => ({ source, message }));
  const locations = promptLocations(project, agentDir);
  return [
    ...from('settings', project.warnings),
    ...from('settings', agent.approvals.session.policy.warnings),
    ...from('models', models.warnings),
    ...from(
      'agent',
      unknownTools(agent).map((name) => `There is no tool ${name}`),
    ),
    ...from(
      'agent',
      untrustedPromptFiles(locations).map((path) => `${path} is left out: the project is not trusted`),
    ),
    ...from(
      'agent',
      forbiddenContextFiles(locations).map(({ path, reason }) => `${path} is left out: ${reason}`),
    ),
  ];
}

const promptLocations = ({ cwd, trusted, settings }: Project, agentDir: string): PromptLocations => ({
  cwd,
  trusted,
  agentDir,
  hidden: settings.sandbox?.hidden?.filter((path) => typeof path === 'string'),
});

/** Patterns that match no tool; add-ons and MCP servers (`__`) may still add theirs. */
function unknownTools({ toolbox, addonPaths }: Agent): readonly string[] {
  const unknown = toolbox.unknownPatterns.filter((name) => !name.includes('__'));
  return unknown.length > 0 && hasAddons(addonPaths) ? [] : unknown;
}

const ready: ReadyEvent = {
  type: 'ready',
  version,
  protocolVersion: PROTOCOL_VERSION,
  supportedProtocolVersions: [PROTOCOL_VERSION],
};

/** Trust for this process applies to the folder it was started in, not to others. */
function projectFor(cwd: string, trust: boolean | undefined, options: EngineOptions): Project {
  const { project, agentDir } = options;
  if (project?.cwd === cwd && trust === undefined) return project;
  return new Project({ cwd, agentDir, trust: trust ?? (cwd === options.cwd ? options.trust : undefined) });
}

async function openFirstLog({
  cwd,
  first,
  sessionDirectory,
  readOnly,
  keptByHost: ofCluster,
}: EngineOptions): Promise<SessionLog> {
  if (readOnly) {
    if (first.kind === 'file') return SessionLog.read(first.path);
    return SessionLog.inMemory({ cwd, ...withId(first.id) });
  }
  switch (first.kind) {
    case 'memory':
      return startedAt(first, SessionLog.inMemory({ cwd, ...withId(first.id) }, first.entries));
    case 'new': {
      const { id, parentSession } = first;
      return SessionLog.create({ cwd, directory: sessionDirectory(cwd), parentSession, ...withId(id) });
    }
    case 'file':
      return startedAt(
        first,
        await SessionLog.open(first.path, { ofCluster, ...(first.create ? { create: { cwd } } : {}) }),
      );
    default:
      return first satisfies never;
  }
}

function startedAt({ leafId }: StartingPoint, log: SessionLog): SessionLog {
  if (leafId !== undefined && (leafId === null || log.has(leafId))) log.moveLeaf(leafId);
  return log;
}

const withId = (id: string | undefined) => (id === undefined ? {} : { id });

/** Environment of commands: without secrets, and with the user's agent programs in PATH. */
function shellEnvironment({ env, agentDir, models }: EngineOptions): ShellOptions['env'] {
  return { ...withoutSecrets(env, models.registry.auth?.secretNames), PATH: pathWithPrograms(agentDir, env['PATH']) };
}

type ShellContext = Pick<ShellOptions, 'env' | 'programs' | 'family' | 'dynamicEnv'>;

const shellOptionsFor = ({ cwd, settings }: Project, context: ShellContext): ShellOptions => ({
  ...context,
  cwd,
  shellPath: settings.shellPath,
  commandPrefix: settings.shellCommandPrefix,
  timeouts: settings.bash,
});

/** Variables that describe the agent to commands, under pi's names. */
function agentVariables({ session }: Agent): Record<string, string | undefined> {
  const { log, choice } = session;
  return {
    AI_AGENT: 'tau',
    PI_CODING_AGENT: 'true',
    PI_SESSION_ID: log.header.id,
    PI_SESSION_FILE: log.path,
    PI_PROVIDER: choice.model?.provider,
    PI_MODEL: choice.model?.id,
    PI_REASONING_LEVEL: choice.thinkingLevel,
  };
}
