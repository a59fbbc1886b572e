// Lists that each direction of a channel remembers.
const MAX_RECIPIENT_LISTS = 64;

/** The recipients of a record as they cross the network. */
export interface RecipientFields {
  readonly to?: readonly number[];
  /** The number of a list; `to` defines it. */
  readonly list?: number;
}

/** Replaces lists of recipients that repeat by numbers: a session with many clients has the same list for most records. */
export class SentRecipients {
  readonly #numbers = new Map<string, number>();
  readonly #keys: string[] = [];
  #next = 0;

  fieldsOf(to: readonly number[]): RecipientFields {
    if (to.length === 1) return { to };
    const key = to.join();
    const known = this.#numbers.get(key);
    if (known !== undefined) return { list: known };
    const list = this.#next;
    this.#next = (list + 1) % MAX_RECIPIENT_LISTS;
    this.#numbers.delete(this.#keys[list] ?? '');
    this.#keys[list] = key;
    this.#numbers.set(key, list);
    return { to, list };
  }
}

/** Restores what `SentRecipients` of the other node has replaced. */
export class ReceivedRecipients {
  readonly #lists: (readonly number[])[] = [];

  of({ to, list }: RecipientFields): readonly number[] {
    if (to && list !== undefined) this.#lists[list] = to;
    return to ?? this.#lists[list ?? 0] ?? [];
  }
}
