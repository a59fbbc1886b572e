import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { editText } from './edit-text.ts';

const edit = (content: string, ...pairs: [oldText: string, newText: string][]) =>
  editText(
    content,
    pairs.map(([oldText, newText]) => ({ oldText, newText })),
    'file.txt',
  );

describe('an edit', () => {
  it.each([
    ['in the middle', 'a b c', 'b', 'X', 'a X c'],
    ['of everything', 'all', 'all', '', ''],
    ['that adds lines', 'a\nb\n', 'a\n', 'a\nnew\n', 'a\nnew\nb\n'],
    ['with what replacements of strings would take for a pattern', 'a $1 c', '$1', "$&$'", "a $&$' c"],
    ['of a text in which it also stands overlapping itself', 'x\n\n\ny', '\n\n', '\n', 'x\n\ny'],
    ['of blanks alone', 'a  b', '  ', ' ', 'a b'],
  ])('%s is made', (_what, content, oldText, newText, edited) => {
    expect(edit(content, [oldText, newText])).toBe(edited);
  });

  it.each([
    ['gives new lines the break of the file', 'a\r\nb\r\n', 'a\nb', 'x\ny\nz', 'x\r\ny\r\nz\r\n'],
    ['takes breaks of either kind', 'a\nb\n', 'a\r\nb', 'x\r\ny', 'x\ny\n'],
    ['leaves the breaks of other lines as they are', 'a\r\nb\nc\rd\r\n', 'b', 'x\ny', 'a\r\nx\r\ny\nc\rd\r\n'],
    ['keeps the byte order mark', '\uFEFFa\r\nb', 'a', 'x', '\uFEFFx\r\nb'],
    ['keeps the lack of a last break', 'a\nb', 'b', 'c', 'a\nc'],
  ])('%s', (_what, content, oldText, newText, edited) => {
    expect(edit(content, [oldText, newText])).toBe(edited);
  });

  it('is searched for in the original text', () => {
    expect(edit('one two', ['one', 'two'], ['two', 'one'])).toBe('two one');
    expect(() => edit('one', ['one', 'two'], ['two', 'three'])).toThrow('Could not find edits[1]');
  });
});

describe('a lookalike text', () => {
  it.each([
    ['quotes', 'say(‘hi’, “you”)', 'say(\'hi\', "you")', 'x', 'x'],
    ['dashes', 'a–b—c−d', 'a-b-c-d', 'x', 'x'],
    ['spaces', 'a\u00A0b\u3000c', 'a b c', 'x', 'x'],
    ['compatible characters', 'ﬁne ①', 'fine 1', 'x', 'x'],
    ['letters apart from their marks', 'cafe\u0301!', 'café!', 'x', 'x'],
    ['blanks at the ends of its lines', 'a  \nb\t\nc', 'a\nb\nc', 'x', 'x'],
    ['blanks at the ends of the lines looked for', 'a\nb', 'a \nb  ', 'x', 'x'],
    ['a break of Windows and blanks', 'a \r\nb\r\n', 'a\nb', 'x\ny', 'x\r\ny\r\n'],
  ])('is found: %s', (_what, content, oldText, newText, edited) => {
    expect(edit(content, [oldText, newText])).toBe(edited);
  });

  it('is the only text that changes', () => {
    const content = '“kept”  \n‘a’ = “b”; // ‘kept’ \n\tkept\u00A0too\u3000\n';

    expect(edit(content, ['\'a\' = "b";', "'a' = 'c';"])).toBe(
      "“kept”  \n'a' = 'c'; // ‘kept’ \n\tkept\u00A0too\u3000\n",
    );
  });

  it('is ignored if the exact text occurs once without lookalikes', () => {
    expect(edit('“a” “b”', ['“b”', 'x'])).toBe('“a” x');
  });

  it.each([
    ['a part of a character', 'ﬁx', 'ix'],
    ['a beginning, when blanks were asked for after it', 'foobar', 'foo '],
    ['one of three dots', 'a…', 'a.'],
  ])('is not %s', (_what, content, oldText) => {
    expect(() => edit(content, [oldText, 'x'])).toThrow('Could not find the exact text');
  });

  it('matches only whole lines where characters combine', () => {
    expect(edit('b\nㄱㅏ\nc', ['가', 'x'])).toBe('b\nx\nc');
    expect(() => edit('b\nㄱㅏ!\nc', ['가', 'x'])).toThrow('Could not find');
  });
});

it('occurrences in one very long line are counted', () => {
  expect(() => edit(`${'“e” '.repeat(200_000)}\n`, ['"e"', 'x'])).toThrow('Found 200000 occurrences');
});

