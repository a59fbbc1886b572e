import { check } from '../protocol/check.ts';
import { type ErrorCode, messageOf, Refusal } from '../protocol/errors.ts';
import { commandParams, frameSchemas, inboundDefinitions } from '../protocol/generated/inbound.ts';
import type { CommandName, Frame, FrameName } from '../protocol/generated/vocabulary.ts';
import { type InputLine, MAX_LINE_BYTES } from './json-lines.ts';
import { MAX_JSON_DEPTH, shapeProblem, tooDeepProblem } from './json-shape.ts';

// An unparsable line is searched for id and type up to here.
const HEAD_CHARACTERS = 4096;

export type Inbound =
  | { readonly kind: 'command'; readonly name: CommandName; readonly id: unknown; readonly params: object }
  | { readonly kind: 'frame'; readonly frame: Frame }
  | { readonly kind: 'malformed'; readonly malformed: MalformedFrame }
  | { readonly kind: 'ignored' }
  | RefusedLine;

interface RefusedLine {
  readonly kind: 'refused';
  readonly command: string;
  readonly id: unknown;
  readonly refusal: Refusal;
  // The frame that an unparsable line was, if its type and id are readable.
  readonly malformed?: MalformedFrame | undefined;
}

/** A frame of which only type and id are readable. */
export interface MalformedFrame {
  readonly name: FrameName;
  readonly id: string;
  readonly problem: string;
}

/** The commands whose responses grow with the session. Agents and servers run few of them at a time. */
export const conversationReads: ReadonlySet<CommandName> = new Set<CommandName>([
  'get_messages',
  'get_messages_page',
  'get_entries',
  'get_tree',
  'get_fork_messages',
  'get_branch_messages',
]);

/** Parses a line of a client. Never throws: an invalid line is refused, with its id when one is readable. */
export function parseInbound(line: InputLine): Inbound {
  if ('tooLong' in line) {
    const reason = `a line of ${line.tooLong} bytes is longer than the limit of ${MAX_LINE_BYTES}`;
    return unparsable('invalid_json', reason, scanHead(line.head));
  }
  const problem = shapeProblem(line.text);
  if (problem !== undefined) return unparsable('invalid_json', problem, scanHead(line.text));
  let value: unknown;
  try {
    value = JSON.parse(line.text);
  } catch (error) {
    return unparsable('invalid_json', messageOf(error), scanHead(line.text));
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) {
    return unparsable('invalid_params', 'a command is an object with a type');
  }
  const { id, type, ...params } = value as Record<string, unknown>;
  // Each level takes two characters.
  if (line.text.length >= 2 * MAX_JSON_DEPTH && isTooDeep(value)) {
    const head = { id: isTooDeep(id) ? undefined : id, type };
    return unparsable('invalid_json', tooDeepProblem, head);
  }
  if (typeof type !== 'string') return unparsable('invalid_params', 'type must be a string', { id });
  if (isFrame(type)) return parseFrame(type, value);
  if (!Object.hasOwn(commandParams, type)) {
    return refused(type, id, new Refusal('unknown_command', `Unknown command: ${type}`));
  }
  return parseCommand(type as CommandName, id, params);
}

function parseCommand(name: CommandName, id: unknown, params: object): Inbound {
  const refusal = checkParams(name, params);
  return refusal ? refused(name, id, refusal) : { kind: 'command', name, id, params };
}

/** Returns the refusal of invalid parameters, or undefined when they are valid. */
export function checkParams(name: CommandName, params: object): Refusal | undefined {
  const problem = check(commandParams[name], params, { definitions: inboundDefinitions });
  return problem === undefined ? undefined : new Refusal('invalid_params', `Invalid parameters: ${problem}`);
}

function parseFrame(name: FrameName, value: object): Inbound {
  const problem = check(frameSchemas[name], value, { definitions: inboundDefinitions });
  if (!problem) return { kind: 'frame', frame: value as Frame };
  const { id } = value as { id?: unknown };
  return typeof id === 'string' ? { kind: 'malformed', malformed: { name, id, problem } } : { kind: 'ignored' };
}

const isFrame = (type: unknown): type is FrameName => typeof type === 'string' && Object.hasOwn(frameSchemas, type);

const refused = (command: string, id: unknown, refusal: Refusal): RefusedLine => ({
  kind: 'refused',
  command,
  id,
  refusal,
});

function unparsable(code: ErrorCode, problem: string, { id, type }: Head = {}): RefusedLine {
  const refusal = new Refusal(code, `Failed to parse command: ${problem}`);
  const malformed = isFrame(type) && typeof id === 'string' ? { name: type, id, problem } : undefined;
  return { ...refused('parse', id, refusal), malformed };
}

function isTooDeep(value: unknown, depth = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  return depth >= MAX_JSON_DEPTH || Object.values(value).some((inner) => isTooDeep(inner, depth + 1));
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[\w.+-]+|\S/g;

interface Head {
  readonly id?: unknown;
  readonly type?: unknown;
}

/** Finds `id` and `type` of an unparsable line near its start, outside inner objects. */
function scanHead(text: string): Head {
  const tokens = text.slice(0, HEAD_CHARACTERS).match(TOKEN) ?? [];
  const field = (name: string) => {
    let depth = 0;
    for (const [index, token] of tokens.entries()) {
      if (token === '{' || token === '[') depth++;
      else if (token === '}' || token === ']') depth--;
      else if (depth <= 1 && token === name && tokens[index + 1] === ':') return parseToken(tokens[index + 2]);
    }
    return undefined;
  };
  return { id: field('"id"'), type: field('"type"') };
}

function parseToken(json: string | undefined): unknown {
  try {
    return json === undefined ? undefined : JSON.parse(json);
  } catch {
    return undefined;
  }
}
