import type { CallFacts, ReadSubject, WriteSubject } from './call-facts.ts';
import { type Argv, plainCommands } from './plain-commands.ts';
import { commandRuleText, hostRuleText, lineRuleText, pathRuleText } from './rule-text.ts';

// The oldest grant goes: its call is asked about again.
const MAX_GRANTS = 1000;

/** The calls that the user allowed for the rest of a session: exact commands, lines, files, hosts, and whole tools. */
export class Grants {
  /** Each grant with the text that names it. */
  readonly #granted = new Map<string, string>();
  readonly #cwd: string;

  /** `cwd`: the real path of the session's folder. */
  constructor(cwd: string) {
    this.#cwd = cwd;
  }

  /** Rules that name the grants. */
  get rules(): readonly string[] {
    return [...new Set(this.#granted.values())];
  }

  /** Allows this call, and each command of a plain line on its own. */
  add(facts: CallFacts): void {
    for (const [key, text] of this.#grantsFor(facts)) this.#granted.set(key, text);
    for (const key of this.#granted.keys()) {
      if (this.#granted.size <= MAX_GRANTS) return;
      this.#granted.delete(key);
    }
  }

  /** Withdraws the grants of this name; false if there are none. */
  remove(rule: string): boolean {
    const keys = [...this.#granted].filter(([, text]) => text === rule).map(([key]) => key);
    for (const key of keys) this.#granted.delete(key);
    return keys.length > 0;
  }

  /** Whether the user allowed everything that the call does. */
  covers(facts: CallFacts): boolean {
    const { source, subject } = facts;
    if (source !== 'builtin' || subject.type !== 'command')
      return this.#grantsFor(facts).every(([key]) => this.#granted.has(key));
    const commands = plainCommands(subject.command, this.#cwd);
    if (!commands) return this.coversLine(subject.command, subject.outside);
    return commands.every((argv) => this.coversCommand(argv, subject.outside));
  }

  /** A command that may run outside of the sandbox may also run inside. */
  coversCommand(argv: Argv, outside: boolean): boolean {
    if (this.#granted.size === 0) return false;
    return this.#hasCommand((isOutside) => commandRuleText(argv, isOutside), outside);
  }

  /** The same for a line that is not plain: it must be equal to the last character. */
  coversLine(line: string, outside: boolean): boolean {
    return this.#hasCommand((isOutside) => lineRuleText(line, isOutside), outside);
  }

  #hasCommand(text: (outside: boolean) => string, outside: boolean): boolean {
    return (
      this.#granted.has(keyOf('command', text(true))) || (!outside && this.#granted.has(keyOf('command', text(false))))
    );
  }

  #grantsFor({ toolName, source, subject }: CallFacts): [key: string, text: string][] {
    if (subject.type === 'host') return [[keyOf('host', hostRuleText(subject.host)), hostRuleText(subject.host)]];
    if (source !== 'builtin' || subject.type === 'other') return [[keyOf(source, toolName), toolName]];
    if (subject.type === 'command') {
      const { command, outside } = subject;
      const commands = plainCommands(command, this.#cwd);
      const texts = commands?.map((argv) => commandRuleText(argv, outside)) ?? [lineRuleText(command, outside)];
      return texts.map((text) => [keyOf('command', text), text]);
    }
    const text = pathRuleText(subject.type === 'read' ? 'read' : 'edit', subject.path);
    return [[keyOf(dangersOf(subject), text), text]];
  }
}

/** A file is asked about again once it can do more harm: if it has got a second name, for example. */
const dangersOf = (subject: ReadSubject | WriteSubject): string =>
  subject.type === 'read'
    ? 'read'
    : `write ${subject.isInWritableRoot} ${subject.isProtected} ${subject.hasOtherNames}`;

const keyOf = (kind: string, name: string) => `${kind}\0${name}`;
