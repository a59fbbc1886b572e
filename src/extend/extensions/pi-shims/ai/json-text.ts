import { isObject } from '../../../../protocol/json.ts';
import { StreamingJsonParser } from './streaming-json.ts';

export { StreamingJsonParser };

/** Escapes raw control characters in strings, and doubles a backslash that begins no escape. */
export function repairJson(json: string): string {
  let repaired = '';
  let at = 0;
  // Quotes delimit strings; outside of them nothing is changed.
  for (let start = json.indexOf('"'); start >= 0; start = json.indexOf('"', at)) {
    const end = endOfString(json, start);
    repaired += json.slice(at, start) + repairString(json.slice(start, end));
    at = end;
  }
  return repaired + json.slice(at);
}

// A loop: a regular expression overflows the stack on strings of some megabytes.
function endOfString(json: string, start: number): number {
  for (let at = start + 1; at < json.length; at++) {
    if (json[at] === '"') return at + 1;
    if (json[at] === '\\') at++;
    if (at === json.length) return at - 1;
  }
  return json.length;
}

const repairString = (string: string): string =>
  string
    .replace(/\\(?:["\\/bfnrt]|u[\da-fA-F]{4})|\\/g, (found) => (found === '\\' ? '\\\\' : found))
    .replace(/\p{Cc}/gu, (control) => JSON.stringify(control).slice(1, -1));

/** Throws if the text is no JSON after its repair either. */
export function parseJsonWithRepair(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return JSON.parse(repairJson(json));
  }
}

/** The value of complete or incomplete JSON; an empty object if there is none. */
export function parseStreamingJson(partialJson: string | undefined): unknown {
  if (!partialJson?.trim()) return {};
  try {
    return parseJsonWithRepair(partialJson);
  } catch {
    const parser = new StreamingJsonParser();
    parser.append(partialJson);
    return parser.snapshot() ?? {};
  }
}

interface ParsedArguments {
  arguments: Record<string, unknown>;
  argumentsError?: string;
}

/** The arguments of a finished tool call. Malformed ones are empty, with an error that quotes them. */
export function parseToolCallArguments(json: string | undefined): ParsedArguments {
  if (!json?.trim()) return { arguments: {} };
  try {
    const value = parseJsonWithRepair(json);
    if (isObject(value)) return { arguments: value };
    return { arguments: {}, argumentsError: `The arguments are not a JSON object: ${json}` };
  } catch (error) {
    return { arguments: {}, argumentsError: `The arguments are not JSON (${(error as Error).message}): ${json}` };
  }
}

/** The arguments of a tool call while they arrive. */
export class ToolCallArgumentsStream {
  #text = '';
  #parser = new StreamingJsonParser();

  get text(): string {
    return this.#text;
  }

  append(delta: string): Record<string, unknown> {
    this.#text += delta;
    this.#parser.append(delta);
    return this.#partial();
  }

  /** Takes the complete text. `delta` is the missing part if the text continues the one so far. */
  replace(text: string): { delta: string | undefined; arguments: Record<string, unknown> } {
    const delta = text.startsWith(this.#text) ? text.slice(this.#text.length) : undefined;
    if (delta !== undefined) return { delta, arguments: this.append(delta) };
    this.#text = '';
    this.#parser = new StreamingJsonParser();
    return { delta, arguments: this.append(text) };
  }

  finish(): ParsedArguments {
    return parseToolCallArguments(this.#text);
  }

  #partial(): Record<string, unknown> {
    const value = this.#parser.snapshot();
    return isObject(value) ? value : {};
  }
}
