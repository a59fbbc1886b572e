import { afterEach, expect, it, vi } from 'vitest';
import { approvals, type SavedRules } from './approvals.ts';
import { UsageError } from './flags/flags.ts';
import { parseFlags } from './flags/parse-flags.ts';

const here = process.cwd();

// Runs the command on these rules and returns the exit code, the output and what is left.
async function run(
  words: readonly string[],
  saved = [
    { project: here, rule: 'bash(npm test)', at: '2026-11-20T10:00:00.000Z' },
    { project: here, rule: 'edit(src/**)' },
    { project: '/other', rule: 'bash(npm test)' },
  ],
) {
  let left = [...saved];
  const rules: SavedRules = {
    list: (project) => left.filter((rule) => project === undefined || rule.project === project),
    remove: async (project, rule) => {
      const before = left.length;
      left = left.filter((one) => one.project !== project || one.rule !== rule);
      return left.length < before;
    },
  };
  let output = '';
  const print = (text: unknown, done?: unknown) => {
    output += String(text);
    if (typeof done === 'function') done();
    return true;
  };
  vi.spyOn(process.stdout, 'write').mockImplementation(print as typeof process.stdout.write);
  vi.spyOn(process.stderr, 'write').mockImplementation(print as typeof process.stderr.write);
  const code = await approvals(parseFlags(['approvals', ...words]), rules);
  return { code, output, left: left.map(({ project, rule }) => `${project === here ? 'here' : project} ${rule}`) };
}

afterEach(() => void vi.restoreAllMocks());

it.each<[string[], string]>([
  [[], 'SAVED       RULE\n2026-11-20  bash(npm test)\n            edit(src/**)\n'],
  [
    ['list', '--json'],
    `{"project":${JSON.stringify(here)},"rule":"bash(npm test)","at":"2026-11-20T10:00:00.000Z"}\n{"project":${JSON.stringify(here)},"rule":"edit(src/**)"}\n`,
  ],
])('tau approvals %j lists the rules of this folder', async (words, output) => {
  expect(await run(words)).toMatchObject({ code: 0, output });
});

it('tau approvals --all lists the rules of every folder', async () => {
  expect((await run(['--all'])).output).toMatch(/\n {12}bash\(npm test\) {2}\/other\n/);
});

it('without rules the list says so', async () => {
  expect((await run([], [])).output).toBe('No approvals in this folder (--all: in every folder).\n');
  expect((await run(['--all'], [])).output).toBe('No approvals.\n');
});

it.each([
  [['remove', 'bash(npm test)'], ['here edit(src/**)', '/other bash(npm test)'], 'Removed bash(npm test).\n'],
  [['remove', 'bash(npm', 'test)'], ['here edit(src/**)', '/other bash(npm test)'], 'Removed bash(npm test).\n'],
  [['remove', '--all', 'bash(npm test)'], ['here edit(src/**)'], 'Removed bash(npm test) from 2 folders.\n'],
])('tau approvals %j removes exactly that rule', async (words, left, output) => {
  expect(await run(words)).toEqual({ code: 0, output, left });
});

it('a rule that is not there is reported, and nothing changes', async () => {
  const { code, output, left } = await run(['remove', 'bash(ls)']);

  expect({ code, output }).toEqual({ code: 1, output: 'tau: There is no approval bash(ls) in this folder\n' });
  expect(left).toHaveLength(3);
});

it.each([['forget'], ['list', 'x'], ['remove'], ['remove', 'x', '--json']])(
  'tau approvals %j %j is a usage error',
  async (...words) => {
    await expect(run(words)).rejects.toBeInstanceOf(UsageError);
  },
);
