import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../store/tokens/token-record.ts';

/** The first that is known by this secret. Takes the time of comparing it with all of them, whichever it is. */
export function findBySecret<T extends { readonly sha256: string }>(items: Iterable<T>, secret: string): T | undefined {
  const digest = Buffer.from(digestOf(secret));
  let found: T | undefined;
  for (const item of items) {
    if (timingSafeEqual(Buffer.from(item.sha256), digest)) found ??= item;
  }
  return found;
}
