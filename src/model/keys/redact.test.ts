import { expect, it } from 'vitest';
import { redact } from './redact.ts';

it('secrets are replaced, with and without the scheme of a header', () => {
  const values = ['Bearer tok-123456', 'hunter22', 'hunter22-longer', 'on', ''];

  expect(redact('401 for Bearer tok-123456: tok-123456, hunter22-longer, hunter22', values)).toBe('401 for …: …, …, …');
  expect(redact('turn it on', values)).toBe('turn it on');
});
