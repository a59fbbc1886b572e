import { TODOS } from '../extend/todos/entry-type.ts';
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
import { isAnythingAdded } from './additions/sign.ts';
import type { Workshop } from './additions/workshop.ts';
import type { Agent } from './agent.ts';
import type { Connection } from './connection.ts';

/**
 * What users, projects and clients add to the agent: extensions, skills, rules, tools. Until there is something to add
 * nothing of it is loaded.
 */
export class Additions {
  readonly #agent: Agent;
  #coming: Promise<Workshop> | undefined;
  #workshop: Workshop | undefined;
  #loading: Promise<void> | undefined;
  #hasStarted = false;

  constructor(agent: Agent) {
    this.#agent = agent;
  }

  /** There once something was added. */
  get workshop(): Workshop | undefined {
    return this.#workshop;
  }

  /** For whoever is about to add something. */
  need(): Promise<Workshop> {
    this.#coming ??= import('./additions/workshop.ts').then(({ Workshop }) => {
      this.#workshop = new Workshop(this.#agent);
      return this.#workshop;
    });
    return this.#coming;
  }

  /** Loads what there is, once, if there is anything. */
  start(): Promise<void> | undefined {
    if (this.#hasStarted || !isAnythingAdded(this.#agent.surroundings)) return this.#loading;
    this.#hasStarted = true;
    this.#loading = this.need()
      .then((workshop) => workshop.load('startup'))
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
  async prepare(log: SessionLog): Promise<void> {
    if (log.count(TODOS) > 0) await this.todos();
  }

  /** The agent is in another session, or in another folder. */
  async entered(): Promise<void> {
    if (this.#workshop || isAnythingAdded(this.#agent.surroundings)) await (await this.need()).entered();
  }

  /** The project is trusted now, or no longer. */
  async trustChanged(): Promise<void> {
    if (this.#workshop || isAnythingAdded(this.#agent.surroundings)) await (await this.need()).reload();
  }

  async todos(): Promise<Todos> {
    return (await this.need()).todos();
  }

  get todoPhases(): readonly TodoPhase[] {
    return this.#workshop?.todoPhases ?? [];
  }

  get pendingUi(): readonly ExtensionUiRequestEvent[] {
    return this.#workshop?.dialogs.pending ?? [];
  }

  /** Undefined when there are none. */
  get mcpServers(): McpServerStatus[] | undefined {
    const servers = this.#workshop?.mcpServers ?? [];
    return servers.length > 0 ? [...servers] : undefined;
  }

  /** Those that the model may choose by itself. */
  get skills(): readonly SkillListing[] {
    return this.#workshop?.skills ?? [];
  }

  get commands(): readonly SlashCommand[] {
    return this.#workshop?.commands ?? [];
  }

  /** What a client says beside its commands. */
  take(frame: Frame, from: Connection): void {
    this.#workshop?.take(frame, from);
  }

  /** A result of a tool that makes no sense. */
  takeBroken(broken: MalformedFrame, from: Connection): void {
    this.#workshop?.takeBroken(broken, from);
  }

  /** A client has come, has gone, or has said what it can show. */
  stageChanged(): void {
    this.#workshop?.dialogs.stageChanged();
  }

  /** A client can be spoken to: it is shown what waits for an answer. */
  arrived(client: Connection): void {
    this.#workshop?.arrived(client);
  }

  /** A client can no longer be heard. */
  deafTo(client: Connection): void {
    this.#workshop?.deafTo(client);
  }

  /** Tells clients that an extension failed; nobody else is hurt. */
  failed(extensionPath: string, event: string, error: unknown): void {
    this.#agent.audience.publish({ type: 'extension_error', extensionPath, event, error: messageOf(error) });
  }

  /** An abort leaves no question open. */
  abort(): void {
    this.#workshop?.dialogs.dismissAll('abort');
  }

  async close(): Promise<void> {
    await (await this.#coming)?.close();
  }
}
