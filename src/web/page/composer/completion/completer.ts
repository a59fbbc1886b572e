import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SlashCommand } from '../../../../protocol/generated/vocabulary.ts';
import { loadSlashCommands, findPaths } from '../../actions/completing.ts';
import { fuzzyScore, fuzzyFilter } from '../../overlay/fuzzy-match.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { mention, type CompletionTarget, completionTargetAt } from './completion-target.ts';

/** Something that can be put in the place of what was typed of it. */
export interface Completion {
  readonly kind: 'command' | 'file' | 'folder';
  readonly name: string;
  /** What stands behind the name of a command. */
  readonly argumentHint?: string | undefined;
  readonly description?: string | undefined;
  /** Where a command comes from. */
  readonly source?: string | undefined;
  /** What takes the place of what was typed. */
  readonly text: string;
}

/** Knows what may be meant by what is being typed, and which of it is chosen. */
export class Completer {
  readonly #session: LiveSession;
  readonly #target = signal<CompletionTarget | undefined>(undefined);
  /** Undefined until they are known. */
  readonly #commands = signal<readonly SlashCommand[] | undefined>(undefined);
  /** Paths that fit what was typed when they were asked for. */
  readonly #paths = signal<{ readonly query: string; readonly found: readonly string[] }>({ query: '', found: [] });
  readonly #chosen = signal(0);
  /** Where a name begins that nothing is to be suggested for. */
  readonly #dismissed = signal<number | undefined>(undefined);
  /** Whether the text begins as commands do. */
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

  /** The command of this name, if it is known. */
  commandNamed(name: string): SlashCommand | undefined {
    return this.#commands.value?.find((command) => command.name === name);
  }

  /** The name that a message begins with as if it were a command, where it is known that it is none. */
  unknownName(text: string): string | undefined {
    const [, name = '', end] = /^\/(\S+)(\s)?/.exec(text) ?? [];
    if (name === '' || !this.#commands.value || this.commandNamed(name)) return undefined;
    // What is suggested for it may still become of it.
    return end === undefined && this.completions.value.length > 0 ? undefined : name;
  }

  /** Takes note of where the caret is in which text. */
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

  /** Chooses the one that is so many places further. */
  step(by: number): void {
    const { length } = this.completions.value;
    if (length > 0) this.#chosen.value = (this.chosen.value + by + length) % length;
  }

  /** Suggests nothing for what is being typed. */
  dismiss(): void {
    this.#dismissed.value = this.#target.value?.from;
  }

  /** The text with a suggestion in its place, and where the caret is then. */
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
    // Until those for what was typed last are there, some of the ones before that still fit.
    return found.filter((path) => query === target.query || fuzzyScore(target.query, path) !== undefined).map(pathCompletion);
  }

  #matchingCommands(query: string): readonly Completion[] {
    const named = (this.#commands.value ?? []).map((command) => ({ command, words: command.name }));
    return fuzzyFilter(query, named).map(({ command }) => commandCompletion(command));
  }

  async #loadCommands(): Promise<void> {
    try {
      this.#commands.value = await loadSlashCommands(this.#session);
    } catch {
      // What is known has to do.
    }
  }

  /** One question at a time; of those that come meanwhile only the last is asked. */
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
      // Nothing is suggested then.
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
