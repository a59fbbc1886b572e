import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../testing/temp-folder.ts';
import { ApprovalsFile } from './approvals-file.ts';

function open() {
  const root = tempFolder();
  const agentDir = join(root, 'agent');
  const project = join(root, 'project');
  mkdirSync(project);
  const rulesOf = (cwd: string) => new ApprovalsFile(agentDir).list(cwd).approvals.map(({ rule }) => rule);
  return {
    root,
    agentDir,
    project,
    path: join(agentDir, 'approvals.json'),
    file: new ApprovalsFile(agentDir),
    rulesOf,
  };
}

it('nothing is saved at first, and reading creates no file', () => {
  const { file, project, path } = open();

  expect(file.list(project)).toEqual({ approvals: [], warnings: [] });
  expect(existsSync(path)).toBe(false);
});

it('an approval is saved once, privately, for its project alone, which stays unchanged', async () => {
  const { file, root, project, path, rulesOf } = open();

  await file.add(project, 'bash(npm test)');
  await file.add(project, 'bash(npm test)');
  await file.add(project, 'bash(git status *)');

  expect(rulesOf(project)).toEqual(['bash(npm test)', 'bash(git status *)']);
  expect(rulesOf(root)).toEqual([]);
  expect(rulesOf(join(project, 'src'))).toEqual([]);
  expect(file.list(project).approvals[0]).toEqual({ rule: 'bash(npm test)', scope: 'project', at: expect.any(String) });
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readdirSync(project)).toEqual([]);
});

it('a project is known by its real path', async () => {
  const { file, root, project, rulesOf } = open();
  symlinkSync(project, join(root, 'link'));

  await file.add(join(root, 'link'), 'files__read');

  expect(rulesOf(project)).toEqual(['files__read']);
});

it('an approval can be removed', async () => {
  const { file, project, rulesOf } = open();
  await file.add(project, 'a');
  await file.add(project, 'b');

  expect(await file.remove(project, 'a')).toBe(true);
  expect(await file.remove(project, 'a')).toBe(false);

  expect(rulesOf(project)).toEqual(['b']);
});

it('approvals that are saved at once are all kept', async () => {
  const { agentDir, project, rulesOf } = open();
  const rules = Array.from({ length: 20 }, (_, index) => `tool_${index}`);

  await Promise.all(rules.map((rule) => new ApprovalsFile(agentDir).add(project, rule)));

  expect(rulesOf(project).sort()).toEqual([...rules].sort());
});

it('no project has more approvals than the limit: the oldest go', async () => {
  const { file, agentDir, project, path, rulesOf } = open();
  mkdirSync(agentDir);
  const saved = Array.from({ length: 500 }, (_, index) => ({ rule: `tool_${index}` }));
  writeFileSync(path, JSON.stringify({ [project]: saved }));

  await file.add(project, 'new');

  expect(rulesOf(project)).toEqual([...saved.slice(1).map(({ rule }) => rule), 'new']);
});

it.each(['{', '[]', 'null', '"bash"'])(
  'a file that holds %s allows nothing, warns, and is left as it is',
  async (content) => {
    const { file, agentDir, project, path } = open();
    mkdirSync(agentDir);
    writeFileSync(path, content);

    const { approvals, warnings } = file.list(project);

    expect(approvals).toEqual([]);
    expect(warnings).toEqual([expect.stringContaining('approvals.json')]);
    await expect(file.add(project, 'bash(npm test)')).rejects.toThrow(/left as it is|list/);
    await expect(file.remove(project, 'bash(npm test)')).rejects.toThrow(/left as it is|list/);
    expect(readFileSync(path, 'utf8')).toBe(content);
    expect(readdirSync(agentDir).filter((name) => name.startsWith('approvals.json.bad'))).toEqual([]);
  },
);

it('entries that cannot be read allow nothing, are named, and stay', async () => {
  const { file, agentDir, project, path, rulesOf } = open();
  mkdirSync(agentDir);
  const odd = [{ rule: 7 }, 'bash', null, { rule: '' }];
  writeFileSync(path, JSON.stringify({ [project]: [...odd, { rule: 'a' }], '/other': 'text' }));

  expect(file.list(project).warnings).toEqual([expect.stringContaining('4 approvals')]);
  await file.add(project, 'b');

  expect(rulesOf(project)).toEqual(['a', 'b']);
  const content = JSON.parse(readFileSync(path, 'utf8'));
  expect(content[project].slice(0, 4)).toEqual(odd);
  expect(content['/other']).toBe('text');
});

it('approvals of a project that are no list allow nothing and are not overwritten', async () => {
  const { file, agentDir, project, path } = open();
  mkdirSync(agentDir);
  writeFileSync(path, JSON.stringify({ [project]: { rule: 'bash' } }));

  expect(file.list(project)).toEqual({ approvals: [], warnings: [expect.stringContaining('no list')] });
  await expect(file.add(project, 'a')).rejects.toThrow('no list');
});
