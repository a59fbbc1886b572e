import { execFileSync } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { temporaryPathBeside } from '../../../system/files/atomic-write.ts';
import { temporaryFolder } from '../../../system/testing/script.ts';
import type { ToolOutput } from '../../tool.ts';
import { findTool } from './find.ts';
import { type FileTree, filesOfGit, git, makeTree } from './testing/file-tree.ts';

const parent = temporaryFolder();

function find(cwd: string, args: Record<string, unknown>, signal = new AbortController().signal): Promise<ToolOutput> {
  return findTool(cwd).execute({ toolCallId: 'call', args, signal, update: () => {} });
}

const textIn = ({ content: [block] }: ToolOutput) => (block?.type === 'text' ? block.text : '');
const text = (value: string): ToolOutput => ({ content: [{ type: 'text', text: value }] });
const found = async (cwd: string, pattern: string) => textIn(await find(cwd, { pattern, limit: 10_000 })).split('\n');

/** Files that match `*`. */
const files = async (cwd: string) => (await found(cwd, '*')).filter((path) => !path.endsWith('/')).sort();

const noFiles = 'No files found matching pattern';

describe('find', () => {
  const tree = makeTree(parent, {
    'b.ts': '',
    'a/x.ts': '',
    'a/deep/er/y.ts': '',
    'a/z.js': '',
    '.hidden/.dot.ts': '',
    'empty/': '',
    'node_modules/m/index.ts': '',
    '.git/config.ts': '',
  });

  it.each([
    ['*.ts', ['.hidden/.dot.ts', 'a/deep/er/y.ts', 'a/x.ts', 'b.ts', 'node_modules/m/index.ts']],
    ['a/*', ['a/deep/', 'a/x.ts', 'a/z.js']],
    ['a/**/*.{ts,js}', ['a/deep/er/y.ts', 'a/x.ts', 'a/z.js']],
    ['e*', ['a/deep/er/', 'empty/']],
    ['**/er', ['a/deep/er/']],
    ['*/', ['.hidden/', 'a/', 'a/deep/', 'a/deep/er/', 'empty/', 'node_modules/', 'node_modules/m/']],
    ['.git', [noFiles]],
    ['config.ts', [noFiles]],
  ])('returns the matches of %s', async (pattern, paths) => {
    expect(await found(tree, pattern)).toEqual(paths);
  });

  it('returns paths relative to the searched folder', async () => {
    expect(textIn(await find(dirname(tree), { pattern: '*.ts', path: join(tree, 'a') }))).toBe('deep/er/y.ts\nx.ts');
  });

  it('escapes control characters in names', async () => {
    const odd = makeTree(parent, { 'two\nlines/in\tside': '', '-rf': '', ' space ': '', '*': '' });
    writeFileSync(Buffer.concat([Buffer.from(`${odd}/n`), Buffer.from([0xff])]), '');

    expect(await found(odd, '*')).toEqual([' space ', '*', '-rf', 'n\uFFFD', 'two\\nlines/', 'two\\nlines/in\\tside']);
  });

  it('does not follow symlinks', async () => {
    const looped = makeTree(parent, { 'a/file': '' });
    symlinkSync('..', join(looped, 'a/up'));
    symlinkSync('missing', join(looped, 'broken'));

    expect(await found(looped, '*')).toEqual(['a/', 'a/file', 'a/up', 'broken']);
  });

  it('without a match reports that no files were found', async () => {
    expect(await find(tree, { pattern: '*.none' })).toEqual(text(noFiles));
  });
});

describe('find in a folder', () => {
  it('that is missing fails with its path', async () => {
    await expect(find(parent, { pattern: '*', path: 'no' })).rejects.toThrow(`Path not found: ${join(parent, 'no')}`);
  });

  it('that is a file fails with its path', async () => {
    const file = join(makeTree(parent, { file: '' }), 'file');

    await expect(find(parent, { pattern: '*', path: file })).rejects.toThrow(`Not a directory: ${file}`);
  });
});

