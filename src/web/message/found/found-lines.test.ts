import { describe, expect, it } from 'vitest';
import { foundIn, plainPatterns, searchedParts } from './found-lines.ts';
import { withNotice } from './result-notice.ts';

describe('what grep found', () => {
  it('is told by file and line', () => {
    expect(foundIn('src/a-b.ts:3: let x: 4: number;\nsrc/a-b.ts-4- \nsrc/c.ts:12: x')).toEqual([
      {
        path: 'src/a-b.ts',
        lines: [
          { number: 3, text: 'let x: 4: number;', isMatch: true },
          { number: 4, text: '', isMatch: false },
        ],
      },
      { path: 'src/c.ts', lines: [{ number: 12, text: 'x', isMatch: true }] },
    ]);
  });

  it('is told of files whose names hold dates', () => {
    const output = 'docs/2026-01-15-notes.md:3: a-1- b\ndocs/2026-01-15-notes.md-4- on 2026-01-15-\na:1:b.md:7:';
    expect(foundIn(output)).toEqual([
      {
        path: 'docs/2026-01-15-notes.md',
        lines: [
          { number: 3, text: 'a-1- b', isMatch: true },
          { number: 4, text: 'on 2026-01-15-', isMatch: false },
        ],
      },
      { path: 'a:1:b.md', lines: [{ number: 7, text: '', isMatch: true }] },
    ]);
  });

  it('is nothing that can be told when it has another form', () => {
    expect(foundIn('No matches found')).toBeUndefined();
    expect(foundIn('a.ts:1: x\n<script>')).toBeUndefined();
    expect(foundIn('')).toBeUndefined();
  });

  it('is apart from what the tool adds', () => {
    expect(withNotice('a.ts:1: x\n\n[100 matches limit reached. Refine pattern]')).toEqual({
      text: 'a.ts:1: x',
      notice: '100 matches limit reached. Refine pattern',
    });
    expect(withNotice('[a]\n[b]')).toEqual({ text: '[a]\n[b]', notice: '' });
  });
});

describe('a pattern', () => {
  const plain = (pattern: string) => plainPatterns(pattern, { isLiteral: false });

  it('is shown where it can only mean some texts', () => {
    expect(plain('coupon')).toEqual(['coupon']);
    expect(plain(String.raw`\bget\b|set\(|a\.b`)).toEqual(['get', 'set(', 'a.b']);
    expect(plainPatterns('(a+)+', { isLiteral: true })).toEqual(['(a+)+']);
  });

  it('is not run where it could mean anything', () => {
    for (const pattern of ['(a+)+$', 'a.b', '[x]', '^x', String.raw`\w`, 'a|', '', String.raw`a\|b`])
      expect(plain(pattern)).toEqual([]);
  });

  it('stands out in a line', () => {
    const parts = searchedParts('Get getter', ['get', 'getter'], { ignoresCase: true });

    expect(parts).toEqual([
      { text: 'Get', isFound: true },
      { text: ' ', isFound: false },
      { text: 'getter', isFound: true },
    ]);
    expect(searchedParts('\u0130 get', ['get'], { ignoresCase: true })).toEqual([
      { text: '\u0130 get', isFound: false },
    ]);
    expect(searchedParts('', ['get'], { ignoresCase: false })).toEqual([{ text: '', isFound: false }]);
  });
});
