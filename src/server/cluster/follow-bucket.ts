import { setTimeout as delay } from 'node:timers/promises';
import type { KvWatchEntry } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';

// How long after its end a watch is opened again.
const REOPEN_WATCH_MS = 500;

interface FollowOptions {
  readonly nats: NatsConnection;
  readonly open: () => Promise<AsyncIterable<KvWatchEntry>>;
  readonly onEntry: (entry: KvWatchEntry) => void;
  readonly onError: (error: unknown) => void;
}

/** Handles the entries of a watch. One that ends before the connection is reported and opened again. */
export async function followBucket(
  watch: AsyncIterable<KvWatchEntry>,
  { nats, open, onEntry, onError }: FollowOptions,
): Promise<void> {
  let entries: AsyncIterable<KvWatchEntry> | undefined = watch;
  while (!nats.isClosed()) {
    try {
      for await (const entry of entries ?? (await open())) handle(entry);
      if (!nats.isDraining() && !nats.isClosed()) onError(new Error('The watch of a bucket ended'));
    } catch (error) {
      onError(error);
    }
    entries = undefined;
    await delay(REOPEN_WATCH_MS, undefined, { ref: false });
  }

  /** An entry that is malformed must not end the watch. */
  function handle(entry: KvWatchEntry): void {
    try {
      onEntry(entry);
    } catch (error) {
      onError(error);
    }
  }
}
