import { Dialogs } from '../../extend/dialogs.ts';
import type { Extension } from '../../extend/extensions/extension.ts';
import type { Extensions } from '../../extend/extensions/extensions.ts';
import type { ExtensionSource } from '../../extend/extensions/load/find-extensions.ts';
import { HookSet } from '../../extend/hook-set.ts';
import { HostTools } from '../../extend/host-tools/host-tools.ts';
import { connectsMcpServers, ExtensionMcpServers } from '../../extend/mcp/extension-servers.ts';
import type { McpServers } from '../../extend/mcp/mcp-servers.ts';
import { Resources } from '../../extend/resources/resources.ts';
import { StreamRules } from '../../extend/stream-rules/stream-rules.ts';
import type { Todos } from '../../extend/todos/todos.ts';
import { messageOf } from '../../protocol/errors.ts';
import type {
  EntriesKept,
  Frame,
  McpServerStatus,
  SlashCommand,
  TodoPhase,
} from '../../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../../session/context/system-prompt.ts';
import { type McpEntry, readMcpFiles } from '../../store/mcp/mcp-file.ts';
import { withTimeout } from '../../system/with-timeout.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Agent } from '../agent.ts';
import { publishChanges, publishExtensionError, type WarningSource } from '../agent-state.ts';
import type { ClientConnection } from '../client-connection.ts';
import { ignoreErrors } from '../grace-period.ts';
import { ChildAgents } from './child-agents.ts';
import { dialogClients } from './dialog-clients.ts';
import type { ExtensionServices } from './extension-host.ts';
import { type FoundSources, findSources } from './extension-sources.ts';
import { ModelRefreshes } from './model-refreshes.ts';

// Longest wait for running extension commands at the end of the process.
const COMMAND_DRAIN_MS = 60_000;

// Resource files and folders contributed by extensions and packages.
interface ResourcePaths {
  readonly skills: readonly string[];
  readonly prompts: readonly string[];
}

/** Loaded add-ons of an agent: extensions, skills, templates, rules, MCP servers, host tools and todos. */
export class Addons {
  readonly dialogs: Dialogs;
  readonly hostTools = new HostTools((text) => this.#warn('agent', [text]));
  /** The MCP servers of extensions; a change takes effect at once, or when the add-ons have been loaded. */
  readonly extensionMcpServers = new ExtensionMcpServers(() => void this.#onExtensionMcpServersChanged());
  readonly #agent: Agent;
  readonly #hooks: HookSet;
  /** The folder whose add-ons are loaded. */
  #loadedFolder: string | undefined;
  #isLoading = false;
  readonly #extensionServices: ExtensionServices;
  #extensions: Extensions | undefined;
  /** Stops the reports of uncaught errors of extensions. */
  #stopCatching: (() => void) | undefined;
  #contributed: ResourcePaths = { skills: [], prompts: [] };
  #todos: Promise<Todos> | undefined;
  #loadedTodos: Todos | undefined;
  #resources: Resources | undefined;
  #mcp: McpServers | undefined;
  readonly #children = new ChildAgents();
  #isClosed = false;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#hooks = new HookSet(agent.hooks);
    this.dialogs = new Dialogs(dialogClients(agent));
    this.#extensionServices = {
      dialogs: this.dialogs,
      hooks: this.#hooks,
      mcpServers: this.extensionMcpServers,
      reload: () => this.reload(),
      blamable: new Set<ExtensionSource>(),
      commandsAtWork: new Set<Promise<void>>(),
      modelRefreshes: new ModelRefreshes(),
      ...this.#sdk(),
    };
  }

