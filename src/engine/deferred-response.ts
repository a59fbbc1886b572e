/** A response that does not block the session lane. */
export class DeferredResponse<T> {
  readonly value: Promise<T>;

  constructor(value: Promise<T>) {
    this.value = value;
  }
}
