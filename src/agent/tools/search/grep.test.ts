import { execFileSync } from 'node:child_process';
import { symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryPathBeside } from '../../../system/files/atomic-write.ts';
import { compile, processes, readAll, temporaryFolder, until } from '../../../system/testing/script.ts';
import type { ToolOutput } from '../../tool.ts';
import { grepTool } from './grep.ts';
import { filesOfGit, git, makeTree } from './testing/file-tree.ts';

const parent = temporaryFolder();
const start = processes();

function grep(cwd: string, args: Record<string, unknown>, signal = new AbortController().signal): Promise<ToolOutput> {
  return grepTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });
}

/** A program with `grep` bound to its working directory. */
function agent(source: string): string {
  const folder = makeTree(parent, {});
  symlinkSync(join(import.meta.dirname, '../../../../node_modules'), join(folder, 'node_modules'));
  return compile(
    folder,
    `import { grepTool } from '../agent/tools/search/grep.ts';
     const signal = new AbortController().signal;
     const grep = (args) => grepTool(process.cwd()).execute({ args, signal, update() {} });
     ${source}`,
  );
}

const textIn = ({ content: [block] }: ToolOutput) => (block?.type === 'text' ? block.text : '');
const text = (value: string): ToolOutput => ({ content: [{ type: 'text', text: value }] });
const shown = async (cwd: string, args: Record<string, unknown>) => textIn(await grep(cwd, args)).split('\n');

const noMatches = 'No matches found';

describe('grep', () => {
  const tree = makeTree(parent, {
    'b.txt': 'one\ntwo foo\nthree\n',
    'a/x.ts': 'const foo = 1;\r\nFOO\r\n',
    'a/y.js': 'foo.bar\nfooXbar\n',
    '.hidden/.env': 'foo=',
    '.git/config': 'foo',
    'node_modules/m.js': 'foo',
  });

  it('returns path, number and line, in path order', async () => {
    expect(await grep(tree, { pattern: 'foo' })).toEqual(
      text(
        [
          '.hidden/.env:1: foo=',
          'a/x.ts:1: const foo = 1;',
          'a/y.js:1: foo.bar',
          'a/y.js:2: fooXbar',
          'b.txt:2: two foo',
          'node_modules/m.js:1: foo',
        ].join('\n'),
      ),
    );
  });

  it.each([
    ['a regular expression', { pattern: '^fo{2}\\.' }, ['a/y.js:1: foo.bar']],
    ['plain text', { pattern: 'foo.bar', literal: true }, ['a/y.js:1: foo.bar']],
    ['any case', { pattern: '^foo$', ignoreCase: true, path: 'a' }, ['x.ts:2: FOO']],
    ['a file', { pattern: 'foo', path: 'a/x.ts' }, ['x.ts:1: const foo = 1;']],
    ['a file whatever the glob', { pattern: 'foo', path: 'a/x.ts', glob: '*.js' }, ['x.ts:1: const foo = 1;']],
    ['nothing', { pattern: 'nowhere' }, [noMatches]],
  ])('matches %s', async (_what, args, lines) => {
    expect(await shown(tree, args)).toEqual(lines);
  });

  it.each([
    ['*.ts', ['a/x.ts']],
    ['*.{ts,js}', ['a/x.ts', 'a/y.js', 'a/y.js', 'node_modules/m.js']],
    ['a/*.js', ['a/y.js', 'a/y.js']],
    ['{a,b}/**/*.ts', ['a/x.ts']],
    ['**/*.txt', ['b.txt']],
    ['a/**', ['a/x.ts', 'a/y.js', 'a/y.js']],
    ['!*.js', ['.hidden/.env', 'a/x.ts', 'b.txt']],
    ['!{a,node_modules}/**', ['.hidden/.env', 'b.txt']],
  ])('searches only files matching %s', async (glob, files) => {
    expect((await shown(tree, { pattern: 'foo', glob })).map((line) => line.split(':')[0])).toEqual(files);
  });

  it.each([['-e'], ['--files'], ['--'], ['-']])('accepts a pattern that looks like a flag: %s', async (pattern) => {
    const root = makeTree(parent, { '--help': `x ${pattern} y` });

    expect(await shown(root, { pattern })).toEqual([`--help:1: x ${pattern} y`]);
    expect(await shown(root, { pattern, path: '--help' })).toEqual([`--help:1: x ${pattern} y`]);
  });

  it('finds lines of any bytes in files of any name', async () => {
    const root = makeTree(parent, {
      'two\nlines/in side': 'foo',
      'a:1: b': 'foo',
      bytes: Buffer.from('foo\xFF', 'latin1'),
    });
    writeFileSync(Buffer.concat([Buffer.from(`${root}/n`), Buffer.from([0xff])]), 'foo');

    expect(await shown(root, { pattern: 'foo' })).toEqual([
      'a:1: b:1: foo',
      'bytes:1: foo\uFFFD',
      'n\uFFFD:1: foo',
      'two\\nlines/in side:1: foo',
    ]);
  });

  it('skips binary files', async () => {
    const root = makeTree(parent, { early: '\0foo', late: `${'foo\n'.repeat(50_000)}\0`, text: 'foo' });

    const lines = await shown(root, { pattern: 'foo', limit: 1_000_000, glob: '{early,text}' });

    expect(lines).toEqual(['text:1: foo']);
    expect(await shown(root, { pattern: 'foo', path: 'early' })).toEqual([
      expect.stringMatching(/^early: binary file matches/),
    ]);
    expect((await shown(root, { pattern: 'foo$', limit: 1 }))[0]).toBe('late:1: foo');
  });

  it('does not read pipes', async () => {
    const root = makeTree(parent, { file: 'foo' });
    execFileSync('mkfifo', [join(root, 'pipe')]);

    expect(await shown(root, { pattern: 'foo' })).toEqual(['file:1: foo']);
    await expect(grep(root, { pattern: 'foo', path: 'pipe' })).rejects.toThrow('Not a regular file');
  });

  it('does not follow symlinks', async () => {
    const root = makeTree(parent, { 'a/file': 'foo' });
    symlinkSync('..', join(root, 'a/up'));

    expect(await shown(root, { pattern: 'foo' })).toEqual(['a/file:1: foo']);
  });
});

