import fc from 'fast-check';
import { expect, it } from 'vitest';
import { fileLanguage } from '../../src/web/code/file-language.ts';
import { highlight } from '../../src/web/code/grammars.ts';
import { IncrementalHighlighter } from '../../src/web/code/incremental-highlighter.ts';
import type { CodeToken, Highlighter } from '../../src/web/code/token.ts';

/** The coloured tokens of a text, each as `colour text`. */
const coloured = (text: string, language: string) =>
  highlight(text, language)
    ?.tokens.filter(({ colour }) => colour !== undefined)
    .map((token) => `${token.colour} ${token.text}`);

it.each([
  ['ts', 'const a = `x`; // b', ['keyword const', 'string `x`', 'comment // b']],
  ['py', 'def f(): return None', ['keyword def', 'title f', 'keyword return', 'number None']],
  ['html', '<p id="a">b</p>', ['tag <p ', 'attr id', 'tag =', 'string "a"', 'tag >', 'tag </p>']],
  ['diff', '-a\n+b', ['removed -a', 'added +b']],
  ['toml', 'a = 1 # b', ['attr a', 'number 1', 'comment # b']],
  ['console', 'echo "a"', ['type echo', 'string "a"']],
  ['jsonl', '{"a": true}', ['attr "a"', 'keyword true']],
  ['css', 'a { color: red }', ['tag a', 'attr color']],
])('highlights %s', (language, text, expected) => {
  expect(coloured(text, language)).toEqual(expected);
});

it.each([
  ...[
    'bash',
    'c',
    'cpp',
    'cs',
    'css',
    'diff',
    'docker',
    'go',
    'gql',
    'graphql',
    'ini',
    'java',
    'js',
    'json',
    'jsx',
    'kt',
  ],
  ...[
    'lua',
    'make',
    'md',
    'nginx',
    'php',
    'ps1',
    'py',
    'rb',
    'rs',
    'scss',
    'sh',
    'sql',
    'svg',
    'swift',
    'toml',
    'ts',
    'tsx',
  ],
  ...[
    'vue',
    'xml',
    'yaml',
    'yml',
    'zsh',
    'dockerfile',
    'makefile',
    'rust',
    'python',
    'typescript',
    'powershell',
    'csharp',
  ],
])('has a grammar for %s', (language) => {
  expect(highlight('a', language)).toBeDefined();
});

it.each(['', 'klingon', 'constructor', '__proto__', 'toString'])('has no grammar for %j', (language) => {
  expect(highlight('a', language)).toBeUndefined();
});

it.each([
  ['/a/b.test.TS', 'ts'],
  ['Dockerfile', 'dockerfile'],
  ['C:\\a\\Makefile', 'makefile'],
  ['/home/.bashrc', 'bash'],
  ['.gitignore', 'gitignore'],
  ['', ''],
])('the language of %j is %j', (path, language) => {
  expect(fileLanguage(path)).toBe(language);
});

/** A highlighter that never reports slowness, so that results do not depend on the load of the machine. */
const neverSlow: Highlighter = (text, language) => {
  const found = highlight(text, language);
  return found && { ...found, isSlow: false };
};

const read = (code: IncrementalHighlighter, text: string, isOpen: boolean) => code.read(text, { isOpen }).flat();
const joinTexts = (tokens: readonly CodeToken[]) => tokens.map(({ text }) => text).join('');

it('code received in pieces gets the same colours as the whole code at once', () => {
  const line = fc.constantFrom(
    'const a = 1;',
    '/* open',
    'close */',
    '`text',
    'function f() {',
    '}',
    '',
    'x'.repeat(700),
  );
  const code = fc.array(line, { maxLength: 200 }).map((lines) => lines.join('\n'));
  fc.assert(
    fc.property(code, fc.array(fc.nat(8000), { maxLength: 20 }), (text, cuts) => {
      const growing = new IncrementalHighlighter('ts', neverSlow);
      for (const cut of cuts.sort((one, other) => one - other)) {
        const part = text.slice(0, cut);
        expect(joinTexts(read(growing, part, true))).toBe(part);
      }
      expect(read(growing, text, false)).toEqual(read(new IncrementalHighlighter('ts', neverSlow), text, false));
      expect(joinTexts(read(growing, text, false))).toBe(text);
    }),
    { numRuns: 50 },
  );
});

it.each([
  ['with complete lines', 'const a = 1;\n'],
  ['with an open comment', '/* a comment\n'],
])('the work for code %s grows linearly with its length', (_, line) => {
  let work = 0;
  const counted: Highlighter = (text, language) => {
    work += text.length;
    return neverSlow(text, language);
  };
  const growing = new IncrementalHighlighter('ts', counted);
  const workUntil = (length: number) => {
    for (let end = 0; end < length; end += 10) growing.read(line.repeat(3000).slice(0, end), { isOpen: true });
    return work;
  };
  const [some, more] = [workUntil(6000), workUntil(24_000)];
  expect(more / some).toBeLessThan(6);
});

it('code after a slow chunk is not coloured', () => {
  const slow: Highlighter = (text, language) => {
    const found = highlight(text, language);
    return found && { ...found, isSlow: true };
  };
  const [first, ...others] = new IncrementalHighlighter('ts', slow).read('const a = 1;\n'.repeat(1000), {
    isOpen: false,
  });
  expect(first?.[0]).toEqual({ text: 'const', colour: 'keyword' });
  expect(others.flat().every(({ colour }) => colour === undefined)).toBe(true);
});

it.each(['long', 'with long lines', 'of an unknown language'])('highlighting loses no text of code: %s', (which) => {
  const text = { long: 'let a;\n'.repeat(20_000), 'with long lines': `let a;\n${'x'.repeat(5000)}` }[which] ?? 'let a;';
  const language = which === 'of an unknown language' ? 'klingon' : 'js';
  expect(joinTexts(read(new IncrementalHighlighter(language, highlight), text, false))).toBe(text);
});

const units = [
  'a',
  '_',
  '$',
  '(',
  '{',
  '"',
  '`',
  '<',
  '/*',
  'a b ',
  'a\n',
  '\n',
  '${',
  '[',
  '---\n',
  'func ',
  '0x',
  '((a)',
  'a<b',
];

const LENGTH = process.env['SOAK'] ? 30_000 : 10_000;

it.each(units)('no grammar is slow on long repetitions of %j', (unit) => {
  const text = unit.repeat(LENGTH / unit.length);
  const lines = `${unit.repeat(500 / unit.length)}\n`.repeat(LENGTH / 500);
  for (const language of [
    'c',
    'csharp',
    'css',
    'ini',
    'java',
    'js',
    'md',
    'nginx',
    'ruby',
    'scss',
    'swift',
    'ts',
    'xml',
  ]) {
    for (const code of [text, lines])
      expect(joinTexts(read(new IncrementalHighlighter(language, highlight), code, false))).toBe(code);
  }
});
