import { mkdirSync, mkdtempSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { approvals } from './approvals.ts';
import { UsageError } from './flags/flags.ts';
import { parseFlags } from './flags/parse-flags.ts';

const here = process.cwd();
const at = '2026-11-20T10:00:00.000Z';
const saved = {
  [here]: [{ rule: 'bash(npm test)', at }, { rule: 'edit(src/**)' }],
  '/other': [{ rule: 'bash(npm test)' }],
};

// Runs the command in an agent folder with this file.
async function run(words: readonly string[], content: string = JSON.stringify(saved)) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tau-approvals-')));
  onTestFinished(() => rmSync(root, { recursive: true }));
  mkdirSync(join(root, 'agent'));
  const path = join(root, 'agent', 'approvals.json');
  if (content !== '') writeFileSync(path, content);
  vi.stubEnv('PI_CODING_AGENT_DIR', join(root, 'agent'));
  onTestFinished(() => void vi.unstubAllEnvs());
  let output = '';
  const print = (text: unknown, done?: unknown) => {
    output += String(text);
    if (typeof done === 'function') done();
    return true;
  };
  for (const stream of [process.stdout, process.stderr])
    vi.spyOn(stream, 'write').mockImplementation(print as typeof stream.write);
  onTestFinished(() => void vi.restoreAllMocks());
  const code = await approvals(parseFlags(['approvals', ...words]));
  return { code, output: output.replaceAll(path, 'FILE'), left: () => JSON.parse(readFileSync(path, 'utf8')) };
}

const json = (rule: object) => `${JSON.stringify({ folder: here, ...rule })}\n`;

it.each<[string[], string]>([
  [[], 'SAVED       RULE\n2026-11-20  bash(npm test)\n            edit(src/**)\n'],
  [['list', '--json'], json({ rule: 'bash(npm test)', at }) + json({ rule: 'edit(src/**)' })],
])('tau approvals %j lists the approvals of this folder', async (words, output) => {
  expect(await run(words)).toMatchObject({ code: 0, output });
});

it('tau approvals --all lists the approvals of every folder', async () => {
  expect((await run(['--all'])).output).toMatch(/\n {12}bash\(npm test\) {2}\/other\n/);
});

it.each([
  [[], 'No approvals in this folder (--all: in every folder).\n'],
  [['--all'], 'No approvals.\n'],
])('tau approvals %j reports that there are none', async (words, output) => {
  expect(await run(words, '')).toMatchObject({ code: 0, output });
});

it.each([
  [['remove', 'bash(npm test)'], { ...saved, [here]: [{ rule: 'edit(src/**)' }] }, 'Removed bash(npm test).\n'],
  [['remove', 'bash(npm', 'test)'], { ...saved, [here]: [{ rule: 'edit(src/**)' }] }, 'Removed bash(npm test).\n'],
  [
    ['remove', '--all', 'bash(npm test)'],
    { [here]: [{ rule: 'edit(src/**)' }] },
    'Removed bash(npm test) from 2 folders.\n',
  ],
])('tau approvals %j removes exactly that rule', async (words, left, output) => {
  const result = await run(words);

  expect(result).toMatchObject({ code: 0, output });
  expect(result.left()).toEqual(left);
});

it('a rule that is not saved is reported, and nothing changes', async () => {
  const { code, output, left } = await run(['remove', 'bash(ls)']);

  expect({ code, output }).toEqual({ code: 1, output: 'tau: There is no approval bash(ls) in this folder\n' });
  expect(left()).toEqual(saved);
});

it('a malformed file is reported', async () => {
  expect(await run([], '{')).toMatchObject({ code: 0, output: expect.stringContaining('tau: FILE: ') });
  expect(await run(['--all'], '{')).toMatchObject({ code: 1, output: expect.stringContaining('tau: FILE: ') });
  expect(await run(['remove', 'x'], '{')).toMatchObject({ code: 1 });
});

it.each([['forget'], ['list', 'x'], ['remove'], ['remove', 'x', '--json']])(
  'tau approvals %s %s is a usage error',
  async (...words) => {
    await expect(run(words)).rejects.toBeInstanceOf(UsageError);
  },
);
