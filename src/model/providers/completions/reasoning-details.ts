type Detail = Record<string, unknown>;

/** The fields of a detail that come piece by piece. */
const growing: ReadonlySet<string> = new Set(['text', 'summary']);

/** Thoughts as OpenRouter takes them apart, put together from their pieces. */
export class ReasoningDetails {
  readonly #details: Detail[] = [];

  add(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (typeof piece !== 'object' || piece === null) continue;
      const begun = this.#details.at(-1);
      if (begun && continues(piece, begun)) extend(begun, piece);
      else this.#details.push({ ...piece });
    }
  }

  /** What has to go back word for word; undefined where the thought is all there is. */
  get seal(): string | undefined {
    const isSealed = this.#details.some(({ signature, data }) => signature || data);
    return isSealed ? JSON.stringify(this.#details) : undefined;
  }
}

const continues = (piece: Detail, begun: Detail) =>
  piece['type'] === begun['type'] && piece['index'] === begun['index'] && piece['type'] !== 'reasoning.encrypted';

function extend(begun: Detail, piece: Detail): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = begun[name];
    begun[name] = growing.has(name) && typeof before === 'string' ? before + String(value) : value;
  }
}
