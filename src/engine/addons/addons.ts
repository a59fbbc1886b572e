import { Dialogs } from '../../extend/dialogs.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import { HookSet } from '../../extend/hook-set.ts';
import type { HostTools } from '../../extend/host-tools/host-tools.ts';
import type { McpServers } from '../../extend/mcp/mcp-servers.ts';
import type { Resources } from '../../extend/resources/resources.ts';
import type { Todos } from '../../extend/todos/todos.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { Frame, McpServerStatus, SlashCommand, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../../session/context/system-prompt.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Agent } from '../agent.ts';
import { publishChanges } from '../agent-state.ts';
import type { ClientConnection } from '../client-connection.ts';
import { ignoreErrors } from '../grace-period.ts';
import { AgentExtensions } from './agent-extensions.ts';
import { dialogClients } from './dialog-clients.ts';

/** Loaded add-ons of an agent: extensions, skills, templates, rules, MCP servers, host tools and todos. */
export class Addons {
  readonly dialogs: Dialogs;
  readonly #agent: Agent;
  readonly #hooks: HookSet;
  /** The folder whose add-ons are loaded. */
  #loadedFolder: string | undefined;
  readonly #extensions: AgentExtensions;
  #todos: Promise<Todos> | undefined;
  #loadedTodos: Todos | undefined;
  #resources: Resources | undefined;
  #hostTools: HostTools | undefined;
  #mcp: McpServers | undefined;
  #isClosed = false;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#hooks = new HookSet(agent.hooks);
    this.dialogs = new Dialogs(dialogClients(agent));
    this.#extensions = new AgentExtensions(agent, {
      dialogs: this.dialogs,
      hooks: this.#hooks,
      reload: () => this.reload(),
      warn: (warnings) => this.#warn(warnings),
    });
  }

  /** Loads the add-ons of the user and the project. */
  async load(reason: 'startup' | 'reload'): Promise<void> {
    this.#loadedFolder = this.#agent.project.cwd;
    await this.#loadPart('Extensions', () => this.#extensions.load(reason));
    await Promise.all([
      this.#loadPart('Skills and templates', () => this.#loadResources()),
      this.#loadPart('Stream rules', () => this.#loadRules()),
      this.#loadPart('MCP servers', () => this.#loadMcp()),
    ]);
    this.#warn(this.#agent.toolbox.unknownPatterns.map((name) => `There is no tool ${name}`));
  }

  /** Loads everything again; extensions get shutdown and start events. */
  async reload(): Promise<void> {
    const { hooks } = this.#agent;
    await ignoreErrors(() => hooks.sessionShutdown?.({ reason: 'reload' }));
    this.#agent.currentProject.refresh();
    await this.load('reload');
    await ignoreErrors(() => hooks.sessionStart?.({ reason: 'reload' }));
  }

  async onSessionSwitched(): Promise<void> {
    this.#loadedTodos?.branchChanged();
    await this.#mcp?.removeClientServers();
    const { cwd } = this.#agent.project;
    if (cwd !== this.#loadedFolder) await this.load('reload');
  }

  todos(): Promise<Todos> {
    this.#todos ??= this.#loadTodos();
    return this.#todos;
  }

  async hostTools(): Promise<HostTools> {
    const { HostTools } = await import('../../extend/host-tools/host-tools.ts');
    this.#hostTools ??= new HostTools();
    return this.#hostTools;
  }

  /** Uses MCP servers defined by a client, for this session. */
  async useMcpServers(servers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpServerStatus[]> {
    return (await this.#mcpServers()).setClientServers(servers, signal);
  }

  get todoPhases(): readonly TodoPhase[] {
    return this.#loadedTodos?.phases ?? [];
  }

  get commands(): readonly SlashCommand[] {
    const own = this.extensions?.commands ?? [];
    const others = this.#resources?.commands ?? [];
    return [...own, ...others.filter(({ name }) => !own.some((command) => command.name === name))];
  }

  /** Settles when no extension command is running. */
  commandsDone(): Promise<void> {
    return this.#extensions.commandsDone();
  }

  get extensions(): Extensions | undefined {
    return this.#extensions.current;
  }

  get skills(): readonly SkillListing[] {
    return this.#resources?.listings ?? [];
  }

  get mcpServers(): readonly McpServerStatus[] {
    return this.#mcp?.status ?? [];
  }

  handleFrame(frame: Frame, from: ClientConnection): void {
    if (frame.type === 'extension_ui_response') this.dialogs.respond(frame, from);
    else this.#hostTools?.handleFrame(frame, from);
  }

  /** Handles a malformed response frame. */
  handleMalformedFrame({ name, id, problem }: MalformedFrame, from: ClientConnection): void {
    if (name === 'host_tool_result') this.#hostTools?.failMalformed(id, problem, from);
    else if (name === 'extension_ui_response') this.dialogs.endMalformed(id, from);
  }

  onClientConnected(client: ClientConnection): void {
    this.dialogs.showTo(client);
    this.dialogs.clientsChanged();
  }

  onInputClosed(client: ClientConnection): void {
    this.#hostTools?.hostDisconnected(client);
    this.dialogs.clientsChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.dialogs.dismissAll('shutdown');
    this.#loadedTodos?.close();
    this.#extensions.close();
    await this.#mcp?.close();
  }

  async #loadTodos(): Promise<Todos> {
    const { Todos } = await import('../../extend/todos/todos.ts');
    const agent = this.#agent;
    const todos = new Todos({
      transcript: () => agent.session.transcript,
      settings: () => (agent.addonPaths.options.inheritWorkflowSettings ? agent.project.settings : {}),
      publish: (event) => agent.broadcast.publish(event),
      change: (work) => publishChanges(agent, work),
      hasTool: () => agent.toolbox.activeNames.includes('todo'),
      mayRemind: () => agent.session.queue.length === 0 && agent.session.run?.budget.exhaustedReason === undefined,
    });
    this.#hooks.put('todos', todos.hooks);
    agent.toolbox.offerWhile('todo', () => todos.isToolUseful);
    this.#loadedTodos = todos;
    return todos;
  }

  async #loadResources(): Promise<void> {
    const { Resources } = await import('../../extend/resources/resources.ts');
    const { agentDir, home, cwd, settings, options } = this.#agent.addonPaths;
    const { findSkills = true, findPromptTemplates: findTemplates = true } = options;
    const { resourcePaths } = this.#extensions;
    const resources = await Resources.load(
      {
        agentDir,
        home,
        cwd,
        skillPaths: [
          ...((findSkills ? settings.skills : []) ?? []),
          ...(options.skills ?? []),
          ...resourcePaths.skills,
        ],
        promptPaths: [
          ...((findTemplates ? settings.prompts : []) ?? []),
          ...(options.promptTemplates ?? []),
          ...resourcePaths.prompts,
        ],
        findSkills,
        findTemplates,
      },
      (path, event, error) => this.#agent.addons.publishError(path, event, error),
    );
    this.#resources = resources;
    this.#hooks.put('resources', resources.hooks);
    this.#warn(resources.warnings);
  }

  async #loadRules(): Promise<void> {
    const { StreamRules } = await import('../../extend/stream-rules/stream-rules.ts');
    const agent = this.#agent;
    const rules = await StreamRules.load(
      { agentDir: agent.addonPaths.agentDir, cwd: agent.project.cwd, trusted: agent.project.trusted },
      {
        transcript: () => agent.session.transcript,
        settings: () => agent.project.settings,
        publish: (event) => agent.broadcast.publish(event),
        warn: (warning) => this.#warn([warning]),
      },
    );
    this.#hooks.put('rules', rules.hooks);
    this.#warn(rules.warnings);
  }

  async #loadMcp(): Promise<void> {
    const { agentDir, options } = this.#agent.addonPaths;
    if (options.mcp === false) return;
    const { readMcpFiles } = await import('../../store/mcp-file.ts');
    const { cwd, trusted } = this.#agent.project;
    const { servers, problems } = readMcpFiles({ agentDir, cwd, trusted });
    this.#warn(problems);
    if (servers.size > 0 || this.#mcp) await (await this.#mcpServers()).setFileServers(servers);
  }

  async #mcpServers(): Promise<McpServers> {
    const { McpServers } = await import('../../extend/mcp/mcp-servers.ts');
    const agent = this.#agent;
    this.#mcp ??= new McpServers({
      environment: () => {
        const { env, family, cwd } = agent.shell;
        return { env, variables: agent.env, family, cwd };
      },
      change: (work) => publishChanges(agent, work),
      publishTools: (tools) => agent.toolbox.setTools('mcp', tools, { keepActivation: true }),
      publish: (server) => agent.broadcast.publish({ type: 'mcp_status', server }),
      isAgentTool: (name) => !['mcp', undefined].includes(agent.toolbox.sourceOf(name)),
      warn: (text) => this.#warn([text]),
    });
    if (this.#isClosed) await this.#mcp.close();
    return this.#mcp;
  }

  /** A failing part does not affect the others. */
  async #loadPart(name: string, load: () => Promise<void>): Promise<void> {
    try {
      await load();
    } catch (error) {
      this.#warn([`${name} could not be loaded: ${messageOf(error)}`]);
    }
  }

  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) process.stderr.write(`tau: ${warning}\n`);
  }
}
