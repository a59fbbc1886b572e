import { Refusal } from '../../../protocol/errors.ts';
import type { AgentMessage, ContentBlock, SessionEntry, Usage } from '../../../protocol/generated/vocabulary.ts';
import type { EntryDraft } from '../../../store/sessions/session-log.ts';
import { parseCustomMessage, parseMessages, plainCopy } from '../hooks/validate-results.ts';
import { type SessionEntries, SessionView } from './session-view.ts';

type Content = string | ContentBlock[];
type UsageEntry = Extract<SessionEntry, { type: 'usage' }>;

/** A session in pi's shape that can be written. Each method stores its entry before it returns. */
export class SessionWriter extends SessionView {
  readonly #session: () => SessionEntries;

  constructor(session: () => SessionEntries) {
    super(session);
    this.#session = session;
  }

  appendMessage = (message: AgentMessage): string => {
    const { content } = message as { content?: unknown };
    const blocks = message.role === 'user' && typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    const [checked] = parseMessages([
      plainCopy({ ...message, content: blocks, timestamp: message.timestamp ?? Date.now() }),
    ]);
    return this.#append({ type: 'message', message: checked as AgentMessage });
  };

  appendThinkingLevelChange = (thinkingLevel: string): string =>
    this.#append({ type: 'thinking_level_change', thinkingLevel: String(thinkingLevel) });

  appendModelChange = (provider: string, modelId: string): string =>
    this.#append({ type: 'model_change', provider: String(provider), modelId: String(modelId) });

  appendUsage = (...[kind, provider, model, usage, note]: UsageArguments): UsageEntry => {
    const draft = { type: 'usage', kind, provider, model, ...plainCopy({ usage, note }) } as const;
    return this.#session().append(draft) as UsageEntry;
  };

  /** `firstKeptEntryId` null: no earlier entry is kept. */
  appendCompaction = (...args: CompactionArguments): string => {
    const [summary, firstKeptEntryId, tokensBefore, details, fromHook, usage] = args;
    const optional = plainCopy({ details, fromHook, usage });
    return this.#append({
      type: 'compaction',
      summary: String(summary),
      firstKeptEntryId: firstKeptEntryId === null ? '' : this.#known(firstKeptEntryId),
      tokensBefore,
      ...optional,
    });
  };

  appendCustomEntry = (customType: string, data?: unknown): string =>
    this.#append({ type: 'custom', customType: String(customType), ...plainCopy({ data }) });

  appendCustomMessageEntry = (...args: CustomMessageArguments): string => {
    const [customType, content, display = true, details] = args;
    const checked = parseCustomMessage({ customType, content, display, details });
    return this.#append({ type: 'custom_message', ...checked });
  };

  appendContextEdit = (targetId: string, replacement: { content: Content } | null): string =>
    this.#append({ type: 'context_edit', targetId: this.#known(targetId), replacement: plainCopy(replacement) });

  appendSessionInfo = (name: string): string => this.#append({ type: 'session_info', name: String(name) });

  /** An empty or missing label removes that of the entry. */
  appendLabelChange = (targetId: string, label: string | undefined): string =>
    this.#append({ type: 'label', targetId: this.#known(targetId), ...(label ? { label: String(label) } : {}) });

  /** The next entry follows this one. */
  branch = (branchFromId: string): void => this.#session().moveLeaf(this.#known(branchFromId));
  /** The next entry becomes a root. */
  resetLeaf = (): void => this.#session().moveLeaf(null);

  /** Continues from an entry with a summary of the branch that is left. */
  branchWithSummary = (...[branchFromId, summary, details, fromHook, usage]: BranchArguments): string => {
    const parentId = branchFromId === null ? null : this.#known(branchFromId);
    const optional = plainCopy({ details, fromHook, usage });
    const draft = {
      type: 'branch_summary',
      fromId: parentId ?? 'root',
      summary: String(summary),
      ...optional,
    } as const;
    return this.#session().append(draft as EntryDraft, parentId).id;
  };

  #append(draft: EntryDraft): string {
    return this.#session().append(draft).id;
  }

  #known(id: string): string {
    if (!this.#session().entry(id)) throw new Refusal('not_found', `Entry not found: ${id}`);
    return id;
  }
}

type UsageArguments = [kind: string, provider: string, model: string, usage: Usage, note?: string];
type CompactionArguments = [
  summary: string,
  firstKeptEntryId: string | null,
  tokensBefore: number,
  details?: unknown,
  fromHook?: boolean,
  usage?: Usage,
];
type CustomMessageArguments = [customType: string, content: Content, display?: boolean, details?: unknown];
type BranchArguments = [
  branchFromId: string | null,
  summary: string,
  details?: unknown,
  fromHook?: boolean,
  usage?: Usage,
];
