import type { RunRecords } from '../../../store/run-journal.ts';

export const NO_RUNS: RunRecords = { ended: [] };

export function parseRuns(data: Uint8Array): RunRecords {
  const { running, ended } = JSON.parse(new TextDecoder().decode(data)) as Partial<RunRecords>;
  return { running, ended: Array.isArray(ended) ? ended : [] };
}

/** The runs of a session, kept in its log: each change is a record with all of them. */
export class LogRuns {
  readonly #append: (data: Uint8Array) => void;
  #records: RunRecords;
  #text: string;

  constructor(records: RunRecords, append: (data: Uint8Array) => void) {
    this.#append = append;
    this.#records = records;
    this.#text = JSON.stringify(records);
  }

  get(): RunRecords {
    return this.#records;
  }

  set(records: RunRecords): void {
    const text = JSON.stringify(records);
    this.#records = records;
    if (text === this.#text) return;
    this.#text = text;
    this.#append(new TextEncoder().encode(text));
  }
}
