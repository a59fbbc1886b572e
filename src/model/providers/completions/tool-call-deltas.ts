import { randomBytes } from 'node:crypto';
import { StreamedArguments } from './arguments.ts';
import type { BlockSequencer, StreamedToolCall } from './blocks.ts';

/** What a delta says about a tool call. Servers leave out or repeat any of it. */
export interface ToolCallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  /** What Google wants back with a call. */
  readonly extra_content?: unknown;
}

interface KnownCall extends StreamedToolCall {
  readonly index: number | undefined;
  /** The id that the server gave, which may not be the one the call has. */
  readonly givenId: string;
}

/** The tool calls of one answer, told apart however the server tells them apart. */
export class ToolCallDeltas {
  readonly #blocks: BlockSequencer;
  readonly #calls: KnownCall[] = [];

  constructor(blocks: BlockSequencer) {
    this.#blocks = blocks;
  }

  add(delta: ToolCallDelta): void {
    const fields = parseDelta(delta);
    const call = this.#findCall(fields) ?? this.#start(fields);
    if (call.name === '') call.name = fields.name;
    if (fields.piece !== '') call.arguments.add(fields.piece);
    if (fields.signature !== undefined) call.signature = fields.signature;
  }

  #findCall(fields: CallFields): KnownCall | undefined {
    const call = this.#nearest(fields);
    return call && startsNewCall(fields, call) ? undefined : call;
  }

  #nearest({ index, id }: CallFields): KnownCall | undefined {
    if (index !== undefined) return this.#calls.findLast((call) => call.index === index);
    return (id === '' ? undefined : this.#calls.find((call) => call.givenId === id)) ?? this.#calls.at(-1);
  }

  #start({ index, id, name }: CallFields): KnownCall {
    const isTaken = id === '' || this.#calls.some((call) => call.id === id);
    const call: KnownCall = {
      kind: 'call',
      index,
      givenId: id,
      id: isTaken ? `call_${randomBytes(8).toString('hex')}` : id,
      name,
      arguments: new StreamedArguments(),
    };
    this.#calls.push(call);
    this.#blocks.addCall(call);
    return call;
  }
}

/**
 * Whether a delta begins a call although one goes by its number. Some servers number every call alike; others repeat the
 * name in each delta, or give a new id with each, but then no name.
 */
function startsNewCall({ id, name, piece }: CallFields, call: KnownCall): boolean {
  if (name === '' || call.name === '' || (id !== '' && id === call.givenId)) return false;
  const hasOtherId = id !== '' && call.givenId !== '';
  return hasOtherId || name !== call.name || (piece !== '' && call.arguments.isWhole);
}

interface CallFields {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly piece: string;
  readonly signature: string | undefined;
}

function parseDelta({ index, id, function: called, extra_content: extra }: ToolCallDelta): CallFields {
  const values = called?.arguments;
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' ? id : '',
    name: typeof called?.name === 'string' ? called.name : '',
    piece: typeof values === 'object' && values !== null ? JSON.stringify(values) : String(values ?? ''),
    signature: typeof extra === 'object' && extra !== null ? JSON.stringify(extra) : undefined,
  };
}
