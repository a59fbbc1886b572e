import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../store/tokens/token-record.ts';

/** Finds the first candidate with this secret, in time that does not depend on which one it is. */
export function findBySecret<T extends { readonly sha256: string }>(items: Iterable<T>, secret: string): T | undefined {
  const digest = Buffer.from(digestOf(secret));
  let found: T | undefined;
  for (const item of items) {
    if (timingSafeEqual(Buffer.from(item.sha256), digest)) found ??= item;
  }
  return found;
}
