import { join } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import type { SavedApproval } from '../../protocol/generated/vocabulary.ts';
import { isObject } from '../../protocol/json.ts';
import { realPath } from '../../system/files/real-path.ts';
import { changeJsonFile } from '../change-json-file.ts';
import { readJsonObject } from '../json-file.ts';

// The oldest approval of a project goes.
const MAX_SAVED_APPROVALS = 500;

/** An approval that was saved for a project. */
export type ProjectApproval = SavedApproval & { readonly scope: 'project' };

/**
 * Stores the approvals that the user saved: `approvals.json` in the agent folder, by the real path of the project.
 *
 * Every call reads the file, so processes see each other's approvals. A malformed file allows nothing and is never
 * written.
 */
export class ApprovalsFile {
  readonly #path: string;

  constructor(agentDir: string) {
    this.#path = join(agentDir, NAME);
  }

  /** The approvals for exactly this folder, oldest first. Never throws: problems are warnings. */
  list(cwd: string): { approvals: ProjectApproval[]; warnings: string[] } {
    try {
      const saved = savedIn(readJsonObject(this.#path) ?? {}, realPath(cwd));
      const approvals = saved.filter(isApproval).map(({ rule, at }): ProjectApproval => {
        return { rule, scope: 'project', ...(typeof at === 'string' ? { at } : {}) };
      });
      const broken = saved.length - approvals.length;
      const warning = `${this.#path}: ${broken} approvals of ${cwd} cannot be read; they are ignored`;
      return { approvals, warnings: broken === 0 ? [] : [warning] };
    } catch (error) {
      return { approvals: [], warnings: [`${this.#path}: ${messageOf(error)}; it allows nothing`] };
    }
  }

  /** Saves a rule once. Rejects if the file cannot be read or written. */
  async add(cwd: string, rule: string): Promise<void> {
    const at = new Date().toISOString();
    await this.#change(cwd, (before) =>
      before.some((one) => isApproval(one) && one.rule === rule)
        ? before
        : [...before, { rule, at }].slice(-MAX_SAVED_APPROVALS),
    );
  }

  /** Removes a rule; false if it was not saved. Rejects if the file cannot be read or written. */
  async remove(cwd: string, rule: string): Promise<boolean> {
    let isRemoved = false;
    await this.#change(cwd, (before) => {
      const after = before.filter((one) => !isApproval(one) || one.rule !== rule);
      isRemoved = after.length < before.length;
      return isRemoved ? after : before;
    });
    return isRemoved;
  }

  async #change(cwd: string, change: (before: readonly unknown[]) => readonly unknown[]): Promise<void> {
    const project = realPath(cwd);
    await changeJsonFile(
      this.#path,
      (file) => {
        const before = savedIn(file, project);
        const after = change(before);
        if (after === before) return file;
        const others = Object.entries(file).filter(([folder]) => folder !== project);
        return Object.fromEntries(after.length === 0 ? others : [...others, [project, after]]);
      },
      { mode: 0o600, name: NAME },
    );
  }
}

const NAME = 'approvals.json';

/** Throws if something else than a list is there: it must not be overwritten. */
function savedIn(file: object, project: string): readonly unknown[] {
  const saved: unknown = Object.hasOwn(file, project) ? (file as Record<string, unknown>)[project] : [];
  if (!Array.isArray(saved)) throw new Error(`the approvals of ${project} are no list`);
  return saved;
}

const isApproval = (value: unknown): value is { rule: string; at?: unknown } =>
  isObject(value) && typeof value['rule'] === 'string' && value['rule'] !== '';
