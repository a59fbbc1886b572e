type Detail = Record<string, unknown>;

// Fields that arrive in pieces.
const streamedFields: ReadonlySet<string> = new Set(['text', 'summary']);

/** Joins the streamed pieces of OpenRouter's reasoning details. */
export class ReasoningDetails {
  readonly #details: Detail[] = [];

  add(pieces: unknown): void {
    if (!Array.isArray(pieces)) return;
    for (const piece of pieces) {
      if (typeof piece !== 'object' || piece === null) continue;
      const current = this.#details.at(-1);
      if (current && continues(piece, current)) extend(current, piece);
      else this.#details.push({ ...piece });
    }
  }

  /** The details as JSON if they must be replayed unchanged; undefined if they are unsigned. */
  get signature(): string | undefined {
    const isSigned = this.#details.some(({ signature, data }) => signature || data);
    return isSigned ? JSON.stringify(this.#details) : undefined;
  }
}

const continues = (piece: Detail, current: Detail) =>
  piece['type'] === current['type'] && piece['index'] === current['index'] && piece['type'] !== 'reasoning.encrypted';

function extend(current: Detail, piece: Detail): void {
  for (const [name, value] of Object.entries(piece)) {
    if (value === null || value === undefined) continue;
    const before = current[name];
    current[name] = streamedFields.has(name) && typeof before === 'string' ? before + String(value) : value;
  }
}
