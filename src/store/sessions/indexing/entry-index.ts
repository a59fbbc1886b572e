import { IdTable } from './id-table.ts';
import type { LineFacts } from './line-facts.ts';

/** Index data of an entry, known without reading it. */
export interface EntryNode {
  readonly id: string;
  /** Null for roots, and for entries whose parent is missing. */
  readonly parentId: string | null;
  readonly type: string;
  /** Of message entries. */
  readonly role: string | undefined;
  /** Of custom entries. */
  readonly customType: string | undefined;
}

/** Byte range of a line, without its line end. */
export interface Span {
  readonly offset: number;
  readonly length: number;
}

const NONE = -1;

/** Position, parent and type of every entry of a session, by row in file order. */
export class EntryIndex {
  readonly #ids = new IdTable();
  readonly #names = new Map<string | undefined, number>([[undefined, 0]]);
  readonly #nameOf: (string | undefined)[] = [undefined];
  readonly #unresolved: { row: number; parentId: string }[] = [];
  #messages = 0;
  #lastId = '';
  #offsets = new Float64Array(64);
  #lengths = new Uint32Array(64);
  #parents = new Int32Array(64);
  #types = new Uint32Array(64);
  #kinds = new Uint32Array(64);

  get size(): number {
    return this.#ids.size;
  }

  get hasMessages(): boolean {
    return this.#messages > 0;
  }

  row(id: string): number | undefined {
    return this.#ids.row(id);
  }

  id(row: number): string {
    return this.#ids.id(row);
  }

  type(row: number): string {
    return this.#nameOf[this.#types[row] ?? 0] ?? '';
  }

  /** The row of the parent; undefined for roots. */
  parent(row: number): number | undefined {
    const parent = this.#parents[row] ?? NONE;
    return parent === NONE ? undefined : parent;
  }

  span(row: number): Span {
    return { offset: this.#offsets[row] ?? 0, length: this.#lengths[row] ?? 0 };
  }

  node(row: number): EntryNode {
    const parent = this.parent(row);
    const type = this.type(row);
    const kind = this.#nameOf[this.#kinds[row] ?? 0];
    return {
      id: this.id(row),
      parentId: parent === undefined ? null : this.id(parent),
      type,
      role: type === 'message' ? kind : undefined,
      customType: type === 'message' ? undefined : kind,
    };
  }

  /** This row and its ancestors, up to the root. */
  *ancestry(row: number | undefined): Generator<number> {
    for (let at = row; at !== undefined; at = this.parent(at)) yield at;
  }

  /** This row and its ancestors whose type, role or customType is one of these, nearest first. */
  *rowsOfKind(from: number | undefined, names: readonly string[]): Generator<number> {
    const numbers = this.#kindNumbers(names);
    if (numbers.size === 0) return;
    for (let row = from ?? NONE; row !== NONE; row = this.#parents[row] ?? NONE) {
      if (this.#matches(row, numbers)) yield row;
    }
  }

  /** The same on every branch, latest first. */
  *allRowsOfKind(names: readonly string[]): Generator<number> {
    const numbers = this.#kindNumbers(names);
    if (numbers.size === 0) return;
    for (let row = this.size - 1; row >= 0; row--) {
      if (this.#matches(row, numbers)) yield row;
    }
  }

  /** The row whose line holds this byte; undefined between entries. */
  rowAt(position: number): number | undefined {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if ((this.#offsets[middle] ?? 0) <= position) low = middle + 1;
      else high = middle;
    }
    if (low === 0) return undefined;
    const { offset, length } = this.span(low - 1);
    return position < offset + length ? low - 1 : undefined;
  }

  /** Adds the next line and returns the row of its id. A repeated id keeps its first line. */
  add({ type, id, parentId, kind }: LineFacts, { offset, length }: Span): number {
    const next = this.#ids.size;
    const row = this.#ids.add(id);
    if (row !== next) return row;
    if (row === this.#offsets.length) this.#grow();
    this.#offsets[row] = offset;
    this.#lengths[row] = length;
    this.#types[row] = this.#number(type);
    this.#kinds[row] = this.#number(kind);
    // Nearly every line continues the one before it.
    this.#parents[row] = parentId === this.#lastId ? row - 1 : this.#parentRow(row, parentId);
    this.#lastId = id;
    if (type === 'message' || type === 'custom_message') this.#messages += 1;
    return row;
  }

  /** Links entries whose parent came later. Links that would close a cycle are omitted. */
  resolve(): void {
    const late: number[] = [];
    for (const { row, parentId } of this.#unresolved.splice(0)) {
      const parent = this.#ids.row(parentId);
      if (parent === undefined) continue;
      this.#parents[row] = parent;
      late.push(row);
    }
    if (late.length > 0) this.#cutCycles(late);
  }

  #kindNumbers(names: readonly string[]): ReadonlySet<number> {
    return new Set(names.flatMap((name) => this.#names.get(name) ?? []));
  }

  #matches(row: number, numbers: ReadonlySet<number>): boolean {
    return numbers.has(this.#types[row] ?? 0) || numbers.has(this.#kinds[row] ?? 0);
  }

  #parentRow(row: number, parentId: string | null): number {
    if (parentId === null) return NONE;
    const parent = this.#ids.row(parentId);
    if (parent !== undefined && parent !== row) return parent;
    this.#unresolved.push({ row, parentId });
    return NONE;
  }

  /** Every cycle contains a late link, so walking up from those finds them all. */
  #cutCycles(late: readonly number[]): void {
    const walk = new Uint32Array(this.size);
    for (const [index, start] of late.entries()) {
      for (const row of this.ancestry(start)) {
        const seenBy = walk[row];
        if (seenBy === index + 1) this.#parents[row] = NONE;
        if (seenBy !== 0) break;
        walk[row] = index + 1;
      }
    }
  }

  #number(name: string | undefined): number {
    const known = this.#names.get(name);
    if (known !== undefined) return known;
    this.#names.set(name, this.#nameOf.length);
    return this.#nameOf.push(name) - 1;
  }

  #grow(): void {
    const capacity = this.#offsets.length * 2;
    const grown = <A extends { set(from: A): void }>(from: A, to: A): A => {
      to.set(from);
      return to;
    };
    this.#offsets = grown(this.#offsets, new Float64Array(capacity));
    this.#lengths = grown(this.#lengths, new Uint32Array(capacity));
    this.#parents = grown(this.#parents, new Int32Array(capacity));
    this.#types = grown(this.#types, new Uint32Array(capacity));
    this.#kinds = grown(this.#kinds, new Uint32Array(capacity));
  }
}
