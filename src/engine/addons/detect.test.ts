import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { type AddonPaths, hasAddons } from './detect.ts';

/** A user with a home, a project in a repository, and these files. */
function addonPaths(files: readonly string[], more: Partial<AddonPaths> = {}): AddonPaths {
  const root = tempFolder();
  for (const file of ['home/.pi/agent/settings.json', 'repo/.git/HEAD', 'repo/part/src/main.ts', ...files]) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), '');
  }
  return {
    agentDir: join(root, 'home/.pi/agent'),
    home: join(root, 'home'),
    cwd: join(root, 'repo/part'),
    settings: {},
    options: {},
    ...more,
  };
}

it.each([
  ['nothing', []],
  [
    'settings, context files and sessions',
    ['home/.pi/agent/sessions/a/b.jsonl', 'repo/part/.pi/settings.json', 'repo/AGENTS.md'],
  ],
  ['skills above the repository', ['.agents/skills/a/SKILL.md']],
  ['other things for agents', ['home/.agents/notes.md', 'repo/part/.agents/notes.md']],
])('no add-on is detected for %s', (_title, files) => {
  expect(hasAddons(addonPaths(files))).toBe(false);
});

it('no add-on is detected for empty lists and disabled searches', () => {
  const settings = { extensions: [], skills: [], prompts: [], packages: [] };
  const options = { extensions: [], skills: [], promptTemplates: [], findSkills: false, findPromptTemplates: false };

  expect(hasAddons(addonPaths([], { settings, options }))).toBe(false);
});

it.each([
  'home/.pi/agent/skills/a/SKILL.md',
  'home/.pi/agent/prompts/a.md',
  'home/.pi/agent/extensions/a.ts',
  'home/.pi/agent/rules/a.md',
  'home/.pi/agent/mcp.json',
  'home/.agents/skills/a/SKILL.md',
  'repo/part/.pi/skills/a/SKILL.md',
  'repo/part/.pi/prompts/a.md',
  'repo/part/.pi/agent/skills/a/SKILL.md',
  'repo/part/.pi/agent/prompts/a.md',
  'repo/part/.pi/extensions/a.ts',
  'repo/part/.pi/rules/a.md',
  'repo/part/.pi/mcp.json',
  'repo/part/.agents/skills/a/SKILL.md',
  'repo/.agents/skills/a/SKILL.md',
])('an add-on is detected for %s', (file) => {
  expect(hasAddons(addonPaths([file]))).toBe(true);
});

it.each([
  { settings: { skills: ['a'] } },
  { settings: { prompts: ['a'] } },
  { settings: { extensions: ['a'] } },
  { settings: { packages: ['a'] } },
  { options: { skills: ['a'] } },
  { options: { promptTemplates: ['a'] } },
  { options: { extensions: ['a'] } },
  { options: { extensionFactories: new Map([['a', () => {}]]) } },
])('an add-on is detected for %j', (named) => {
  expect(hasAddons(addonPaths([], named))).toBe(true);
});
