import { dirname } from 'node:path';
import type { AgentMessage, SessionEntry, SessionHeader } from '../../../protocol/generated/vocabulary.ts';
import { contextOf } from '../../../session/context/context.ts';
import type { Session } from '../../../session/session.ts';

export interface TreeNode {
  entry: SessionEntry;
  children: TreeNode[];
  label?: string | undefined;
}

/** The current session in pi's shape, read-only: `ctx.sessionManager`. */
export class SessionView {
  readonly #session: () => Session;

  constructor(session: () => Session) {
    this.#session = session;
  }

  get #log() {
    return this.#session().log;
  }

  isPersisted = (): boolean => this.#log.path !== undefined;
  getCwd = (): string => this.#log.header.cwd;
  getSessionDir = (): string => (this.#log.path === undefined ? '' : dirname(this.#log.path));
  getSessionId = (): string => this.#log.header.id;
  getSessionFile = (): string | undefined => this.#log.path;
  getSessionName = (): string | undefined => this.#session().transcript.name;
  getHeader = (): SessionHeader => ({ ...this.#log.header });
  getLeafId = (): string | null => this.#log.leafId;
  getLeafEntry = (): SessionEntry | undefined => this.getEntry(this.#log.leafId ?? '');
  getEntry = (id: string): SessionEntry | undefined => this.#log.entry(id);
  getEntries = (): SessionEntry[] => this.#log.entries();
  getEntryCount = (): number => this.#log.size;
  /** The entries from the root to this entry, or to the leaf. */
  getBranch = (fromId?: string): SessionEntry[] => this.#log.branch(fromId);
  getChildren = (parentId: string): SessionEntry[] =>
    this.#log.entries().filter(({ id }) => this.#log.parentOf(id) === parentId);
  getLabel = (id: string): string | undefined => this.#labels().get(id);
  buildContextEntries = (): SessionEntry[] => this.#log.branch();

  buildSessionContext = () => {
    const { choice } = this.#session();
    return {
      messages: contextOf(this.#log.branch()) as AgentMessage[],
      thinkingLevel: choice.thinkingLevel,
      model: choice.model && { provider: choice.model.provider, modelId: choice.model.id },
    };
  };

  getTree = (): TreeNode[] => {
    const labels = this.#labels();
    const nodes = new Map<string, TreeNode>();
    for (const entry of this.#log.entries()) nodes.set(entry.id, { entry, children: [], label: labels.get(entry.id) });
    const roots: TreeNode[] = [];
    for (const [id, node] of nodes) (nodes.get(this.#log.parentOf(id) ?? '')?.children ?? roots).push(node);
    return roots;
  };

  #labels(): Map<string, string> {
    const labels = new Map<string, string>();
    for (const entry of this.#log.entries()) {
      if (entry.type !== 'label') continue;
      if (entry.label === undefined) labels.delete(entry.targetId);
      else labels.set(entry.targetId, entry.label);
    }
    return labels;
  }
}
