import { TODOS_TYPE } from '../../extend/todos/entry-type.ts';
import type { Todos } from '../../extend/todos/todos.ts';
import { messageOf } from '../../protocol/errors.ts';
import type {
  ExtensionUiRequestEvent,
  Frame,
  McpServerStatus,
  SlashCommand,
  TodoPhase,
} from '../../protocol/generated/vocabulary.ts';
import type { SkillListing } from '../../session/context/system-prompt.ts';
import type { SessionLog } from '../../store/sessions/session-log.ts';
import type { MalformedFrame } from '../../wire/inbound.ts';
import type { Agent } from '../agent.ts';
import type { ClientConnection } from '../client-connection.ts';
import type { Addons } from './addons.ts';
import { hasAddons } from './detect.ts';

/**
 * Loads add-ons (extensions, skills, rules, tools of clients) on first use: an agent without any loads no code for
 * them.
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

  /** Undefined until the first add-on is needed. */
  get loaded(): Addons | undefined {
    return this.#addons;
  }

  /** Imports the add-ons on first use. */
  ensureLoaded(): Promise<Addons> {
    this.#importing ??= import('./addons.ts').then(({ Addons }) => {
      this.#addons = new Addons(this.#agent);
      return this.#addons;
    });
    return this.#importing;
  }

  /** Loads the add-ons once, if any exist. */
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

  /** Defined while the add-ons of the start are loading. */
  get loading(): Promise<void> | undefined {
    return this.#loading;
  }

  /** Loads what the stored session needs before the agent switches to it. */
  async prepareFor(log: SessionLog): Promise<void> {
    if (log.count(TODOS_TYPE) > 0) await this.todos();
  }

  async onSessionSwitched(): Promise<void> {
    if (this.#addons || hasAddons(this.#agent.addonPaths)) await (await this.ensureLoaded()).onSessionSwitched();
  }

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

  /** Undefined if there are none. */
  get mcpServers(): McpServerStatus[] | undefined {
    const servers = this.#addons?.mcpServers ?? [];
    return servers.length > 0 ? [...servers] : undefined;
  }

  /** Skills that the model may choose by itself. */
  get skills(): readonly SkillListing[] {
    return this.#addons?.skills ?? [];
  }

  get commands(): readonly SlashCommand[] {
    return this.#addons?.commands ?? [];
  }

  handleFrame(frame: Frame, from: ClientConnection): void {
    this.#addons?.handleFrame(frame, from);
  }

  handleMalformedFrame(frame: MalformedFrame, from: ClientConnection): void {
    this.#addons?.handleMalformedFrame(frame, from);
  }

  /** Called if a client connected, disconnected or announced its dialogs. */
  onClientsChanged(): void {
    this.#addons?.dialogs.clientsChanged();
  }

  /** Shows pending dialogs to a new client. */
  onClientConnected(client: ClientConnection): void {
    this.#addons?.onClientConnected(client);
  }

  /** Called if a client will send nothing more. */
  onInputClosed(client: ClientConnection): void {
    this.#addons?.onInputClosed(client);
  }

  /** Publishes the failure of an extension. */
  publishError(extensionPath: string, event: string, error: unknown): void {
    this.#agent.broadcast.publish({ type: 'extension_error', extensionPath, event, error: messageOf(error) });
  }

  /** An abort dismisses all dialogs. */
  dismissDialogs(): void {
    this.#addons?.dialogs.dismissAll('abort');
  }

  async close(): Promise<void> {
    await (await this.#importing)?.close();
  }
}
