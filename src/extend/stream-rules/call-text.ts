/** Under which names tools take the path of a file. */
const PATH_NAMES = ['path', 'file_path', 'filePath'];

/** A path that has not come by then is known when the call is whole. */
const MAX_HEAD_CHARACTERS = 4096;

/** The arguments of a call while they stream: JSON, of which people mean the text without its escapes. */
export class CallText {
  /** An escape of which the rest is still to come. */
  #partialEscape = '';
  #head = '';

  /** What this piece of JSON adds to the text. */
  add(json: string): string {
    if (this.#head.length < MAX_HEAD_CHARACTERS) this.#head += json.slice(0, MAX_HEAD_CHARACTERS);
    const text = this.#partialEscape + json;
    this.#partialEscape = trailingEscape(text);
    return text.slice(0, text.length - this.#partialEscape.length).replaceAll(ESCAPE, decodeEscape);
  }

  /** The path among the arguments, if it has come already. */
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

/** The path of the file that a call is about, if it is about one. */
export function pathIn(args: Readonly<Record<string, unknown>>): string | undefined {
  return PATH_NAMES.map((name) => args[name]).find((value) => typeof value === 'string');
}

const ESCAPE = /\\(?:u([\da-f]{4})|(.))/gis;

/** One argument on the outermost level, as long as all before it are plain. */
const MEMBER = /\s*"([^"\\]*)"\s*:\s*("(?:[^"\\]|\\.)*"|[^\s"{}[\],]+)\s*,?/sy;

const CONTROLS: Readonly<Record<string, string>> = { b: '\b', f: '\f', n: '\n', r: '\r', t: '\t' };

const decodeEscape = (_: string, code: string | undefined, character = '') =>
  code === undefined ? (CONTROLS[character] ?? character) : String.fromCharCode(Number.parseInt(code, 16));

/** A `\` before a `\` opens nothing. */
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
