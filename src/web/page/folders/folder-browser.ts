import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../protocol/errors.ts';
import { type FoldersResponse, listFolders } from '../server-api.ts';

/** A folder that can be gone into. */
export interface FolderChoice {
  readonly name: string;
  readonly path: string;
}

/** The way to a folder: what is typed of its path, and what there is at the end of it. */
export class FolderBrowser {
  readonly #typed = signal('');
  readonly #listing = signal<FoldersResponse | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #chosen = signal(-1);
  /** Those whose names begin with what stands behind the last slash, after the way up. */
  readonly choices: ReadonlySignal<readonly FolderChoice[]>;
  /** What is looked at, or on its way. */
  #requested: string | undefined;

  constructor() {
    this.choices = computed(() => choicesIn(this.#listing.value, nameIn(this.#typed.value)));
    void this.#load(undefined);
  }

  get typed(): ReadonlySignal<string> {
    return this.#typed;
  }

  get listing(): ReadonlySignal<FoldersResponse | undefined> {
    return this.#listing;
  }

  /** Why a folder cannot be looked into. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** The place among the choices; -1: none of them. */
  get chosen(): ReadonlySignal<number> {
    return this.#chosen;
  }

  type(path: string): void {
    this.#typed.value = path;
    this.#chosen.value = nameIn(path) === '' ? -1 : firstFolder(this.choices.value);
    const query = queryOf(path);
    if (query !== this.#requested) void this.#load(query);
  }

  step(by: 1 | -1): void {
    const { length } = this.choices.value;
    this.#chosen.value = Math.max(-1, Math.min(length - 1, this.#chosen.value + by));
  }

  /** Goes into a folder: the chosen one, or the one that is typed. */
  enter(path = this.choices.value[this.#chosen.value]?.path ?? this.#typed.value): void {
    this.type(withSlash(path));
  }

  /** The folder that is typed, if a session can begin there. */
  async validate(): Promise<string | undefined> {
    try {
      return (await listFolders(this.#typed.value || undefined, { hidden: false })).path;
    } catch (error) {
      this.#problem.value = messageOf(error);
      return undefined;
    }
  }

  async #load(query: string | undefined): Promise<void> {
    this.#requested = query;
    try {
      const listing = await listFolders(query && folderIn(query), { hidden: query?.endsWith('.') ?? false });
      if (this.#requested !== query) return;
      this.#listing.value = listing;
      this.#problem.value = undefined;
      if (query === undefined && this.#typed.value === '') {
        this.#typed.value = withSlash(listing.path);
        this.#requested = queryOf(this.#typed.value);
      }
      if (nameIn(this.#typed.value) !== '') this.#chosen.value = firstFolder(this.choices.value);
    } catch (error) {
      if (this.#requested !== query) return;
      this.#listing.value = undefined;
      this.#problem.value = messageOf(error);
    }
  }
}

const withSlash = (path: string) => (path.endsWith('/') ? path : `${path}/`);

/** What stands behind the last slash. */
const nameIn = (path: string) => path.slice(path.lastIndexOf('/') + 1);

/** What stands before the last slash, with it; a bare tilde is a whole way. */
const folderIn = (path: string) =>
  (path.startsWith('~') && !path.includes('/') ? '~' : path.slice(0, path.lastIndexOf('/') + 1)) || './';

/** The folder to ask for, and a dot behind it for those who type the name of a hidden one. */
const queryOf = (path: string) => `${folderIn(path)}${nameIn(path).startsWith('.') ? '.' : ''}`;

function choicesIn(listing: FoldersResponse | undefined, name: string): readonly FolderChoice[] {
  if (!listing) return [];
  const prefix = name.toLowerCase();
  const folders = listing.folders.filter((folder) => folder.name.toLowerCase().startsWith(prefix));
  return listing.parent !== undefined && name === '' ? [{ name: '..', path: listing.parent }, ...folders] : folders;
}

const firstFolder = (choices: readonly FolderChoice[]) => choices.findIndex(({ name }) => name !== '..');
