import { MAX_READ_BLOCK_MS } from './read-turns.ts';

/** A response that does not block the session lane. */
export class DeferredResponse<T> {
  readonly value: Promise<T>;

  constructor(value: Promise<T>) {
    this.value = value;
  }
}

/** Response data that is already JSON; the dispatcher inserts it unchanged. */
export class EncodedJson<T> {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** The only place where text poses as the value it encodes. */
  asValue(): T {
    return this as unknown as T;
  }
}

/** A long response that is encoded in steps, and describes the moment of the last one. */
export class SteppedResponse<T> {
  /** The whole data at this moment, for a program in this process. */
  readonly value: () => T;
  /** Encodes a part; returns the JSON of the data after the last one. */
  readonly next: () => EncodedJson<T> | undefined;

  constructor(value: () => T, next: () => EncodedJson<T> | undefined) {
    this.value = value;
    this.next = next;
  }
}

/** Encodes a growing list as the only field of a response. A list that is replaced meanwhile is encoded from its start. */
export function steppedList<K extends string, V>(
  name: K,
  list: () => readonly V[],
): SteppedResponse<{ [name in K]: V[] }> {
  let encoding: readonly V[] | undefined;
  let parts: string[] = [];
  const next = () => {
    const current = list();
    if (current !== encoding) parts = [];
    encoding = current;
    for (const end = performance.now() + MAX_READ_BLOCK_MS; parts.length < current.length; ) {
      parts.push(JSON.stringify(current[parts.length]));
      if (performance.now() > end && parts.length < current.length) return undefined;
    }
    return new EncodedJson<{ [name in K]: V[] }>(`{"${name}":[${parts.join(',')}]}`);
  };
  return new SteppedResponse(() => ({ [name]: [...list()] }) as { [name in K]: V[] }, next);
}
