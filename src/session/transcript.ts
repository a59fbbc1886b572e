import { messageOf, Refusal } from '../protocol/errors.ts';
import type {
  AgentMessage,
  AssistantMessage,
  ContentBlock,
  MessageEntry,
  SessionEntry,
  UserMessage,
} from '../protocol/generated/vocabulary.ts';
import type { EntryDraft, EntryNode, SessionLog } from '../store/sessions/session-log.ts';
import { contentFor, contextOf, countContext, entryMessages, isEditableRole } from './context/context.ts';
import { HostCopy } from './host-copy.ts';
import { addEntry, countEntries, type SessionCounts } from './session-stats.ts';

/** Ids that a message entry may carry. */
export interface MessageIds {
  readonly clientMessageId?: string | undefined;
  readonly queueId?: string | undefined;
}

/** New content of an entry of the conversation. */
export interface ContextReplacement {
  readonly content: string | readonly (AssistantMessage['content'][number] | ContentBlock)[];
}

/** The session file could not be written: a full disk, a lost mount. */
export class StorageFailure extends Error {
  override readonly name = 'StorageFailure';

  constructor(cause: unknown) {
    super(`Could not write the session: ${messageOf(cause)}`, { cause });
  }
}

/** The conversation and its session file. Messages are read on first use. */
export class Transcript {
  readonly log: SessionLog;
  /** Defined if the host of the agent stores the entries too. */
  readonly hostCopy: HostCopy | undefined;
  readonly #onAppend: (entry: SessionEntry) => void;
  #messages: AgentMessage[] | undefined;
  /** Length of the conversation up to the entry with this id. */
  #counted: { readonly leafId: string | null; readonly length: number } | undefined;
  #counts: SessionCounts | undefined;
  #clientMessages: Map<string, string> | undefined;
  #name: { value: string | undefined } | undefined;

  constructor(log: SessionLog, onAppend: (entry: SessionEntry) => void, { keptByHost = false } = {}) {
    this.log = log;
    this.hostCopy = keptByHost ? new HostCopy(log) : undefined;
    this.#onAppend = onAppend;
  }

  /** The conversation as the model receives it. */
  get messages(): readonly AgentMessage[] {
    this.#messages ??= contextOf(this.log.branch());
    return this.#messages;
  }

  /** Reads the entries of the branch. The conversation shares their messages, so that memory holds them once. */
  readBranch(): SessionEntry[] {
    this.#messages = undefined;
    const branch = this.log.branch();
    this.#messages = contextOf(branch);
    return branch;
  }

