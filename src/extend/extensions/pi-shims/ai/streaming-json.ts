type JsonPath = readonly (string | number)[];

/** A change that a piece of text made: a new value, or more text of a string. */
export type JsonChange =
  | { readonly kind: 'set'; readonly path: JsonPath; readonly value: unknown }
  | { readonly kind: 'append'; readonly path: JsonPath; readonly text: string };

type Container = unknown[] | Record<string, unknown>;

interface OpenContainer {
  readonly value: Container;
  /** The key of the next member; undefined in an array, and before the key of a member. */
  key: string | undefined;
  /** Members so far; repeated keys count again. */
  size: number;
}

interface OpenString {
  text: string;
  readonly isKey: boolean;
  /** A backslash and what followed it, until the escape is complete. */
  escape: string;
  /** How much of the text `append` has reported; undefined before its first report. */
  reported: number | undefined;
}

const escapes: Readonly<Record<string, string>> = {
  b: '\b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  '"': '"',
  '\\': '\\',
  '/': '/',
};

/**
 * Reads JSON that arrives in pieces and shows its value so far. It reads each piece once and never throws: incomplete
 * values are shown as far as they are known, and malformed ones are left out.
 */
export class StreamingJsonParser {
  #stack: OpenContainer[] = [];
  #string: OpenString | undefined;
  #word = '';
  #root: { value: unknown; isComplete: boolean } | undefined;
  #changes: JsonChange[] = [];
  #snapshot: unknown;
  #copyCredit = 0;

  /** Reads a piece and returns the changes it made, in order. */
  append(text: string): readonly JsonChange[] {
    this.#changes = [];
    for (const character of text) {
      if (this.#root?.isComplete) break;
      if (this.#string) this.#readInString(this.#string, character);
      else this.#readOutside(character);
    }
    this.#reportString();
    this.#copyCredit += text.length + 1;
    return this.#changes;
  }

  /**
   * The value so far; undefined before it begins. A returned value never changes. To keep the total work linear, it may
   * be older than the text while a large container is open.
   */
  snapshot(): unknown {
    const cost = this.#stack.reduce((sum, { size }) => sum + size, 0);
    if (this.#root && (this.#copyCredit >= cost || this.#root.isComplete)) {
      this.#copyCredit -= cost;
      this.#snapshot = this.#copyOpenPath();
    }
    return this.#snapshot;
  }

  #readOutside(character: string): void {
    if (/[\w.+-]/.test(character)) {
      this.#word += character;
      return;
    }
    this.#endWord();
    switch (character) {
      case '{':
        this.#open({});
        return;
      case '[':
        this.#open([]);
        return;
      case '}':
      case ']':
        this.#close();
        return;
      case '"':
        this.#string = { text: '', isKey: this.#expectsKey(), escape: '', reported: undefined };
        return;
      case ',':
        this.#forgetKey();
        return;
      default:
    }
  }

  #readInString(string: OpenString, character: string): void {
    if (string.escape !== '') this.#readEscape(string, character);
    else if (character === '\\') string.escape = character;
    else if (character === '"') this.#endString(string);
    else string.text += character;
  }

