/** Failures that an address may have before it waits, and its first and longest wait. */
export const FREE_FAILURES = 10;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/** The failures of an address are forgotten after this time without one. */
export const FORGIVE_MS = 15 * 60_000;

/** Failures of all addresses together in one minute. */
export const MAX_FAILURES_A_MINUTE = 300;
const FAILURE_WINDOW_MS = 60_000;

/** Beyond this, the address with the oldest activity is forgotten. */
export const MAX_ADDRESSES = 4096;

// An IPv6 address has eight groups; providers assign the first four to one customer.
const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

interface AddressRecord {
  failures: number;
  failedAt: number;
}

/**
 * Slows down wrong tokens: callers check a credential first, so that a valid one never waits.
 *
 * The wait of an address doubles with every further failure. When too many addresses fail, wrong tokens of all wait.
 */
export class Throttle {
  readonly #now: () => number;
  readonly #addresses = new Map<string, AddressRecord>();
  /** The start of the current minute and the failures in it. */
  #windowStart = Number.NEGATIVE_INFINITY;
  #failuresInWindow = 0;

  /** The clock must never run backwards: the wall clock may be set. */
  constructor(now: () => number = () => performance.now()) {
    this.#now = now;
  }

  /** Milliseconds until another failure of the address is answered as such; 0 for now. */
  waitMs(address: string): number {
    const now = this.#now();
    const record = this.#addresses.get(networkOf(address));
    const addressWaitMs = record ? record.failedAt + waitMsAfter(this.#failuresOf(record)) - now : 0;
    const isGloballyLimited = this.#failuresInWindow >= MAX_FAILURES_A_MINUTE;
    const waitMs = Math.max(0, addressWaitMs, isGloballyLimited ? this.#windowStart + FAILURE_WINDOW_MS - now : 0);
    return Math.min(waitMs, LONGEST_WAIT_MS);
  }

  failed(address: string): void {
    const now = this.#now();
    const record = this.#recordFor(address);
    record.failures = this.#failuresOf(record) + 1;
    record.failedAt = now;
    if (now - this.#windowStart >= FAILURE_WINDOW_MS) {
      this.#windowStart = now;
      this.#failuresInWindow = 0;
    }
    this.#failuresInWindow++;
  }

  #failuresOf({ failures, failedAt }: AddressRecord): number {
    return this.#now() - failedAt >= FORGIVE_MS ? 0 : failures;
  }

  #recordFor(address: string): AddressRecord {
    const network = networkOf(address);
    const record = this.#addresses.get(network) ?? { failures: 0, failedAt: 0 };
    this.#addresses.delete(network);
    this.#addresses.set(network, record);
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size > MAX_ADDRESSES && oldest !== undefined) this.#addresses.delete(oldest);
    return record;
  }
}

const waitMsAfter = (failures: number) =>
  failures < FREE_FAILURES ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (failures - FREE_FAILURES), LONGEST_WAIT_MS);

/** The network of an IPv6 address: one customer controls all of its addresses. */
function networkOf(address: string): string {
  const mapped = /^::ffff:(\d+\.\d+\.\d+\.\d+)$/i.exec(address)?.[1];
  if (mapped !== undefined) return mapped;
  if (!address.includes(':')) return address;
  const [head = ''] = address.split('%');
  const [before = '', after] = head.split('::');
  const groups = before.split(':').filter(Boolean);
  if (after === undefined) return groups.slice(0, NETWORK_GROUPS).join(':');
  const zeros = IPV6_GROUPS - groups.length - after.split(':').filter(Boolean).length;
  return [...groups, ...Array<string>(Math.max(0, zeros)).fill('0'), ...after.split(':')]
    .slice(0, NETWORK_GROUPS)
    .join(':');
}
