import { computed, type ReadonlySignal, signal } from '@preact/signals';
import { messageOf } from '../../../protocol/errors.ts';
import { type FolderListing, listFolders } from '../entrance/server.ts';

/** A folder that can be gone into. */
export interface Choice {
  readonly name: string;
  readonly path: string;
}

/** The way to a folder: what is typed of its path, and what there is at the end of it. */
export class FolderBrowser {
  readonly #typed = signal('');
  readonly #listing = signal<FolderListing | undefined>(undefined);
  readonly #problem = signal<string | undefined>(undefined);
  readonly #chosen = signal(-1);
  /** Those whose names begin with what stands behind the last slash, after the way up. */
  readonly choices: ReadonlySignal<readonly Choice[]>;
  /** What is looked at, or on its way. */
  #asked: string | undefined;

  constructor() {
    this.choices = computed(() => choicesIn(this.#listing.value, nameIn(this.#typed.value)));
    void this.#look(undefined);
  }

  get typed(): ReadonlySignal<string> {
    return this.#typed;
  }

  get listing(): ReadonlySignal<FolderListing | undefined> {
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
    const query = questionOf(path);
    if (query !== this.#asked) void this.#look(query);
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
  async settle(): Promise<string | undefined> {
    try {
      return (await listFolders(this.#typed.value || undefined, { hidden: false })).path;
    } catch (error) {
      this.#problem.value = messageOf(error);
      return undefined;
    }
  }

  async #look(query: string | undefined): Promise<void> {
    this.#asked = query;
    try {
      const listing = await listFolders(query && folderIn(query), { hidden: query?.endsWith('.') ?? false });
      if (this.#asked !== query) return;
      this.#listing.value = listing;
      this.#problem.value = undefined;
      if (query === undefined && this.#typed.value === '') {
        this.#typed.value = withSlash(listing.path);
        this.#asked = questionOf(this.#typed.value);
      }
      if (nameIn(this.#typed.value) !== '') this.#chosen.value = firstFolder(this.choices.value);
    } catch (error) {
      if (this.#asked !== query) return;
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
const questionOf = (path: string) => `${folderIn(path)}${nameIn(path).startsWith('.') ? '.' : ''}`;

function choicesIn(listing: FolderListing | undefined, name: string): readonly Choice[] {
  if (!listing) return [];
  const begun = name.toLowerCase();
  const folders = listing.folders.filter((folder) => folder.name.toLowerCase().startsWith(begun));
  return listing.parent !== undefined && name === '' ? [{ name: '..', path: listing.parent }, ...folders] : folders;
}

const firstFolder = (choices: readonly Choice[]) => choices.findIndex(({ name }) => name !== '..');
