import fc from 'fast-check';
import { expect, it } from 'vitest';
import { summaryText, withoutFiles } from './summary-text.ts';

const none = { readFiles: [], modifiedFiles: [] };

it('a summary without prefix and files is the history alone', () => {
  expect(summaryText('All of it.', undefined, none)).toBe('All of it.');
});

it('the start of a split turn is included, also without history', () => {
  expect(summaryText('Before.', 'Begun.', none)).toBe('Before.\n\n---\n\n**Turn Context (split turn):**\n\nBegun.');
  expect(summaryText(undefined, 'Begun.', none)).toBe(
    'No prior history.\n\n---\n\n**Turn Context (split turn):**\n\nBegun.',
  );
});

it('file lists come last', () => {
  expect(summaryText('Before.', undefined, { readFiles: ['a', 'b c'], modifiedFiles: ['d'] })).toBe(
    'Before.\n\n<read-files>\na\nb c\n</read-files>\n\n<modified-files>\nd\n</modified-files>',
  );
});

it('withoutFiles restores the text without file lists, whatever the paths', () => {
  const text = fc.string().filter((value) => value !== '' && value === value.trim() && !value.includes('-files>'));
  const paths = fc.array(fc.string({ minLength: 1 }).filter((path) => !/[\n<>]/.test(path)));
  fc.assert(
    fc.property(
      text,
      fc.option(text, { nil: undefined }),
      paths,
      paths,
      (history, prefix, readFiles, modifiedFiles) => {
        const whole = summaryText(history, prefix, { readFiles, modifiedFiles });
        expect(withoutFiles(whole)).toBe(summaryText(history, prefix, none));
      },
    ),
  );
});