describe('.gitignore', () => {
  const cases: Record<string, FileTree> = {
    'at the top': { '.gitignore': '*.log\n/build\n', 'a.log': '', 'x/b.log': '', build: '', 'x/build': '' },
    'at every level': {
      '.gitignore': '*.log',
      'x/.gitignore': '!keep.log\n*.tmp',
      'x/keep.log': '',
      'x/b.tmp': '',
      'a.tmp': '',
    },
    'with the last word for the deepest': {
      '.gitignore': '!a',
      'x/.gitignore': 'a',
      'x/y/.gitignore': '!a',
      'x/y/a': '',
      'x/a': '',
      a: '',
    },
    'for folders': { '.gitignore': 'out/\nboth', 'out/a': '', 'x/out': '', 'x/both/b': '', 'y/out/deep/c': '' },
    'for paths': {
      '.gitignore': 'a/b\n**/c/d\ne/**/f\ng/**',
      'a/b': '',
      'x/a/b': '',
      'x/c/d': '',
      'e/f': '',
      'e/1/2/f': '',
      'g/h': '',
      'x/g/h': '',
    },
    'that takes back in vain': { '.gitignore': 'dir/\n!dir/keep', 'dir/keep': '', other: '' },
    'that takes back with effect': { '.gitignore': 'dir/*\n!dir/keep', 'dir/keep': '', 'dir/other': '' },
    'with comments, escapes and spaces': {
      '.gitignore': '# a\n\n\\#b\n\\!c\nd  \ne\\ \n',
      '# a': '',
      '#b': '',
      '!c': '',
      d: '',
      'd  ': '',
      'e ': '',
      e: '',
    },
    'with a byte order mark and CRLF': { '.gitignore': '\uFEFFa\r\nb\r\n', a: '', b: '', c: '' },
    'with brackets': {
      '.gitignore': '[a-c]?.[!x]\n[[:digit:]]\n[open',
      'a1.y': '',
      'a1.x': '',
      'd1.y': '',
      7: '',
      '[open': '',
    },
    'of everything but': { '.gitignore': '*\n!*/\n!*.ts', 'a.ts': '', 'a.js': '', 'x/b.ts': '', 'x/b.js': '' },
  };

  it.each(Object.entries(cases))('%s hides the same files as git', async (_where, tree) => {
    const root = makeTree(parent, tree);
    git(root, 'init', '--quiet');

    expect(await files(root)).toEqual(filesOfGit(root));
  });

  it('of any content hides the same files as git', async () => {
    const part = fc.constantFrom('a', 'b', 'ab', '*', 'a*', '*b', '?', '[ab]', '[!a]', '**', '\\a');
    const line = fc
      .tuple(
        fc.constantFrom('', '!'),
        fc.constantFrom('', '/'),
        fc.array(part, { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', '/'),
      )
      .map(([not, start, parts, end]) => `${not}${start}${parts.join('/')}${end}`);
    const lines = fc.array(line, { maxLength: 4 }).map((some) => some.join('\n'));
    const paths = ['a', 'b/a', 'b/b/a', 'ab/a/b', 'ab/b', 'c/a/ab', 'c/b'];
    const tree = { ...Object.fromEntries(paths.map((path) => [path, ''])), 'b/keep': '' };
    const root = makeTree(parent, tree);
    git(root, 'init', '--quiet');

    await fc.assert(
      fc.asyncProperty(lines, lines, async (top, inner) => {
        writeFileSync(join(root, '.gitignore'), top);
        writeFileSync(join(root, 'b/.gitignore'), inner);

        expect((await files(root)).filter((path) => path !== noFiles)).toEqual(filesOfGit(root));
      }),
      { numRuns: 150 },
    );
  });

  it('applies outside of a repository', async () => {
    const root = makeTree(parent, { '.gitignore': '*.log', 'a.log': '', 'x/b.log': '', 'x/c': '' });

    expect(await files(join(root, 'x'))).toEqual(['c']);
  });

  it('above the repository, or around a nested one, has no effect', async () => {
    const root = makeTree(parent, {
      '.gitignore': '*.log',
      'repo/a.log': '',
      'repo/.gitignore': '*.tmp',
      'repo/in/a.tmp': '',
    });
    git(join(root, 'repo'), 'init', '--quiet');
    git(join(root, 'repo/in'), 'init', '--quiet');

    expect(await files(join(root, 'repo'))).toEqual(['.gitignore', 'a.log', 'in/a.tmp']);
  });

  it('does not hide files in the searched folder itself', async () => {
    const root = makeTree(parent, { '.gitignore': 'node_modules', 'node_modules/m/a.js': '' });

    expect(await files(join(root, 'node_modules'))).toEqual(['m/a.js']);
  });

  it('that is a pipe is not read', async () => {
    const root = makeTree(parent, { a: '' });
    execFileSync('mkfifo', [join(root, '.gitignore')]);

    expect(await files(root)).toEqual(['.gitignore', 'a']);
  });
});

describe('the limit', () => {
  it('adds a notice with the next limit', async () => {
    expect(await find(makeTree(parent, { a: '', b: '', c: '' }), { pattern: '*', limit: 2 })).toEqual({
      ...text('a\nb\n\n[2 results limit reached. Use limit=4 for more, or refine pattern]'),
      details: { resultLimitReached: 2 },
    });
  });

  it('returns the first results, with a notice only if there are more', async () => {
    const root = makeTree(parent, { 'a/b': '', 'a/c/d': '', e: '', 'f/': '', 'g/h/i/j': '' });
    const all = await found(root, '*');

    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: all.length + 2 }), async (limit) => {
        const [shown = '', notice] = textIn(await find(root, { pattern: '*', limit })).split('\n\n');

        expect(shown.split('\n')).toEqual(all.slice(0, limit));
        expect(notice !== undefined).toBe(limit < all.length);
      }),
    );
  });

  it('is 2000 lines or 50 KiB at most', async () => {
    const named = (name: (index: number) => string) =>
      makeTree(parent, Object.fromEntries(Array.from({ length: 2100 }, (_, index) => [name(index), ''])));

    const many = await find(named(String), { pattern: '*', limit: 5000 });
    const long = await find(
      named((index) => `${'x'.repeat(100)}${index}`),
      { pattern: '*', limit: 5000 },
    );

    expect(textIn(many)).toMatch(/\n\n\[2000 lines limit reached\]$/);
    expect(many.details).toMatchObject({ truncation: { truncatedBy: 'lines', outputLines: 2000 } });
    expect(textIn(long)).toMatch(/\n\n\[50\.0KB limit reached\]$/);
    expect(long.details).toMatchObject({ truncation: { truncatedBy: 'bytes' } });
  });
});

describe('abort', () => {
  it('before the start prevents the search', async () => {
    const root = makeTree(parent, { a: '' });

    await expect(find(root, { pattern: '*' }, AbortSignal.abort())).rejects.toThrow('Operation aborted');
  });

  it('stops a running search', async () => {
    const root = makeTree(parent, { a: '' });
    for (let index = 0; index < 500; index++) mkdirSync(join(root, `${index}/x/y`), { recursive: true });
    const controller = new AbortController();
    setImmediate(() => controller.abort());

    await expect(find(root, { pattern: 'none' }, controller.signal)).rejects.toThrow('Operation aborted');
  });
});

it('[T29] find does not list files that tau is writing', async () => {
  const tree = makeTree(parent, { 'a.txt': '', '.tau-notes.tmp': '' });
  writeFileSync(temporaryPathBeside(join(tree, 'a.txt')), 'half');

  expect(await found(tree, '*')).toEqual(['.tau-notes.tmp', 'a.txt']);
});
