import { expect, it } from 'vitest';
import { randomUuid } from './random-uuid.ts';

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

it('[V29] a session id is a random UUID, even if the browser hides crypto.randomUUID', () => {
  const insecure = { getRandomValues: (bytes: Uint8Array<ArrayBuffer>) => crypto.getRandomValues(bytes) };

  const names = Array.from({ length: 200 }, (_, index) => randomUuid(index % 2 ? insecure : crypto));

  expect(names.filter((name) => !UUID.test(name))).toEqual([]);
  expect(new Set(names).size).toBe(200);
});
