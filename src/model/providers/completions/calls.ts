import { randomBytes } from 'node:crypto';
import { Arguments } from './arguments.ts';
import type { Blocks, Call } from './blocks.ts';

/** What a delta says about a tool call. Servers leave out or repeat any of it. */
export interface CallDelta {
  readonly index?: unknown;
  readonly id?: unknown;
  readonly function?: { readonly name?: unknown; readonly arguments?: unknown } | null;
  /** What Google wants back with a call. */
  readonly extra_content?: unknown;
}

interface Known extends Call {
  readonly index: number | undefined;
  /** The id that the server gave, which may not be the one the call has. */
  readonly givenId: string;
}

/** The tool calls of one answer, told apart however the server tells them apart. */
export class Calls {
  readonly #blocks: Blocks;
  readonly #calls: Known[] = [];

  constructor(blocks: Blocks) {
    this.#blocks = blocks;
  }

  hear(delta: CallDelta): void {
    const said = read(delta);
    const call = this.#callOf(said) ?? this.#begin(said);
    if (call.name === '') call.name = said.name;
    if (said.piece !== '') call.arguments.add(said.piece);
    if (said.seal !== undefined) call.seal = said.seal;
  }

  #callOf(said: Said): Known | undefined {
    const call = this.#nearest(said);
    return call && isAnother(said, call) ? undefined : call;
  }

  #nearest({ index, id }: Said): Known | undefined {
    if (index !== undefined) return this.#calls.findLast((call) => call.index === index);
    return (id === '' ? undefined : this.#calls.find((call) => call.givenId === id)) ?? this.#calls.at(-1);
  }

  #begin({ index, id, name }: Said): Known {
    const isTaken = id === '' || this.#calls.some((call) => call.id === id);
    const call: Known = {
      kind: 'call',
      index,
      givenId: id,
      id: isTaken ? `call_${randomBytes(8).toString('hex')}` : id,
      name,
      arguments: new Arguments(),
    };
    this.#calls.push(call);
    this.#blocks.call(call);
    return call;
  }
}

/**
 * Whether a delta begins a call although one goes by its number. Some servers number every call alike; others repeat the
 * name in each delta, or give a new id with each, but then no name.
 */
function isAnother({ id, name, piece }: Said, call: Known): boolean {
  if (name === '' || call.name === '' || (id !== '' && id === call.givenId)) return false;
  const hasOtherId = id !== '' && call.givenId !== '';
  return hasOtherId || name !== call.name || (piece !== '' && call.arguments.isWhole);
}

interface Said {
  readonly index: number | undefined;
  readonly id: string;
  readonly name: string;
  readonly piece: string;
  readonly seal: string | undefined;
}

function read({ index, id, function: told, extra_content: extra }: CallDelta): Said {
  const values = told?.arguments;
  return {
    index: typeof index === 'number' ? index : undefined,
    id: typeof id === 'string' ? id : '',
    name: typeof told?.name === 'string' ? told.name : '',
    piece: typeof values === 'object' && values !== null ? JSON.stringify(values) : String(values ?? ''),
    seal: typeof extra === 'object' && extra !== null ? JSON.stringify(extra) : undefined,
  };
}