describe('context', () => {
  const root = makeTree(parent, { f: 'a\nfoo\nb\nc\nd\nfoo\ne\n' });

  it('is returned around each match', async () => {
    expect(await shown(root, { pattern: 'foo', context: 1 })).toEqual([
      'f-1- a',
      'f:2: foo',
      'f-3- b',
      'f-5- d',
      'f:6: foo',
      'f-7- e',
    ]);
  });

  it('of a match beyond the limit is not returned', async () => {
    expect(await shown(root, { pattern: 'foo', context: 2, limit: 1 })).toEqual([
      'f-1- a',
      'f:2: foo',
      'f-3- b',
      'f-4- c',
      '',
      '[1 matches limit reached. Use limit=2 for more, or refine pattern]',
    ]);
  });
});

describe('.gitignore', () => {
  it('hides the same files as git', async () => {
    const root = makeTree(parent, {
      '.gitignore': '*.log\nout/\n!keep.log\n',
      'a.log': 'foo',
      'keep.log': 'foo',
      'out/a.txt': 'foo',
      'x/.gitignore': 'keep.log\n!b.log',
      'x/keep.log': 'foo',
      'x/b.log': 'foo',
    });
    git(root, 'init', '--quiet');

    const files = (await shown(root, { pattern: '.' })).map((line) => line.split(':')[0] ?? '');

    expect([...new Set(files)].sort()).toEqual(filesOfGit(root));
    expect(await shown(root, { pattern: 'foo', glob: '*.log' })).toEqual(['keep.log:1: foo', 'x/b.log:1: foo']);
    expect(await shown(join(root, 'x'), { pattern: 'foo', glob: '*.log' })).toEqual(['b.log:1: foo']);
  });

  it('applies outside of a repository', async () => {
    const root = makeTree(parent, { '.gitignore': '*.log', 'a.log': 'foo', 'x/b.log': 'foo', 'x/c': 'foo' });

    expect(await shown(root, { pattern: 'foo' })).toEqual(['x/c:1: foo']);
  });

  it('above the repository has no effect', async () => {
    const root = makeTree(parent, { '.gitignore': '*', 'repo/a.log': 'foo' });
    git(join(root, 'repo'), 'init', '--quiet');

    expect(await shown(join(root, 'repo'), { pattern: 'foo' })).toEqual(['a.log:1: foo']);
  });

  it('does not hide the searched file or folder itself', async () => {
    const root = makeTree(parent, { '.gitignore': 'out/', 'out/a': 'foo' });

    expect(await shown(root, { pattern: 'foo', path: 'out' })).toEqual(['a:1: foo']);
    expect(await shown(root, { pattern: 'foo', path: 'out/a' })).toEqual(['a:1: foo']);
  });
});

