import { TODOS_TYPE } from '../extend/todos/entry-type.ts';
import type { Todos } from '../extend/todos/todos.ts';
import { messageOf } from '../protocol/errors.ts';
import type {
  ExtensionUiRequestEvent,
  Frame,
  McpServerStatus,
  SlashCommand,
  TodoPhase,
} from '../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../session/context/system-prompt.ts';
import type { SessionLog } from '../store/sessions/session-log.ts';
import type { MalformedFrame } from '../wire/inbound.ts';
import { hasAddons } from './addons/detect.ts';
import type { Addons } from './addons/addons.ts';
import type { Agent } from './agent.ts';
import type { ClientConnection } from './client-connection.ts';

/**
 * What users, projects and clients add to the agent: extensions, skills, rules, tools. Until there is something to add
 * nothing of it is loaded.
 */
export class LazyAddons {
  readonly #agent: Agent;
  #importing: Promise<Addons> | undefined;
  #addons: Addons | undefined;
  #loading: Promise<void> | undefined;
  #hasStarted = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** There once something was added. */
  get loaded(): Addons | undefined {
    return this.#addons;
  }

  /** For whoever is about to add something. */
  ensureLoaded(): Promise<Addons> {
    this.#importing ??= import('./addons/addons.ts').then(({ Addons }) => {
      this.#addons = new Addons(this.#agent);
      return this.#addons;
    });
    return this.#importing;
  }

  /** Loads what there is, once, if there is anything. */
  start(): Promise<void> | undefined {
    if (this.#hasStarted || !hasAddons(this.#agent.addonPaths)) return this.#loading;
    this.#hasStarted = true;
    this.#loading = this.ensureLoaded()
      .then((addons) => addons.load('startup'))
      .finally(() => {
        this.#loading = undefined;
      });
    return this.#loading;
  }

  /** There while what was found at the start is being loaded. */
  get loading(): Promise<void> | undefined {
    return this.#loading;
  }

  /** A session is about to be entered: what it has stored must be there when somebody asks for it. */
  async prepareFor(log: SessionLog): Promise<void> {
    if (log.count(TODOS_TYPE) > 0) await this.todos();
  }

  /** The agent is in another session, or in another folder. */
  async onSessionSwitched(): Promise<void> {
    if (this.#addons || hasAddons(this.#agent.addonPaths)) await (await this.ensureLoaded()).onSessionSwitched();
  }

  /** The project is trusted now, or no longer. */
  async onTrustChanged(): Promise<void> {
    if (this.#addons || hasAddons(this.#agent.addonPaths)) await (await this.ensureLoaded()).reload();
  }

  async todos(): Promise<Todos> {
    return (await this.ensureLoaded()).todos();
  }

  get todoPhases(): readonly TodoPhase[] {
    return this.#addons?.todoPhases ?? [];
  }

  get pendingUi(): readonly ExtensionUiRequestEvent[] {
    return this.#addons?.dialogs.pending ?? [];
  }

  /** Undefined when there are none. */
  get mcpServers(): McpServerStatus[] | undefined {
    const servers = this.#addons?.mcpServers ?? [];
    return servers.length > 0 ? [...servers] : undefined;
  }

  /** Those that the model may choose by itself. */
  get skills(): readonly SkillListing[] {
    return this.#addons?.skills ?? [];
  }

  get commands(): readonly SlashCommand[] {
    return this.#addons?.commands ?? [];
  }

  /** What a client says beside its commands. */
  handleFrame(frame: Frame, from: ClientConnection): void {
    this.#addons?.handleFrame(frame, from);
  }

  /** A result of a tool that makes no sense. */
  handleMalformedFrame(frame: MalformedFrame, from: ClientConnection): void {
    this.#addons?.handleMalformedFrame(frame, from);
  }

  /** A client has come, has gone, or has said what it can show. */
  onClientsChanged(): void {
    this.#addons?.dialogs.clientsChanged();
  }

  /** A client can be spoken to: it is shown what waits for an answer. */
  onClientConnected(client: ClientConnection): void {
    this.#addons?.onClientConnected(client);
  }

  /** A client can no longer be heard. */
  onInputClosed(client: ClientConnection): void {
    this.#addons?.onInputClosed(client);
  }

  /** Tells clients that an extension failed; nobody else is hurt. */
  publishError(extensionPath: string, event: string, error: unknown): void {
    this.#agent.broadcast.publish({ type: 'extension_error', extensionPath, event, error: messageOf(error) });
  }

  /** An abort leaves no question open. */
  dismissDialogs(): void {
    this.#addons?.dialogs.dismissAll('abort');
  }

  async close(): Promise<void> {
    await (await this.#importing)?.close();
  }
}
