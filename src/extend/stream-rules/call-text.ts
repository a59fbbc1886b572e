// The usual names of a path argument.
const PATH_NAMES = ['path', 'file_path', 'filePath'];

// A path beyond this is read when the call is complete.
const MAX_HEAD_CHARACTERS = 4096;

/** Decodes the streamed JSON arguments of a tool call to plain text, as rules match text without escapes. */
export class CallText {
  /** An incomplete escape at the end. */
  #partialEscape = '';
  #head = '';

  /** Decodes the next piece of JSON. */
  add(json: string): string {
    if (this.#head.length < MAX_HEAD_CHARACTERS) this.#head += json.slice(0, MAX_HEAD_CHARACTERS);
    const text = this.#partialEscape + json;
    this.#partialEscape = trailingEscape(text);
    return text.slice(0, text.length - this.#partialEscape.length).replaceAll(ESCAPE, decodeEscape);
  }

  /** The path argument, if it has arrived. */
  get path(): string | undefined {
    const member = new RegExp(MEMBER);
    member.lastIndex = this.#head.indexOf('{') + 1;
    if (member.lastIndex === 0) return undefined;
    for (let found = member.exec(this.#head); found; found = member.exec(this.#head)) {
      const [, name = '', value = ''] = found;
      if (PATH_NAMES.includes(name) && value.startsWith('"')) return parseString(value);
    }
    return undefined;
  }
}

/** The path argument of a complete call. */
export function pathIn(args: Readonly<Record<string, unknown>>): string | undefined {
  return PATH_NAMES.map((name) => args[name]).find((value) => typeof value === 'string');
}

const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gis;

// A top-level argument, as long as all before it are plain values.
const MEMBER = /\s*"([^"\\]*)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s"{}[\],]+)\s*,?/sy;

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const decodeEscape = (_: string, code: string | undefined, character = '') =>
  code === undefined ? (CONTROLS[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16));

// In `\\`, the second backslash opens no escape.
function trailingEscape(text: string): string {
  const [ending] = /\\(?:u[\da-f]{0,3})?$/i.exec(text.slice(-5)) ?? [''];
  const at = text.length - ending.length;
  let before = at;
  while (text[before - 1] === '\\') before--;
  return (at - before) % 2 === 0 ? ending : '';
}

function parseString(json: string): string | undefined {
  try {
    return String(JSON.parse(json));
  } catch {
    return undefined;
  }
}
