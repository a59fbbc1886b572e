/** An answer that no other command waits for. */
export class DeferredResponse<T> {
  readonly value: Promise<T>;

  constructor(value: Promise<T>) {
    this.value = value;
  }
}
