/** Data of an answer that is JSON already. The dispatcher puts it into the line as it is. */
export class EncodedJson<T> {
  readonly json: string;

  constructor(json: string) {
    this.json = json;
  }

  /** The one place where text poses as the value it spells. */
  asValue(): T {
    return this as unknown as T;
  }
}
