import { join, relative } from 'node:path';
import { expect, it } from 'vitest';
import type { PackageSetting } from '../../../store/settings.ts';
import { tempFolder } from '../../../store/testing/temp-folder.ts';
import { writeFiles } from '../testing/write-files.ts';
import { packageResources } from './package-resources.ts';

function resources(
  files: Readonly<Record<string, string>>,
  packages: readonly PackageSetting[],
  { trusted = true }: { trusted?: boolean } = {},
) {
  const root = tempFolder();
  writeFiles(root, files);
  const roots = { agentDir: join(root, 'agent'), cwd: join(root, 'project'), trusted };
  const { extensions, skills, prompts, warnings } = packageResources(packages, roots);
  const shown = (path: string) => relative(root, path);
  return {
    extensions: extensions.map(({ path, scope, origin, baseDir }) => [shown(path), scope, origin, shown(baseDir)]),
    skills: skills.map(shown),
    prompts: prompts.map(shown),
    warnings,
  };
}

it('a package without a manifest contributes its conventional folders', () => {
  const files = {
    'agent/tools/extensions/a.ts': '',
    'agent/tools/extensions/b/index.ts': '',
    'agent/tools/skills/s/SKILL.md': '',
    'agent/tools/prompts/p.md': '',
  };

  expect(resources(files, ['./tools'])).toEqual({
    extensions: [
      ['agent/tools/extensions/a.ts', 'user', 'package', 'agent/tools'],
      ['agent/tools/extensions/b/index.ts', 'user', 'package', 'agent/tools'],
    ],
    skills: ['agent/tools/skills'],
    prompts: ['agent/tools/prompts'],
    warnings: [],
  });
});

it('a package with a manifest contributes only the listed resources', () => {
  const files = {
    'agent/tools/package.json': JSON.stringify({ pi: { extensions: ['src/x.ts'], prompts: ['texts/*.md'] } }),
    'agent/tools/src/x.ts': '',
    'agent/tools/texts/a.md': '',
    'agent/tools/texts/b.txt': '',
    'agent/tools/skills/s/SKILL.md': '',
    'agent/tools/extensions/other.ts': '',
  };

  expect(resources(files, ['tools'])).toMatchObject({
    extensions: [['agent/tools/src/x.ts', 'user', 'package', 'agent/tools']],
    skills: [],
    prompts: ['agent/tools/texts/a.md'],
  });
});

it.each([
  ['npm:tools', 'npm/node_modules/tools'],
  ['npm:tools@1.2.3', 'npm/node_modules/tools'],
  ['npm:@some/tools@^2', 'npm/node_modules/@some/tools'],
  ['git:github.com/some/tools@v1', 'git/github.com/some/tools'],
  ['git:git@github.com:some/tools.git', 'git/github.com/some/tools'],
  ['https://github.com/some/tools', 'git/github.com/some/tools'],
  ['ssh://git@example.com/some/tools@main', 'git/example.com/some/tools'],
])('%s resolves to its install folder, of the project before the user', (source, folder) => {
  const user = { [`agent/${folder}/extensions/a.ts`]: '' };
  const both = { ...user, [`project/.pi/${folder}/extensions/a.ts`]: '' };
  const found = (files: Record<string, string>, options?: { trusted: boolean }) =>
    resources(files, [source], options).extensions.map(([path, scope]) => [path, scope]);

  expect(found(user)).toEqual([[`agent/${folder}/extensions/a.ts`, 'user']]);
  expect(found(both)).toEqual([[`project/.pi/${folder}/extensions/a.ts`, 'project']]);
  expect(found(both, { trusted: false })).toEqual([[`agent/${folder}/extensions/a.ts`, 'user']]);
});

it('a package path may be a single file', () => {
  expect(resources({ 'agent/one.ts': '' }, ['one.ts'])).toMatchObject({
    extensions: [['agent/one.ts', 'user', 'package', 'agent/one.ts']],
    skills: [],
  });
});

it('a package that is not installed gives a warning, and the others load', () => {
  const found = resources({ 'agent/here/extensions/a.ts': '' }, ['npm:not-here', './gone', 'here', 'npm:', '']);

  expect(found.extensions).toHaveLength(1);
  expect(found.warnings).toEqual(
    ['npm:not-here', './gone', 'npm:', ''].map((source) => `The package ${source} is not installed; it is ignored`),
  );
});

it('patterns in the settings select among the resources of a package', () => {
  const files = {
    'agent/tools/extensions/a.ts': '',
    'agent/tools/extensions/b.ts': '',
    'agent/tools/extensions/c.ts': '',
    'agent/tools/skills/s/SKILL.md': '',
    'agent/tools/skills/t/SKILL.md': '',
    'agent/tools/prompts/p.md': '',
    'agent/tools/prompts/q.md': '',
  };
  const choose = (choice: object) => {
    const { extensions, skills, prompts } = resources(files, [{ source: 'tools', ...choice }]);
    return [...extensions.map(([path = '']) => path), ...skills, ...prompts].map((path) =>
      relative('agent/tools', path),
    );
  };
  const nothing = { extensions: [], skills: [], prompts: [] };

  expect(choose(nothing)).toEqual([]);
  expect(choose({ ...nothing, extensions: ['extensions/*.ts', '!extensions/b.ts'] })).toEqual([
    'extensions/a.ts',
    'extensions/c.ts',
  ]);
  expect(choose({ ...nothing, extensions: ['-extensions/a.ts', '!*.ts', '+extensions/c.ts'] })).toEqual([
    'extensions/c.ts',
  ]);
  expect(choose({ ...nothing, skills: ['skills/t'], prompts: ['prompts/q.md'] })).toEqual(['skills/t', 'prompts/q.md']);
  expect(choose({ ...nothing, skills: ['!skills/t/SKILL.md'] })).toEqual(['skills/s']);
});
