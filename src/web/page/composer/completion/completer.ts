import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SlashCommand } from '../../../../protocol/generated/vocabulary.ts';
import { fuzzyFilter, fuzzyScore } from '../../overlay/fuzzy-match.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { type CompletionTarget, completionTargetAt, mention } from './completion-target.ts';

/** An entry of the completion list. */
export interface Completion {
  readonly kind: 'command' | 'file' | 'folder';
  readonly name: string;
  readonly argumentHint?: string | undefined;
  readonly description?: string | undefined;
  readonly source?: string | undefined;
  /** The text that replaces the typed name. */
  readonly text: string;
}

/** Finds completions for the command or file name at the caret, and tracks the chosen one. */
export class Completer {
  readonly #session: LiveSession;
  readonly #target = signal<CompletionTarget | undefined>(undefined);
  /** Undefined until they are loaded. */
  readonly #commands = signal<readonly SlashCommand[] | undefined>(undefined);
  /** Matching paths, and the query they were loaded for. */
  readonly #paths = signal<{ readonly query: string; readonly found: readonly string[] }>({ query: '', found: [] });
  readonly #chosen = signal(0);
  /** The start of a name whose completions were dismissed. */
  readonly #dismissed = signal<number | undefined>(undefined);
  #isSlashed = false;
  #nextQuery: string | undefined;
  #isLoadingPaths = false;
  readonly completions: ReadonlySignal<readonly Completion[]> = computed(() => this.#complete());
  readonly chosen: ReadonlySignal<number> = computed(() =>
    Math.min(this.#chosen.value, this.completions.value.length - 1),
  );

  constructor(session: LiveSession) {
    this.#session = session;
  }

  commandNamed(name: string): SlashCommand | undefined {
    return this.#commands.value?.find((command) => command.name === name);
  }

  /** Returns the name after a leading slash that is known to be no command. */
  unknownName(text: string): string | undefined {
    const [, name = '', end] = /^\/(\S+)(\s)?/.exec(text) ?? [];
    if (name === '' || !this.#commands.value || this.commandNamed(name)) return undefined;
    // A completion may still turn it into a command.
    return end === undefined && this.completions.value.length > 0 ? undefined : name;
  }

  /** Updates the completions for a text and a caret position. */
  update(text: string, caret: number): void {
    const isSlashed = text.startsWith('/');
    if (isSlashed && !this.#isSlashed) void this.#loadCommands();
    this.#isSlashed = isSlashed;
    const target = completionTargetAt(text, caret);
    const before = this.#target.value;
    if (target?.kind === before?.kind && target?.query === before?.query && target?.from === before?.from) return;
    batch(() => {
      this.#target.value = target;
      this.#chosen.value = 0;
      if (target?.from !== this.#dismissed.value || target?.query === '') this.#dismissed.value = undefined;
    });
    if (target?.kind === 'file') void this.#loadPaths(target.query);
  }

  /** Moves the choice by this many entries. */
  step(by: number): void {
    const { length } = this.completions.value;
    if (length > 0) this.#chosen.value = (this.chosen.value + by + length) % length;
  }

  /** Hides the completions for the name at the caret. */
  dismiss(): void {
    this.#dismissed.value = this.#target.value?.from;
  }

  /** Returns the text with a completion inserted, and the caret after it. */
  applyTo(text: string, completion: Completion | undefined): { text: string; caret: number } | undefined {
    const target = this.#target.value;
    if (!target || !completion) return undefined;
    const rest = text.slice(target.to);
    const before = text.slice(0, target.from) + completion.text;
    return { text: before + (before.endsWith(' ') ? rest.replace(/^ /, '') : rest), caret: before.length };
  }

  #complete(): readonly Completion[] {
    const target = this.#target.value;
    if (!target || target.from === this.#dismissed.value) return [];
    if (target.kind === 'command') return this.#matchingCommands(target.query);
    const { query, found } = this.#paths.value;
    // Until the paths of the last query arrive, earlier ones that match are shown.
    return found
      .filter((path) => query === target.query || fuzzyScore(target.query, path) !== undefined)
      .map(pathCompletion);
  }

  #matchingCommands(query: string): readonly Completion[] {
    const candidates = (this.#commands.value ?? []).map((command) => ({ command, words: command.name }));
    return fuzzyFilter(query, candidates).map(({ command }) => commandCompletion(command));
  }

  async #loadCommands(): Promise<void> {
    try {
      this.#commands.value = await loadSlashCommands(this.#session);
    } catch {
      // The commands loaded before stay.
    }
  }

  /** Sends one request at a time; of the queries in the meantime only the last is sent. */
  async #loadPaths(query: string): Promise<void> {
    this.#nextQuery = query;
    if (this.#isLoadingPaths) return;
    this.#isLoadingPaths = true;
    try {
      for (let next: string | undefined = query; next !== undefined; next = this.#nextQuery) {
        this.#nextQuery = undefined;
        this.#paths.value = { query: next, found: await findPaths(this.#session, next) };
      }
    } catch {
      // Without a response there are no completions.
    } finally {
      this.#isLoadingPaths = false;
    }
  }
}

const commandCompletion = ({ name, argumentHint, description, source }: SlashCommand): Completion => ({
  kind: 'command',
  name,
  argumentHint,
  description,
  source,
  text: `/${name} `,
});

const pathCompletion = (path: string): Completion => ({
  kind: path.endsWith('/') ? 'folder' : 'file',
  name: path,
  text: mention(path),
});

const MAX_SUGGESTED_FILES = 30;

/** Returns the slash commands of the session. */
async function loadSlashCommands({ remote }: LiveSession): Promise<readonly SlashCommand[]> {
  return (await remote.getCommands()).commands;
}

/** Returns project paths that match the query; those of folders end with `/`. */
async function findPaths({ remote }: LiveSession, query: string): Promise<readonly string[]> {
  const { files } = await remote.listFiles({ query, limit: MAX_SUGGESTED_FILES });
  return files.map(({ path }) => path);
}
