import { dirname } from 'node:path';
import type { AgentMessage, SessionEntry, SessionHeader } from '../../../protocol/generated/vocabulary.ts';
import type { Session } from '../../../session/session.ts';
import type { EntryDraft } from '../../../store/sessions/session-log.ts';
import { buildContextEntries, buildSessionContext, buildSessionProjection } from './session-entries.ts';

export interface TreeNode {
  entry: SessionEntry;
  children: TreeNode[];
  label?: string | undefined;
  /** ISO 8601. */
  labelTimestamp?: string | undefined;
}

/** The entries of one session: of an agent, or of a session without one. */
export interface SessionEntries {
  readonly header: SessionHeader;
  /** Undefined for a session in memory. */
  readonly path: string | undefined;
  readonly name: string | undefined;
  readonly leafId: string | null;
  /** The model and thinking level of the agent; without an agent they follow from the entries. */
  readonly choice: SessionChoice | undefined;
  entry(id: string): SessionEntry | undefined;
  /** Null for roots, for entries whose parent is missing, and where a cycle was cut. */
  parentOf(id: string): string | null;
  /** The number of entries of all branches. */
  readonly size: number;
  /** All branches, in file order. */
  entries(): SessionEntry[];
  /** From the root to this entry, or to the leaf. */
  branch(leafId?: string | null): SessionEntry[];
  /** Appends below the leaf, or below `parentId`. */
  append(draft: EntryDraft, parentId?: string | null): SessionEntry;
  /** Moves the leaf; null: before the first entry. */
  moveLeaf(id: string | null): void;
}

interface SessionChoice {
  readonly thinkingLevel: string;
  readonly model: { readonly provider: string; readonly modelId: string } | null;
}

/** The session of an agent, which follows it from session to session. */
export function agentEntries(session: () => Session): SessionEntries {
  return {
    get header() {
      return session().log.header;
    },
    get path() {
      return session().log.path;
    },
    get name() {
      return session().transcript.name;
    },
    get leafId() {
      return session().log.leafId;
    },
    get size() {
      return session().log.size;
    },
    get choice() {
      const { thinkingLevel, model } = session().choice;
      return { thinkingLevel, model: model ? { provider: model.provider, modelId: model.id } : null };
    },
    entry: (id) => session().log.entry(id),
    parentOf: (id) => session().log.parentOf(id),
    entries: () => session().log.entries(),
    branch: (leafId) => session().log.branch(leafId),
    append: (draft, parentId) => {
      const { transcript } = session();
      return parentId === undefined ? transcript.append(draft) : transcript.appendBelow(parentId, draft);
    },
    moveLeaf: (id) => session().transcript.storeLeaf(id),
  };
}

/** A session in pi's shape, read-only: `ctx.sessionManager`. */
export class SessionView {
  readonly #session: () => SessionEntries;

  constructor(session: () => SessionEntries) {
    this.#session = session;
  }

  isPersisted = (): boolean => this.#session().path !== undefined;
  getCwd = (): string => this.#session().header.cwd;
  getSessionDir = (): string => {
    const { path } = this.#session();
    return path === undefined ? '' : dirname(path);
  };
  getSessionId = (): string => this.#session().header.id;
  getSessionFile = (): string | undefined => this.#session().path;
  getSessionName = (): string | undefined => this.#session().name;
  getHeader = (): SessionHeader => ({ ...this.#session().header });
  getLeafId = (): string | null => this.#session().leafId;
  getLeafEntry = (): SessionEntry | undefined => this.getEntry(this.getLeafId() ?? '');
  getEntry = (id: string): SessionEntry | undefined => this.#session().entry(id);
  getEntries = (): SessionEntry[] => this.#session().entries();
  getEntryCount = (): number => this.#session().size;
  /** The entries from the root to this entry, or to the leaf. */
  getBranch = (fromId?: string): SessionEntry[] => this.#session().branch(fromId);
  getChildren = (parentId: string): SessionEntry[] =>
    this.getEntries().filter(({ id }) => this.#session().parentOf(id) === parentId);
  getLabel = (id: string): string | undefined => this.#labels().get(id)?.label;

  /** The entries of the branch since its last compaction, which comes first. */
  buildContextEntries = (): SessionEntry[] => buildContextEntries(this.#session().branch());
  /** Those entries with the messages that the model gets for each. */
  buildSessionProjection = () => ({ ...buildSessionProjection(this.#session().branch()), ...this.#session().choice });
  buildSessionContext = (): { messages: AgentMessage[] } & SessionChoice => ({
    ...buildSessionContext(this.#session().branch()),
    ...this.#session().choice,
  });

  getTree = (): TreeNode[] => {
    const labels = this.#labels();
    const nodes = new Map<string, TreeNode>();
    for (const entry of this.getEntries()) nodes.set(entry.id, { entry, children: [], ...labels.get(entry.id) });
    const roots: TreeNode[] = [];
    for (const [id, node] of nodes) (nodes.get(this.#session().parentOf(id) ?? '')?.children ?? roots).push(node);
    return roots;
  };

  #labels(): Map<string, { label: string; labelTimestamp: string }> {
    const labels = new Map<string, { label: string; labelTimestamp: string }>();
    for (const entry of this.getEntries()) {
      if (entry.type !== 'label') continue;
      if (entry.label) labels.set(entry.targetId, { label: entry.label, labelTimestamp: entry.timestamp });
      else labels.delete(entry.targetId);
    }
    return labels;
  }
}
