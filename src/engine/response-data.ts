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
