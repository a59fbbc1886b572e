import { expect, it } from 'vitest';
import { promptFor } from './instructions.ts';

const USUAL = 'Use exactly these sections';
const EARLIER = '<previous-summary>\nbefore\n</previous-summary>';

it('a branch has other instructions than a conversation', () => {
  const branch = promptFor({ record: 'r', kind: 'branch' });
  const history = promptFor({ record: 'r', kind: 'history' });

  expect(branch).toContain('is being left');
  expect([branch, history].every((prompt) => prompt.startsWith('<conversation>\nr\n</conversation>'))).toBe(true);
  expect([branch, history].every((prompt) => prompt.includes(USUAL))).toBe(true);
  expect(branch).not.toBe(history);
});

it('custom instructions follow the default ones or replace them', () => {
  const own = { record: 'r', kind: 'branch', customInstructions: 'names' } as const;

  expect(promptFor(own)).toMatch(/Use exactly these sections[\s\S]*Additional focus: names$/);
  expect(promptFor({ ...own, replaceInstructions: true })).toBe('<conversation>\nr\n</conversation>\n\nnames');
});

it('a later record asks for one summary of all records, whatever the instructions', () => {
  const later = { record: 'r', kind: 'branch', previousSummary: 'before' } as const;
  const own = promptFor({ ...later, customInstructions: 'names', replaceInstructions: true });

  expect(promptFor(later)).toContain(EARLIER);
  expect(own).toContain(EARLIER);
  expect(own).toMatch(/names\n\nThe earlier summary stands for what came before this: write one of both\.$/);
});

it('replaceInstructions without custom instructions keeps the default ones', () => {
  expect(promptFor({ record: 'r', kind: 'branch', replaceInstructions: true })).toContain(USUAL);
});
