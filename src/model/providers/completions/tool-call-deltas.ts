import { randomBytes } from 'node:crypto';
import { type BlockSequencer, StreamedArguments, type StreamedToolCall } from './blocks.ts';

/** A delta of a tool call. Servers omit or repeat any field. */
export interface ToolCallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  /** Google requires it back with the call. */
  readonly extra_content?: unknown;
}

interface KnownCall extends StreamedToolCall {
  readonly index: number | undefined;
  /** The server's id, which the call may not have got. */
  readonly givenId: string;
}

/** Assigns deltas to the tool calls of one response, by whatever the server sends to distinguish them. */
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

// Whether a delta starts a new call although its index is taken. Some servers repeat one index for all calls; others
// repeat the name, or send a new id without a name, in each delta.
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
