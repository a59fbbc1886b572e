import { mkdirSync, mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadSkillsFromDir } from './skills.ts';

it('skills of the user and the project are local, with their scope', () => {
  const dir = mkdtempSync(join(tmpdir(), 'tau-skills-'));
  mkdirSync(join(dir, 'knit'));
  writeFileSync(join(dir, 'knit', 'SKILL.md'), '---\nname: knit\ndescription: Knits\n---\nUse wool.');
  const sourceOf = (source: string) => loadSkillsFromDir({ dir, source }).skills[0]?.sourceInfo;

  expect(sourceOf('user')).toMatchObject({ source: 'local', scope: 'user' });
  expect(sourceOf('project')).toMatchObject({ source: 'local', scope: 'project' });
  expect(sourceOf('path')).toMatchObject({ source: 'local', scope: 'temporary' });
  expect(sourceOf('mine')).toMatchObject({ source: 'mine', scope: 'temporary' });
});
