import { check } from '../protocol/check.ts';
import { type ErrorCode, messageOf, Refusal } from '../protocol/errors.ts';
import { commandParams, frameSchemas, inboundDefinitions } from '../protocol/generated/inbound.ts';
import type { CommandName, Frame, FrameName } from '../protocol/generated/vocabulary.ts';
import { type Line, MAX_LINE_BYTES } from '../wire/json-lines.ts';

/** A line nested deeper than this is refused: JSON.stringify could not write it back. */
const MAX_DEPTH = 1000;

/** How much of a line that does not parse is searched for its id. */
const HEAD_CHARACTERS = 4096;

/** A line a client sent, understood as far as it can be. */
export type Inbound =
  | { readonly kind: 'command'; readonly name: CommandName; readonly id: unknown; readonly params: object }
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'broken'; readonly broken: BrokenFrame }
  | { readonly kind: 'ignored' }
  | { readonly kind: 'refused'; readonly command: string; readonly id: unknown; readonly refusal: Refusal };

/** A frame whose id can be read, and nothing else of it. */
export interface BrokenFrame {
  readonly name: FrameName;
  readonly id: string;
  readonly problem: string;
}

/** Understands a line. Never throws: a line that means nothing is refused, with its id when one can be found. */
export function understand(line: Line): Inbound {
  if ('tooLong' in line) {
    const reason = `a line of ${line.tooLong} bytes is longer than the limit of ${MAX_LINE_BYTES}`;
    return unreadable('invalid_json', reason, idIn(line.head));
  }
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return unreadable('invalid_json', messageOf(error), idIn(line.text));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unreadable('invalid_params', 'a command is an object with a type', undefined);
  }
  const { id, type, ...params } = value as Record<string, unknown>;
  if (isTooDeep(value)) {
    return unreadable('invalid_json', `nested deeper than ${MAX_DEPTH} levels`, isTooDeep(id) ? undefined : id);
  }
  if (typeof type !== 'string') return unreadable('invalid_params', 'type must be a string', id);
  if (Object.hasOwn(frameSchemas, type)) return frameOf(type as FrameName, value);
  if (!Object.hasOwn(commandParams, type)) {
    return refused(type, id, new Refusal('unknown_command', `Unknown command: ${type}`));
  }
  return commandOf(type as CommandName, id, params);
}

function commandOf(name: CommandName, id: unknown, params: object): Inbound {
  const problem = check(commandParams[name], params, { definitions: inboundDefinitions });
  if (problem) return refused(name, id, new Refusal('invalid_params', `Invalid parameters: ${problem}`));
  return { kind: 'command', name, id, params };
}

function frameOf(name: FrameName, value: object): Inbound {
  const problem = check(frameSchemas[name], value, { definitions: inboundDefinitions });
  if (!problem) return { kind: 'frame', frame: value as Frame };
  const { id } = value as { id?: unknown };
  return typeof id === 'string' ? { kind: 'broken', broken: { name, id, problem } } : { kind: 'ignored' };
}

const refused = (command: string, id: unknown, refusal: Refusal): Inbound => ({
  kind: 'refused',
  command,
  id,
  refusal,
});

const unreadable = (code: ErrorCode, reason: string, id: unknown): Inbound =>
  refused('parse', id, new Refusal(code, `Failed to parse command: ${reason}`));

function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_DEPTH || Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[\w.+-]+|\S/g;

/** The id of a line that does not parse, where it is plain to see near the start. Ids of inner objects do not count. */
function idIn(text: string): unknown {
  const tokens = text.slice(0, HEAD_CHARACTERS).match(TOKEN) ?? [];
  let depth = 0;
  for (const [index, token] of tokens.entries()) {
    if (token === '{' || token === '[') depth++;
    else if (token === '}' || token === ']') depth--;
    else if (depth <= 1 && token === '"id"' && tokens[index + 1] === ':') return parsed(tokens[index + 2]);
  }
  return undefined;
}

function parsed(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}