  #sdk(): Pick<ExtensionServices, 'sdk'> {
    const agent = this.#agent;
    const { agentDir, options } = agent.addonPaths;
    const { sdk, ownsProcess = false } = options;
    if (!sdk) return {};
    const { env, registry } = agent;
    const { project, shell } = { project: () => agent.project, shell: () => agent.shell };
    const approvals = () => agent.approvals.limits;
    let names: Promise<object> | undefined;
    return {
      sdk: () => {
        // Once: extensions compare classes of several modules.
        names ??= sdk({ agentDir, env, registry, ownsProcess, children: this.#children, project, shell, approvals });
        return names;
      },
    };
  }

  /** Loads the add-ons of the user and the project. */
  async load(reason: 'startup' | 'reload'): Promise<void> {
    this.#loadedFolder = this.#agent.project.cwd;
    this.#isLoading = true;
    await this.#loadPart('Extensions', () => this.#loadExtensions(reason));
    await Promise.all([
      this.#loadPart('Skills and templates', () => this.#loadResources()),
      this.#loadPart('Stream rules', () => this.#loadRules()),
      this.#loadPart('MCP servers', () => this.#loadMcp()),
    ]);
    this.#warn(
      'agent',
      this.#agent.toolbox.unknownPatterns.map((name) => `There is no tool ${name}`),
    );
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
    await this.#children.endSession();
    this.#loadedTodos?.branchChanged();
    await this.#mcp?.removeClientServers();
    const { cwd } = this.#agent.project;
    if (cwd !== this.#loadedFolder) await this.load('reload');
  }

  todos(): Promise<Todos> {
    this.#todos ??= this.#loadTodos();
    return this.#todos;
  }

  /** Uses MCP servers defined by a client, for this session. */
  async useMcpServers(servers: Readonly<Record<string, unknown>>, signal: AbortSignal): Promise<McpServerStatus[]> {
    return (await this.#mcpServers()).setClientServers(servers, signal);
  }

  get todoPhases(): readonly TodoPhase[] {
    return this.#loadedTodos?.phases ?? [];
  }

  get commands(): readonly SlashCommand[] {
    const own = this.#extensions?.commands ?? [];
    const others = [...(this.#resources?.commands ?? []), ...(this.#mcp?.commands ?? [])];
    return [...own, ...others.filter(({ name }) => !own.some((command) => command.name === name))];
  }

  /** Settles when no extension command is running, or after `COMMAND_DRAIN_MS`. */
  async commandsDone(): Promise<void> {
    const { commandsAtWork } = this.#extensionServices;
    if (commandsAtWork.size === 0) return;
    await withTimeout(COMMAND_DRAIN_MS, Promise.all(commandsAtWork), 'It takes too long').catch(() => {});
  }

  /** Undefined until an extension was found. */
  get extensions(): Extensions | undefined {
    return this.#extensions;
  }

  get skills(): readonly SkillListing[] {
    return this.#resources?.listings ?? [];
  }

  /** The section of the system prompt about MCP servers; undefined if they have none. */
  get mcpInstructions(): string | undefined {
    return this.#mcp?.instructions;
  }

  /** Undefined if there are none. */
  get mcpServers(): McpServerStatus[] | undefined {
    const servers = this.#mcp?.status ?? [];
    return servers.length > 0 ? [...servers] : undefined;
  }

  handleFrame(frame: Exclude<Frame, EntriesKept>, from: ClientConnection): void {
    if (frame.type === 'extension_ui_response') this.dialogs.respond(frame, from);
    else this.hostTools.handleFrame(frame, from);
  }

  /** Handles a malformed response frame. */
  handleMalformedFrame({ name, id, problem }: MalformedFrame, from: ClientConnection): void {
    if (name === 'host_tool_result') this.hostTools.failMalformed(id, problem, from);
    else if (name === 'extension_ui_response') this.dialogs.endMalformed(id, from);
  }

  onClientConnected(client: ClientConnection): void {
    this.dialogs.showTo(client);
    this.dialogs.clientsChanged();
  }

  onInputClosed(client: ClientConnection): void {
    this.hostTools.hostDisconnected(client);
    this.dialogs.clientsChanged();
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.dialogs.dismissAll('shutdown');
    this.#loadedTodos?.close();
    this.#extensions?.close();
    this.#extensionServices.modelRefreshes.stopAll();
    this.#stopCatching?.();
    await Promise.all([this.#children.close(), this.#mcp?.close()]);
  }

  async #loadExtensions(reason: 'startup' | 'reload'): Promise<void> {
    const agent = this.#agent;
    const first = findSources(agent);
    this.#warn('extension', first.warnings);
    const hasAny = first.sources.length > 0 || this.#extensions !== undefined;
    const { packages } = hasAny ? await this.#replaceExtensions(first) : first;
    if (this.#isClosed) return;
    const extensions = this.#extensions;
    await agent.onModelsChanged();
    const discovered = await extensions?.discover(reason);
    this.#contributed = {
      skills: [...packages.skills, ...(discovered?.skills ?? [])],
      prompts: [...packages.prompts, ...(discovered?.prompts ?? [])],
    };
  }

  /** Loads the extensions that exist now. The previous ones stay active until then: no gate is ever open. */
  async #replaceExtensions(first: FoundSources): Promise<FoundSources> {
    const agent = this.#agent;
    const services = this.#extensionServices;
    const { catchUncaughtErrors, loadExtensions, replaceExtensions, refreshModels } = await import(
      './load-extensions.ts'
    );
    const { ownsProcess, flags } = agent.addonPaths.options;
    if (ownsProcess) this.#stopCatching ??= catchUncaughtErrors(agent, services);
    const { extensions: next, found } = await loadExtensions(agent, services, first);
    if (found !== first) this.#warn('extension', found.warnings);
    const unknown = [...(flags?.keys() ?? [])].filter((name) => next && !next.flags.has(name));
    this.#warn(
      'agent',
      unknown.map((name) => `Unknown option: --${name}`),
    );
    const bringsModels = next?.all.some(({ providers, virtualModels }) => providers.size + virtualModels.size > 0);
    if (bringsModels) await agent.registry.load({ anyway: true });
    if (this.#isClosed) {
      next?.close();
      return found;
    }
    const before = this.#extensions;
    this.#extensions = next;
    replaceExtensions(agent, services, { before, next });
    await refreshModels(agent, services.modelRefreshes, next?.all ?? []);
    return found;
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
    const { agentDir, home, cwd, settings, options } = this.#agent.addonPaths;
    const { findSkills = true, findPromptTemplates: findTemplates = true } = options;
    const resources = await Resources.load(
      {
        agentDir,
        home,
        cwd,
        trusted: this.#agent.project.trusted,
        skillPaths: [
          ...((findSkills ? settings.skills : []) ?? []),
          ...(options.skills ?? []),
          ...this.#contributed.skills,
        ],
        promptPaths: [
          ...((findTemplates ? settings.prompts : []) ?? []),
          ...(options.promptTemplates ?? []),
          ...this.#contributed.prompts,
        ],
        findSkills,
        findTemplates,
        hasSkillCommands: settings.enableSkillCommands,
      },
      (path, event, error) => publishExtensionError(this.#agent, path, event, error),
    );
    this.#resources = resources;
    this.#hooks.put('resources', resources.hooks);
    this.#warn('extension', resources.warnings);
  }

  async #loadRules(): Promise<void> {
    const agent = this.#agent;
    const rules = await StreamRules.load(
      { agentDir: agent.addonPaths.agentDir, cwd: agent.project.cwd, trusted: agent.project.trusted },
      {
        transcript: () => agent.session.transcript,
        settings: () => agent.project.settings,
        publish: (event) => agent.broadcast.publish(event),
        warn: (warning) => this.#warn('settings', [warning]),
      },
    );
    this.#hooks.put('rules', rules.hooks);
    this.#warn('settings', rules.warnings);
  }

  async #loadMcp(): Promise<void> {
    const { agentDir, options } = this.#agent.addonPaths;
    if (options.mcp === false) return this.#useConfiguredServers({});
    const { cwd, trusted } = this.#agent.project;
    const { servers: files, problems, unused } = readMcpFiles({ agentDir, cwd, trusted });
    this.#warn('mcp', [...problems, ...unused]);
    const owner = this.#mcpClientExtension;
    if (owner && files.size > 0)
      this.#warn('mcp', [`The extension ${owner.path} connects the servers of mcp.json: tau starts none of them`]);
    await this.#useConfiguredServers({ files: owner ? new Map() : files });
  }

  async #useConfiguredServers({ files }: { readonly files?: ReadonlyMap<string, McpEntry> }): Promise<void> {
    this.#isLoading = false;
    const extensions = this.#mcpClientExtension ? new Map() : this.extensionMcpServers.entries;
    if ((files?.size ?? 0) > 0 || extensions.size > 0 || this.#mcp)
      await (await this.#mcpServers()).setServers({ ...(files ? { files } : {}), extensions });
  }

  /** The extension that connects MCP servers instead of tau. */
  get #mcpClientExtension(): Extension | undefined {
    return this.#extensions?.all.find((extension) =>
      connectsMcpServers({ flags: extension.flags, handles: (event) => extension.handles(event) }),
    );
  }

  async #onExtensionMcpServersChanged(): Promise<void> {
    if (!this.#isLoading && !this.#isClosed) await this.#loadPart('MCP servers', () => this.#useConfiguredServers({}));
  }

  async #mcpServers(): Promise<McpServers> {
    const { McpServers } = await import('../../extend/mcp/mcp-servers.ts');
    const agent = this.#agent;
    const isNew = this.#mcp === undefined;
    this.#mcp ??= new McpServers({
      agentDir: agent.addonPaths.agentDir,
      cwd: () => agent.shell.cwd,
      dialogs: this.dialogs,
      hasClients: agent.mode === 'rpc',
      canShowDialogs: () => this.dialogs.canShow('input'),
      model: () => agent.session.choice.model,
      registry: agent.registry,
      reportUnread: (name, error) => publishExtensionError(agent, name, 'mcp_expansion', error),
      environment: () => {
        const { env, family, cwd } = agent.shell;
        return { env, variables: agent.env, family, cwd };
      },
      change: (work) => publishChanges(agent, work),
      publishTools: (tools) => agent.toolbox.setTools('mcp', tools, { keepActivation: true }),
      publish: (server) => agent.broadcast.publish({ type: 'mcp_status', server }),
      isAgentTool: (name) => !['mcp', undefined].includes(agent.toolbox.sourceOf(name)),
      warn: (text) => this.#warn('mcp', [text]),
    });
    const mcp = this.#mcp;
    if (isNew) this.#hooks.put('mcp', { expand: (input, signal) => mcp.expand(input, signal) });
    if (this.#isClosed) await mcp.close();
    return mcp;
  }

  /** A failing part does not affect the others. */
  async #loadPart(name: string, load: () => Promise<void>): Promise<void> {
    try {
      await load();
    } catch (error) {
      this.#warn('agent', [`${name} could not be loaded: ${messageOf(error)}`]);
    }
  }

  #warn(source: WarningSource, messages: readonly string[]): void {
    this.#agent.warnings.report(source, messages);
  }
}
