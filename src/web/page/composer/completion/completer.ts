import { batch, computed, type ReadonlySignal, signal } from '@preact/signals';
import type { SlashCommand } from '../../../../protocol/generated/vocabulary.ts';
import { commandsOf, pathsLike } from '../../actions/completing.ts';
import { likeness, matching } from '../../overlay/matching.ts';
import type { LiveSession } from '../../state/live-session.ts';
import { mention, type Wish, wishAt } from './wish.ts';

/** Something that can be put in the place of what was typed of it. */
export interface Suggestion {
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
  readonly #wish = signal<Wish | undefined>(undefined);
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
  #isAsking = false;
  readonly suggestions: ReadonlySignal<readonly Suggestion[]> = computed(() => this.#suggest());
  readonly chosen: ReadonlySignal<number> = computed(() =>
    Math.min(this.#chosen.value, this.suggestions.value.length - 1),
  );

  constructor(session: LiveSession) {
    this.#session = session;
  }

  /** The command of this name, if it is known. */
  commandNamed(name: string): SlashCommand | undefined {
    return this.#commands.value?.find((command) => command.name === name);
  }

  /** The name that a message begins with as if it were a command, where it is known that it is none. */
  noCommandIn(text: string): string | undefined {
    const [, name = '', end] = /^\/(\S+)(\s)?/.exec(text) ?? [];
    if (name === '' || !this.#commands.value || this.commandNamed(name)) return undefined;
    // What is suggested for it may still become of it.
    return end === undefined && this.suggestions.value.length > 0 ? undefined : name;
  }

  /** Takes note of where the caret is in which text. */
  look(text: string, caret: number): void {
    const isSlashed = text.startsWith('/');
    if (isSlashed && !this.#isSlashed) void this.#askForCommands();
    this.#isSlashed = isSlashed;
    const wish = wishAt(text, caret);
    const before = this.#wish.value;
    if (wish?.kind === before?.kind && wish?.query === before?.query && wish?.from === before?.from) return;
    batch(() => {
      this.#wish.value = wish;
      this.#chosen.value = 0;
      if (wish?.from !== this.#dismissed.value || wish?.query === '') this.#dismissed.value = undefined;
    });
    if (wish?.kind === 'file') void this.#askForPaths(wish.query);
  }

  /** Chooses the one that is so many places further. */
  step(by: number): void {
    const { length } = this.suggestions.value;
    if (length > 0) this.#chosen.value = (this.chosen.value + by + length) % length;
  }

  /** Suggests nothing for what is being typed. */
  dismiss(): void {
    this.#dismissed.value = this.#wish.value?.from;
  }

  /** The text with a suggestion in its place, and where the caret is then. */
  completed(text: string, suggestion: Suggestion | undefined): { text: string; caret: number } | undefined {
    const wish = this.#wish.value;
    if (!wish || !suggestion) return undefined;
    const rest = text.slice(wish.to);
    const before = text.slice(0, wish.from) + suggestion.text;
    return { text: before + (before.endsWith(' ') ? rest.replace(/^ /, '') : rest), caret: before.length };
  }

  #suggest(): readonly Suggestion[] {
    const wish = this.#wish.value;
    if (!wish || wish.from === this.#dismissed.value) return [];
    if (wish.kind === 'command') return this.#commandsLike(wish.query);
    const { query, found } = this.#paths.value;
    // Until those for what was typed last are there, some of the ones before that still fit.
    return found.filter((path) => query === wish.query || likeness(wish.query, path) !== undefined).map(ofPath);
  }

  #commandsLike(query: string): readonly Suggestion[] {
    const named = (this.#commands.value ?? []).map((command) => ({ command, words: command.name }));
    return matching(query, named).map(({ command }) => ofCommand(command));
  }

  async #askForCommands(): Promise<void> {
    try {
      this.#commands.value = await commandsOf(this.#session);
    } catch {
      // What is known has to do.
    }
  }

  /** One question at a time; of those that come meanwhile only the last is asked. */
  async #askForPaths(query: string): Promise<void> {
    this.#nextQuery = query;
    if (this.#isAsking) return;
    this.#isAsking = true;
    try {
      for (let next: string | undefined = query; next !== undefined; next = this.#nextQuery) {
        this.#nextQuery = undefined;
        this.#paths.value = { query: next, found: await pathsLike(this.#session, next) };
      }
    } catch {
      // Nothing is suggested then.
    } finally {
      this.#isAsking = false;
    }
  }
}

const ofCommand = ({ name, argumentHint, description, source }: SlashCommand): Suggestion => ({
  kind: 'command',
  name,
  argumentHint,
  description,
  source,
  text: `/${name} `,
});

const ofPath = (path: string): Suggestion => ({
  kind: path.endsWith('/') ? 'folder' : 'file',
  name: path,
  text: mention(path),
});