  get messageCount(): number {
    if (this.#messages) return this.#messages.length;
    const { leafId } = this.log;
    if (this.#counted?.leafId !== leafId) this.#counted = { leafId, length: countContext(this.log) };
    return this.#counted?.length ?? 0;
  }

  /** The latest name of the session, on any branch. */
  get name(): string | undefined {
    this.#name ??= { value: nameIn(this.log) };
    return this.#name.value;
  }

  /** Counts over every entry of the file, also those outside the context. */
  get counts(): SessionCounts {
    this.#counts ??= countEntries(this.log.entries());
    return this.#counts;
  }

  /** Stores an entry; the kernel has it when this returns. */
  append(draft: EntryDraft): SessionEntry {
    // The first messages need not be read back.
    if (!this.#messages && this.messageCount === 0) this.#messages = [];
    const entry = orStorageFailure(() => this.log.append(draft));
    if (entry.type === 'compaction' || entry.type === 'context_edit') this.#messages = undefined;
    else this.#messages?.push(...entryMessages(entry));
    return this.#onStored(entry);
  }

  /** Stores an entry below another entry than the leaf; it becomes the leaf. */
  appendBelow(parentId: string | null, draft: EntryDraft): SessionEntry {
    const entry = orStorageFailure(() => this.log.append(draft, parentId));
    this.#messages = undefined;
    return this.#onStored(entry);
  }

  /** Moves the leaf to another entry, or before the first one, and stores the move. */
  storeLeaf(id: string | null): void {
    const mark = orStorageFailure(() => this.log.storeLeaf(id));
    this.#messages = undefined;
    this.#onStored(mark);
  }

  /** Labels an entry, or removes its label. */
  setLabel(entryId: string, label: string | undefined): void {
    if (!this.log.has(entryId)) throw new Refusal('not_found', `Entry not found: ${entryId}`);
    this.append({ type: 'label', targetId: entryId, ...(label ? { label } : {}) });
  }

  /** Replaces the content of an entry of the branch in the conversation, or with null removes it from there. */
  editContext(targetId: string, replacement: ContextReplacement | null): SessionEntry {
    const role = this.checkEditable(targetId);
    const content = replacement && { content: contentFor(role, replacement.content) };
    return this.append({ type: 'context_edit', targetId, replacement: content });
  }

  /** Replaces the content of a stored user message in the conversation; the file keeps the original beside it. */
  rewordUserMessage(message: UserMessage, content: ContextReplacement['content']): void {
    const text = JSON.stringify(message);
    for (const { id } of this.log.nodesOfKind('user')) {
      const entry = this.log.entry(id);
      if (entry?.type !== 'message' || JSON.stringify(entry.message) !== text) continue;
      this.editContext(id, { content });
      return;
    }
  }

  /** Returns the role of an entry of the branch that can be edited; throws for any other entry. */
  checkEditable(targetId: string): string {
    const { type, role } = this.checkOnBranch(targetId);
    const edited = type === 'custom_message' ? 'custom' : type === 'message' ? role : undefined;
    if (edited !== undefined && isEditableRole(edited)) return edited;
    throw new Refusal('invalid_params', `Entry ${targetId} has no content to edit`);
  }

  /** Returns an entry of the branch; throws if it is elsewhere. */
  checkOnBranch(id: string): EntryNode {
    for (const node of this.log.nodes()) if (node.id === id) return node;
    throw new Refusal('not_found', `Entry ${id} is not on the active branch`);
  }

  /** Settles when everything stored so far is on the device. */
  async sync(): Promise<void> {
    await this.log.sync().catch((error: unknown) => {
      throw new StorageFailure(error);
    });
  }

  /** Call before a model or a tool runs: settles when everything stored so far is on the device and with the host. */
  async secure(signal: AbortSignal): Promise<void> {
    await this.sync();
    await this.hostCopy?.complete(signal);
  }

  /** Stores a message at the end of the conversation; returns it as the conversation holds it. */
  add(message: AgentMessage, ids: MessageIds = {}): AgentMessage {
    const entry = this.append(draftOf(message, ids));
    if (ids.clientMessageId !== undefined) this.#clientMessages?.set(ids.clientMessageId, entry.id);
    return message.role === 'custom' ? (entryMessages(entry)[0] ?? message) : message;
  }

  /** Removes the last assistant message from the conversation; it stays in the file. */
  dropAssistantMessage(): void {
    const [last] = this.log.nodesOfKind('assistant');
    if (last) this.append({ type: 'context_edit', targetId: last.id, replacement: null });
  }

  /** The stored user message with this client id, if there is one. */
  findClientMessage(clientMessageId: string): MessageEntry | undefined {
    this.#clientMessages ??= clientMessagesIn(this.log);
    const entry = this.log.entry(this.#clientMessages.get(clientMessageId) ?? '');
    return entry?.type === 'message' ? entry : undefined;
  }

  /** Whether no message follows this entry. Shell commands and dropped assistant messages do not count. */
  endsWith(entryId: string): boolean {
    const dropped = new Set<string>();
    for (const { id, type, role } of this.log.nodesOfKind('message', 'context_edit')) {
      const entry = type === 'context_edit' ? this.log.entry(id) : undefined;
      if (entry?.type === 'context_edit') dropped.add(entry.targetId);
      else if (role !== 'bashExecution' && !dropped.has(id)) return id === entryId;
    }
    return false;
  }

  #onStored(entry: SessionEntry): SessionEntry {
    if (this.#counts) addEntry(this.#counts, entry);
    if (entry.type === 'session_info') this.#name = undefined;
    this.#onAppend(entry);
    return entry;
  }
}

function draftOf(message: AgentMessage, ids: MessageIds): EntryDraft {
  if (message.role !== 'custom') return { type: 'message', ...ids, message };
  const { customType, content, display, details } = message;
  return { type: 'custom_message', customType, content, display, ...(details === undefined ? {} : { details }) };
}

function clientMessagesIn(log: SessionLog): Map<string, string> {
  const found = new Map<string, string>();
  for (const entry of log.find('"clientMessageId":')) {
    if (entry.type === 'message' && entry.clientMessageId !== undefined) found.set(entry.clientMessageId, entry.id);
  }
  return found;
}

function nameIn(log: SessionLog): string | undefined {
  const [latest] = log.allNodesOfKind('session_info');
  const entry = latest && log.entry(latest.id);
  // A file may hold anything.
  const name: unknown = entry?.type === 'session_info' ? entry.name : undefined;
  return typeof name === 'string' && name !== '' ? name : undefined;
}

function orStorageFailure<T>(write: () => T): T {
  try {
    return write();
  } catch (error) {
    if (error instanceof Refusal) throw error;
    throw new StorageFailure(error);
  }
}