describe('the limit', () => {
  it('adds a notice with the next limit', async () => {
    expect(await grep(makeTree(parent, { a: 'foo\nfoo', b: 'foo' }), { pattern: 'foo', limit: 2 })).toEqual({
      ...text('a:1: foo\na:2: foo\n\n[2 matches limit reached. Use limit=4 for more, or refine pattern]'),
      details: { matchLimitReached: 2 },
    });
  });

  it('returns the first matches, with a notice only if there are more', async () => {
    const root = makeTree(parent, { a: 'foo\nfoo\n', 'b/c': 'foo', 'b/d': 'x\nfoo\nx\nfoo', e: 'foo' });
    const all = await shown(root, { pattern: 'foo' });

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: all.length + 2 }), async (limit) => {
        const [lines = '', notice] = textIn(await grep(root, { pattern: 'foo', limit })).split('\n\n');

        expect(lines.split('\n')).toEqual(all.slice(0, limit));
        expect(notice !== undefined).toBe(limit < all.length);
      }),
      { numRuns: 20 },
    );
  });

  it('is 500 characters for a line', async () => {
    const root = makeTree(parent, { a: `${'界'.repeat(499)}🙂foo\n${'y'.repeat(500)}\n${'z'.repeat(501)}` });

    expect(await grep(root, { pattern: '.' })).toEqual({
      ...text(
        [
          `a:1: ${'界'.repeat(499)}... [truncated]`,
          `a:2: ${'y'.repeat(500)}`,
          `a:3: ${'z'.repeat(500)}... [truncated]`,
          '',
          '[Some lines truncated to 500 chars. Use read tool to see full lines]',
        ].join('\n'),
      ),
      details: { linesTruncated: true },
    });
  });

  it('is 50 KiB at most', async () => {
    const output = await grep(makeTree(parent, { a: `${'x'.repeat(600)}\n`.repeat(200) }), {
      pattern: 'x',
      limit: 150,
    });

    expect(textIn(output)).toMatch(/\n\n\[50\.0KB limit reached\. Some lines truncated to 500 chars\. .*\]$/);
    expect(output.details).toMatchObject({ truncation: { truncatedBy: 'bytes' }, linesTruncated: true });
  });

  it('keeps memory constant for long lines and many matches', async () => {
    const root = makeTree(parent, { a: 'x'.repeat(30_000_000), b: 'x\n'.repeat(10_000_000) });
    // Not maxRSS of resourceUsage: a child process inherits that from its parent.
    const script = agent(`
      const { readFileSync } = await import('node:fs');
      await grep({ pattern: 'x', path: 'a', limit: 1 });
      const before = process.memoryUsage.rss();
      const { content } = await grep({ pattern: 'x', limit: 1e9, context: 1e9 });
      const [, peak] = /VmHWM:\\s+(\\d+) kB/.exec(readFileSync('/proc/self/status', 'utf8'));
      const grown = peak * 1024 - before;
      console.log(JSON.stringify({ grown, text: content[0].text }));`);

    const result = JSON.parse(await readAll(start(process.execPath, [script], { cwd: root }).stdout));

    expect(result.text).toMatch(/^a:1: x{500}\.\.\. \[truncated\]\nb:1: x\n.*\[2000 lines limit reached\. /s);
    expect(result.grown).toBeLessThan(20 * 1024 * 1024);
  });
});

describe('a failing search', () => {
  it('reports the error in its pattern', async () => {
    await expect(grep(parent, { pattern: 'a(b' })).rejects.toThrow(
      /^regex parse error:\n {4}\(\?:a\(b\)\n {4}\^\nerror: unclosed group$/,
    );
  });

  it('reports a missing path', async () => {
    await expect(grep(parent, { pattern: 'a', path: 'no' })).rejects.toThrow(`Path not found: ${join(parent, 'no')}`);
  });

  it('without ripgrep names the package to install', async () => {
    const script = compile(
      parent,
      `import { grepTool } from '../agent/tools/search/grep.ts';
       await grepTool('/').execute({ args: { pattern: 'x' }, signal: new AbortController().signal })
         .catch((error) => console.log(error.message));`,
    );

    expect(await readAll(start(process.execPath, [script]).stdout)).toBe(
      `grep needs ripgrep, which is not installed. Run: npm install @vscode/ripgrep-${process.platform}-${process.arch}\n`,
    );
  });
});

describe('a running search', () => {
  /** A sparse file that keeps ripgrep busy longer than any test. */
  const root = makeTree(parent, { endless: '' });
  truncateSync(join(root, 'endless'), 2 ** 40);
  const running = (pattern: string) =>
    execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
      .split('\n')
      .filter((line) => line.includes(`--regexp=${pattern}`));

  it('ends with the abort', async () => {
    const pattern = `abort-${process.pid}`;
    const controller = new AbortController();
    const failure = expect(grep(root, { pattern, path: 'endless' }, controller.signal)).rejects.toThrow(
      'Operation aborted',
    );
    await until(() => running(pattern).length === 1);

    controller.abort();

    await failure;
    expect(running(pattern)).toEqual([]);
  });

  it('ends with the agent, even if that is killed', async () => {
    const pattern = `kill-${process.pid}`;
    const script = agent(`await grep({ pattern: '${pattern}', path: 'endless' });`);
    const child = start(process.execPath, [script], { cwd: root });
    await until(() => running(pattern).length === 1);

    child.kill('SIGKILL');

    await until(() => running(pattern).length === 0);
  });

  it('does not start after an abort', async () => {
    await expect(grep(root, { pattern: 'x' }, AbortSignal.abort())).rejects.toThrow('Operation aborted');
  });
});

it('[T29] grep does not search files that tau is writing', async () => {
  const tree = makeTree(parent, { 'a.txt': 'half', '.tau-notes.tmp': 'half' });
  writeFileSync(temporaryPathBeside(join(tree, 'a.txt')), 'half');

  expect(await shown(tree, { pattern: 'half' })).toEqual(['.tau-notes.tmp:1: half', 'a.txt:1: half']);
});
