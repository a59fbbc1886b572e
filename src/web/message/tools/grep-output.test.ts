import { describe, expect, it } from 'vitest';
import { matchParts, parseGrepOutput, plainPatterns } from './grep-output.ts';
import { splitNotice } from './tool-use.ts';

describe('parseGrepOutput', () => {
  it('groups lines by file', () => {
    expect(parseGrepOutput('src/a-b.ts:3: let x: 4: number;\nsrc/a-b.ts-4- \nsrc/c.ts:12: x')).toEqual([
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

  it('reads file names that contain dates', () => {
    const output = 'docs/2026-01-15-notes.md:3: a-1- b\ndocs/2026-01-15-notes.md-4- on 2026-01-15-\na:1:b.md:7:';
    expect(parseGrepOutput(output)).toEqual([
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

  it('is undefined for any other format', () => {
    expect(parseGrepOutput('No matches found')).toBeUndefined();
    expect(parseGrepOutput('a.ts:1: x\n<script>')).toBeUndefined();
    expect(parseGrepOutput('')).toBeUndefined();
  });

  it('leaves the note of the tool to splitNotice', () => {
    expect(splitNotice('a.ts:1: x\n\n[100 matches limit reached. Refine pattern]')).toEqual({
      text: 'a.ts:1: x',
      notice: '100 matches limit reached. Refine pattern',
    });
    expect(splitNotice('[a]\n[b]')).toEqual({ text: '[a]\n[b]', notice: '' });
  });
});

describe('plainPatterns', () => {
  const plain = (pattern: string) => plainPatterns(pattern, { isLiteral: false });

  it('lists the texts of a simple pattern', () => {
    expect(plain('coupon')).toEqual(['coupon']);
    expect(plain(String.raw`\bget\b|set\(|a\.b`)).toEqual(['get', 'set(', 'a.b']);
    expect(plainPatterns('(a+)+', { isLiteral: true })).toEqual(['(a+)+']);
  });

  it('is empty for a pattern that would have to be run', () => {
    for (const pattern of ['(a+)+$', 'a.b', '[x]', '^x', String.raw`\w`, 'a|', '', String.raw`a\|b`])
      expect(plain(pattern)).toEqual([]);
  });

  it('are marked in a line by matchParts', () => {
    const parts = matchParts('Get getter', ['get', 'getter'], { ignoresCase: true });

    expect(parts).toEqual([
      { text: 'Get', isFound: true },
      { text: ' ', isFound: false },
      { text: 'getter', isFound: true },
    ]);
    expect(matchParts('\u0130 get', ['get'], { ignoresCase: true })).toEqual([{ text: '\u0130 get', isFound: false }]);
    expect(matchParts('', ['get'], { ignoresCase: false })).toEqual([{ text: '', isFound: false }]);
  });
});
