import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../protocol/errors.ts';
import { type FoldersResponse, listFolders } from '../server-api.ts';

/** A folder in the list. */
export interface FolderChoice {
  readonly name: string;
  readonly path: string;
}

/** Browses folders: the typed path, and the subfolders that match its end. */
export class FolderBrowser {
  readonly #typed = signal('');
  readonly #listing = signal<FoldersResponse | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #chosen = signal(-1);
  /** The parent, and folders whose names start with the text after the last slash. */
  readonly choices: ReadonlySignal<readonly FolderChoice[]>;
  /** The query that was requested last. */
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

  /** The last error. */
  get problem(): ReadonlySignal<string | undefined> {
    return this.#problem;
  }

  /** The index of the chosen folder; -1 for none. */
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

  /** Enters a folder: the chosen one, or the typed one. */
  enter(path = this.choices.value[this.#chosen.value]?.path ?? this.#typed.value): void {
    this.type(withSlash(path));
  }

  /** Returns the typed folder if the server accepts it. */
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

// The text after the last slash.
const nameIn = (path: string) => path.slice(path.lastIndexOf('/') + 1);

// The text up to the last slash; a bare tilde is a folder.
const folderIn = (path: string) =>
  (path.startsWith('~') && !path.includes('/') ? '~' : path.slice(0, path.lastIndexOf('/') + 1)) || './';

// The folder to list, with a dot appended when a hidden name is being typed.
const queryOf = (path: string) => `${folderIn(path)}${nameIn(path).startsWith('.') ? '.' : ''}`;

function choicesIn(listing: FoldersResponse | undefined, name: string): readonly FolderChoice[] {
  if (!listing) return [];
  const prefix = name.toLowerCase();
  const folders = listing.folders.filter((folder) => folder.name.toLowerCase().startsWith(prefix));
  return listing.parent !== undefined && name === '' ? [{ name: '..', path: listing.parent }, ...folders] : folders;
}

const firstFolder = (choices: readonly FolderChoice[]) => choices.findIndex(({ name }) => name !== '..');
