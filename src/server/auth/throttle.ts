/** Wrong tokens that an address may show before it has to wait, and how long it waits at first and at most. */
export const FREE_FAILURES = 10;
const FIRST_WAIT_MS = 1000;
const LONGEST_WAIT_MS = 60_000;

/** An address that shows none for this long begins anew. */
export const FORGIVE_MS = 15 * 60_000;

/** Wrong tokens that all addresses together may show in a minute, from the first of them on. */
export const MAX_FAILURES_A_MINUTE = 300;
const FAILURE_WINDOW_MS = 60_000;

/** More addresses than this are not remembered: the one that was not heard of for longest goes. */
export const MAX_ADDRESSES = 4096;

/** An address has eight groups; the first four are the network that a customer is given. */
const IPV6_GROUPS = 8;
const NETWORK_GROUPS = 4;

interface AddressRecord {
  failures: number;
  failedAt: number;
  /** Whether a right token came from there. */
  hasSucceeded: boolean;
}

/**
 * Slows down whoever tries tokens.
 *
 * Each address waits twice as long after every further failure. When too many addresses fail, only those that have shown
 * a right token before may go on, so that strangers do not keep them out.
 */
export class Throttle {
  readonly #now: () => number;
  readonly #addresses = new Map<string, AddressRecord>();
  /** When the minute began, and how many failures there were in it. */
  #windowStart = Number.NEGATIVE_INFINITY;
  #failuresInWindow = 0;

  constructor(now: () => number = Date.now) {
    this.#now = now;
  }

  /** How many milliseconds an address has to wait; 0: it may try. */
  waitMs(address: string): number {
    const now = this.#now();
    const record = this.#addresses.get(networkOf(address));
    const addressWaitMs = record ? record.failedAt + waitMsAfter(this.#failuresOf(record)) - now : 0;
    const isGloballyLimited = this.#failuresInWindow >= MAX_FAILURES_A_MINUTE && !record?.hasSucceeded;
    return Math.max(0, addressWaitMs, isGloballyLimited ? this.#windowStart + FAILURE_WINDOW_MS - now : 0);
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

  /** Takes back no failure: whoever has one token may be trying others. */
  succeeded(address: string): void {
    this.#recordFor(address).hasSucceeded = true;
  }

  #failuresOf({ failures, failedAt }: AddressRecord): number {
    return this.#now() - failedAt >= FORGIVE_MS ? 0 : failures;
  }

  #recordFor(address: string): AddressRecord {
    const network = networkOf(address);
    const record = this.#addresses.get(network) ?? { failures: 0, failedAt: 0, hasSucceeded: false };
    this.#addresses.delete(network);
    this.#addresses.set(network, record);
    const [oldest] = this.#addresses.keys();
    if (this.#addresses.size > MAX_ADDRESSES && oldest !== undefined) this.#addresses.delete(oldest);
    return record;
  }
}

const waitMsAfter = (failures: number) =>
  failures < FREE_FAILURES ? 0 : Math.min(FIRST_WAIT_MS * 2 ** (failures - FREE_FAILURES), LONGEST_WAIT_MS);

/** Whoever has one address of IPv6 has all that begin like it. */
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
