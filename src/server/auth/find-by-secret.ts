import { timingSafeEqual } from 'node:crypto';
import { digestOf } from '../../store/tokens/token-record.ts';

/** The first that is known by this secret. Takes the time of comparing it with all of them, whichever it is. */
export function findBySecret<T extends { readonly sha256: string }>(known: Iterable<T>, secret: string): T | undefined {
  const wanted = Buffer.from(digestOf(secret));
  let found: T | undefined;
  for (const one of known) {
    if (timingSafeEqual(Buffer.from(one.sha256), wanted)) found ??= one;
  }
  return found;
}
