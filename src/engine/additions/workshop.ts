import { Dialogs } from '../../extend/dialogs.ts';
import { HookSet } from '../../extend/hook-set.ts';
import type { HostTools } from '../../extend/host-tools/host-tools.ts';
import type { McpServers } from '../../extend/mcp/mcp-servers.ts';
import type { Resources } from '../../extend/resources/resources.ts';
import type { StreamRules } from '../../extend/stream-rules/stream-rules.ts';
import type { Todos } from '../../extend/todos/todos.ts';
import { messageOf } from '../../protocol/errors.ts';
import type { Frame, McpServerStatus, SlashCommand, TodoPhase } from '../../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../../session/system-prompt.ts';
import type { Agent } from '../agent.ts';
import type { Connection } from '../connection.ts';
import type { BrokenFrame } from '../request.ts';
import { stageOf } from './stage.ts';

/** Where what others add to an agent is kept and put to use. */
export class Workshop {
  readonly dialogs: Dialogs;
  readonly #agent: Agent;
  readonly #hooks: HookSet;
  #folder: string;
  #todos: Promise<Todos> | undefined;
  #todosThere: Todos | undefined;
  #resources: Resources | undefined;
  #rules: StreamRules | undefined;
  #hostTools: HostTools | undefined;
  #mcp: McpServers | undefined;

  constructor(agent: Agent) {
    this.#agent = agent;
    this.#hooks = new HookSet(agent.hooks);
    this.#folder = agent.project.cwd;
    this.dialogs = new Dialogs(stageOf(agent));
  }

  /** Reads what the user and the project have put into their folders. */
  async load(_reason: 'startup' | 'reload'): Promise<void> {
    await Promise.all([this.#loadResources(), this.#loadRules()]);
  }

  /** Reads it all again. */
  async reload(): Promise<void> {
    await this.load('reload');
  }

  /** The agent is in another session. */
  async entered(): Promise<void> {
    this.#todosThere?.entered();
    const { cwd } = this.#agent.project;
    if (cwd === this.#folder) return;
    this.#folder = cwd;
    await this.load('reload');
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

  get todoPhases(): readonly TodoPhase[] {
    return this.#todosThere?.phases ?? [];
  }

  get commands(): readonly SlashCommand[] {
    return this.#resources?.commands ?? [];
  }

  get skills(): readonly SkillListing[] {
    return this.#resources?.listings ?? [];
  }

  get mcpServers(): readonly McpServerStatus[] {
    return this.#mcp?.status ?? [];
  }

  take(frame: Frame, from: Connection): void {
    if (frame.type === 'extension_ui_response') this.dialogs.answer(frame, from);
    else this.#hostTools?.take(frame, from);
  }

  /** A result that a client got wrong. */
  takeBroken({ name, id, problem }: BrokenFrame, from: Connection): void {
    if (name === 'host_tool_result') this.#hostTools?.broken(id, problem, from);
  }

  arrived(client: Connection): void {
    this.dialogs.showTo(client);
    this.dialogs.stageChanged();
  }

  deafTo(client: Connection): void {
    this.#hostTools?.left(client);
    this.dialogs.stageChanged();
  }

  async close(): Promise<void> {
    this.dialogs.dismissAll('shutdown');
    this.#todosThere?.close();
    await this.#mcp?.close();
  }

  async #loadTodos(): Promise<Todos> {
    const { Todos } = await import('../../extend/todos/todos.ts');
    const agent = this.#agent;
    const todos = new Todos({
      transcript: () => agent.session.transcript,
      publish: (event) => agent.audience.publish(event),
      change: (work) => agent.change(work),
    });
    this.#hooks.put('todos', todos.hooks);
    this.#todosThere = todos;
    return todos;
  }

  async #loadResources(): Promise<void> {
    const { Resources } = await import('../../extend/resources/resources.ts');
    const { agentDir, home, cwd, settings, wishes } = this.#agent.surroundings;
    const resources = new Resources(
      {
        agentDir,
        home,
        cwd,
        skillPaths: [...(settings.skills ?? []), ...(wishes.skills ?? [])],
        promptPaths: [...(settings.prompts ?? []), ...(wishes.promptTemplates ?? [])],
        findSkills: wishes.findSkills ?? true,
        findTemplates: wishes.findPromptTemplates ?? true,
      },
      (path, event, error) => this.#failed(path, event, error),
    );
    this.#resources = resources;
    this.#hooks.put('resources', resources.hooks);
    this.#warn(resources.warnings);
  }

  async #loadRules(): Promise<void> {
    const { StreamRules } = await import('../../extend/stream-rules/stream-rules.ts');
    const agent = this.#agent;
    const rules = new StreamRules(
      { agentDir: agent.surroundings.agentDir, cwd: agent.project.cwd, trusted: agent.project.trusted },
      {
        transcript: () => agent.session.transcript,
        settings: () => agent.project.settings,
        publish: (event) => agent.audience.publish(event),
      },
    );
    this.#rules = rules;
    this.#hooks.put('rules', rules.hooks);
    this.#warn(this.#rules.warnings);
  }

  #failed(extensionPath: string, event: string, error: unknown): void {
    this.#agent.audience.publish({ type: 'extension_error', extensionPath, event, error: messageOf(error) });
  }

  #warn(warnings: readonly string[]): void {
    for (const warning of warnings) process.stderr.write(`tau: ${warning}\n`);
  }
}
