import { expect, it } from 'vitest';
import { formFields } from './form-field.ts';

const LONG = 'x'.repeat(100_000);

it.each([
  ['name', { [LONG]: { type: 'string' } }],
  ['default', { a: { type: 'array', items: { enum: ['b'] }, default: Array(200).fill(LONG) } }],
  ['choices', { a: { type: 'array', items: { enum: Array(200).fill(LONG) } } }],
  ['options', { a: { type: 'string', enum: Array(200).fill(LONG) } }],
])('a dialog is bounded, whatever the length of the %s of its field', (_, properties) => {
  const [field] = formFields({ properties }) ?? [];

  const dialog = field?.dialog(`MCP server s: ${LONG}`);

  expect(JSON.stringify(dialog).length).toBeLessThan(30_000);
});