describe('an invalid edit fails with a reason:', () => {
  const one = (oldText: string, newText = 'x') => [{ oldText, newText }];
  const two = (oldText: string, newText = 'x') => [...one('b', 'y'), { oldText, newText }];

  it.each([
    ['no edit', [], 'Edit tool input is invalid. edits must contain at least one replacement.'],
    ['nothing to look for', one(''), 'oldText must not be empty in p/f.'],
    ['nothing to look for, of several', two(''), 'edits[1].oldText must not be empty in p/f.'],
    [
      'not found',
      one('z'),
      'Could not find the exact text in p/f. The old text must match exactly including all whitespace and newlines.',
    ],
    [
      'not found, of several',
      two('z'),
      'Could not find edits[1] in p/f. The old text must match exactly including all whitespace and newlines.',
    ],
    [
      'not unique',
      one('a'),
      'Found 3 occurrences of the text in p/f. The text must be unique. Please provide more context to make it unique.',
    ],
    [
      'not unique, of several',
      two('a'),
      'Found 3 occurrences of edits[1] in p/f. The text must be unique. Please provide more context to make it unique.',
    ],
    [
      'unique, but for what looks the same',
      one('"q"'),
      'Found 2 occurrences of the text in p/f. The text must be unique. Please provide more context to make it unique.',
    ],
    ['the same text', one('b', 'b'), 'No changes made to p/f. The replacement produced identical content.'],
    [
      'the same texts',
      [...one('b', 'b'), ...one('c', 'c')],
      'No changes made to p/f. The replacements produced identical content.',
    ],
    [
      'overlapping texts',
      [...one('c\n'), ...one('b c')],
      'edits[1] and edits[0] overlap in p/f. Merge them into one edit or target disjoint regions.',
    ],
  ])('%s', (_what, edits, message) => {
    expect(() => editText('a b c\na a\n"q" “q”\n', edits, 'p/f')).toThrow(new Error(message));
  });
});

describe('any edits of any text', () => {
  /** Pieces of a text; marked pieces are replaced, each unique by its number. */
  const anyPieces = fc.array(
    fc.record({
      text: fc.string({ unit: fc.constantFrom('a', ' ', '\t', '\n', 'ü', '“', '🙂', '-', '\u2028'), maxLength: 12 }),
      newText: fc.option(fc.string({ unit: fc.constantFrom('a', 'b', '\n', '“', '$&'), maxLength: 12 }), {
        nil: undefined,
      }),
    }),
    { minLength: 1, maxLength: 12 },
  );
  const anyFile = fc.record({
    pieces: anyPieces.filter((pieces) => pieces.some(({ newText }) => newText !== undefined)),
    bom: fc.constantFrom('', '\uFEFF'),
    lineBreak: fc.constantFrom('\n', '\r\n'),
  });

  it('replace exactly their ranges; the byte order mark and line breaks survive', () => {
    fc.assert(
      fc.property(anyFile, fc.integer(), ({ pieces, bom, lineBreak }, seed) => {
        const marked = pieces.map((piece, index) => ({ ...piece, text: `<${index}>${piece.text}</${index}>` }));
        const inFile = (text: string) => text.replaceAll('\n', lineBreak);
        const content = bom + inFile(marked.map(({ text }) => text).join(''));
        const edits = marked.flatMap(({ text, newText }) =>
          newText === undefined ? [] : [{ oldText: text, newText }],
        );
        const turned = edits.map((_edit, index) => edits[(index + Math.abs(seed % edits.length)) % edits.length]);

        const edited = editText(
          content,
          turned.flatMap((one) => one ?? []),
          'file',
        );

        // A text without line breaks defines none.
        const known = content.includes('\n') ? inFile : (text: string) => text;
        const expected = marked.map(({ text, newText }) => (newText === undefined ? inFile(text) : known(newText)));
        expect(edited).toBe(bom + expected.join(''));
      }),
    );
  });

  it('are found in a line with a trailing blank and a combining character', () => {
    expect(edit('e\u0301<> \n\r\n', ['<>', '#'])).toBe('e\u0301# \n\r\n');
  });

  it('are found for any spelling of quotes, dashes, spaces and line ends, and change nothing else', () => {
    const lookalikes: Readonly<Record<string, readonly string[]>> = {
      '"': ['"', '“', '”', '„', '‟'],
      "'": ["'", '‘', '’', '‚', '‛'],
      '-': ['-', '‐', '–', '—', '−'],
      ' ': [' ', '\u00A0', '\u2003', '\u202F', '\u3000'],
      '\n': ['\n', '\r\n', ' \n', '\t\r\n'],
      é: ['é', 'e\u0301'],
      fi: ['fi', 'ﬁ'],
    };
    const anySpelling = fc
      .array(fc.record({ plain: fc.constantFrom('a', ...Object.keys(lookalikes)), choice: fc.nat(4) }), {
        maxLength: 20,
      })
      .map((letters) => ({
        plain: letters.map(({ plain }) => plain).join(''),
        spelled: letters
          .map(({ plain, choice }) => lookalikes[plain]?.[choice % (lookalikes[plain]?.length ?? 1)] ?? plain)
          .join(''),
      }));

    fc.assert(
      fc.property(anySpelling, anySpelling, anySpelling, (before, target, after) => {
        const edited = edit(`${before.spelled}<${target.spelled}>${after.spelled}`, [`<${target.plain}>`, '#']);

        expect(edited).toBe(`${before.spelled}#${after.spelled}`);
      }),
    );
  });
});