  #readEscape(string: OpenString, character: string): void {
    string.escape += character;
    const sequence = string.escape;
    if (sequence[1] === 'u' && sequence.length < 6 && /^\\u[\da-f]*$/i.test(sequence)) return;
    string.escape = '';
    if (/^\\u[\da-f]{4}$/i.test(sequence)) string.text += String.fromCharCode(Number.parseInt(sequence.slice(2), 16));
    else if (sequence.length === 2) string.text += escapes[character] ?? sequence;
    else {
      // Four digits did not follow: the text stays as it is.
      string.text += sequence.slice(0, -1);
      this.#readInString(string, character);
    }
  }

  #endString(string: OpenString): void {
    this.#string = undefined;
    const frame = this.#stack.at(-1);
    if (string.isKey) {
      if (frame) frame.key = string.text;
      return;
    }
    this.#reportText(string);
    this.#place(string.text);
    this.#afterValue();
  }

  #endWord(): void {
    const word = this.#word;
    this.#word = '';
    if (word === '' || this.#expectsKey()) return;
    const value = valueOfWord(word);
    if (value === undefined) return;
    this.#report(value);
    this.#place(value);
    this.#afterValue();
  }

  #open(value: Container): void {
    if (this.#expectsKey()) return;
    this.#report(value);
    this.#place(value);
    this.#stack.push({ value, key: undefined, size: 0 });
  }

  #close(): void {
    this.#stack.pop();
    this.#afterValue();
  }

  #afterValue(): void {
    this.#forgetKey();
    const frame = this.#stack.at(-1);
    if (!frame && this.#root) this.#root.isComplete = true;
  }

  #forgetKey(): void {
    const frame = this.#stack.at(-1);
    if (frame) frame.key = undefined;
  }

  #expectsKey(): boolean {
    const frame = this.#stack.at(-1);
    return frame !== undefined && !Array.isArray(frame.value) && frame.key === undefined;
  }

  #place(value: unknown): void {
    const frame = this.#stack.at(-1);
    if (!frame) this.#root = { value, isComplete: false };
    else {
      setMember(frame.value, frame.key, value);
      frame.size++;
    }
  }

  #report(value: unknown): void {
    const container = typeof value === 'object' && value !== null;
    this.#changes.push({ kind: 'set', path: this.#path(), value: container ? structuredClone(value) : value });
  }

  #reportString(): void {
    if (this.#string && !this.#string.isKey) this.#reportText(this.#string);
  }

  #reportText(string: OpenString): void {
    const { text, reported } = string;
    if (reported === undefined) this.#changes.push({ kind: 'set', path: this.#path(), value: text });
    else if (text.length > reported) {
      this.#changes.push({ kind: 'append', path: this.#path(), text: text.slice(reported) });
    }
    string.reported = text.length;
  }

  /** The path of the next value. */
  #path(): JsonPath {
    return this.#stack.map(({ value, key }, at) => {
      const isOpenBelow = at < this.#stack.length - 1;
      return Array.isArray(value) ? value.length - (isOpenBelow ? 1 : 0) : (key ?? '');
    });
  }

  /** Copies the open containers, with the incomplete string or word, and shares everything that is complete. */
  #copyOpenPath(): unknown {
    const pending = this.#pendingValue();
    if (this.#stack.length === 0) return this.#root?.isComplete === false ? pending : this.#root?.value;
    let below = pending;
    let isBelowOpen = false;
    for (const { value, key } of this.#stack.toReversed()) {
      const copy: Container = Array.isArray(value) ? [...value] : { ...value };
      if (isBelowOpen && Array.isArray(copy)) copy[copy.length - 1] = below;
      else if (below !== undefined) setMember(copy, key, below);
      below = copy;
      isBelowOpen = true;
    }
    return below;
  }

  #pendingValue(): unknown {
    if (this.#string) return this.#string.isKey ? undefined : this.#string.text;
    return this.#word === '' || this.#expectsKey() ? undefined : valueOfWord(this.#word);
  }
}

/** Also of an incomplete word: the beginning of a literal, or of a number. */
function valueOfWord(word: string): unknown {
  const literal = ['true', 'false', 'null'].find((name) => name.startsWith(word));
  if (literal !== undefined) return JSON.parse(literal);
  const [digits] = /^-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/.exec(word) ?? [];
  return digits === undefined ? undefined : Number(digits);
}

function setMember(container: Container, key: string | undefined, value: unknown): void {
  if (Array.isArray(container)) container.push(value);
  // An own member, also for the name __proto__.
  else if (key !== undefined) {
    Object.defineProperty(container, key, { value, writable: true, enumerable: true, configurable: true });
  }
}
