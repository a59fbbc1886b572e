import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { verifies } from '../../support/verifies.ts';

const SECRET = 'the-secret-outside';
const INNER = 'the-text-inside';

/** A project whose context file, template and skill are links to this file. */
function linkedProject(target: (home: Home) => string): Home {
  const home = newHome();
  writeFileSync(join(home.root, 'outside.md'), SECRET);
  writeFileSync(join(home.cwd, 'inside.md'), INNER);
  for (const folder of ['.pi/prompts', '.pi/skills/odd']) mkdirSync(join(home.cwd, folder), { recursive: true });
  for (const link of ['AGENTS.md', '.pi/prompts/odd.md', '.pi/skills/odd/SKILL.md'])
    symlinkSync(target(home), join(home.cwd, link));
  return home;
}

const outside = (home: Home) => join(home.root, 'outside.md');
const inside = (home: Home) => join(home.cwd, 'inside.md');
const promptScript = [{ text: 'done', when: '.', keep: true }];

verifies('U34', 'links out of an untrusted project are not read, and reported', async ({ open }) => {
  const home = linkedProject(outside);
  const { peer } = await open({ home, script: promptScript, hasForeignFields: true });

  await peer.run('/odd');
  await peer.run('/skill:odd');

  expect(JSON.stringify(peer.records)).not.toContain(SECRET);
  const warnings = peer.records.filter(({ type }) => type === 'warning').map(({ message }) => String(message));
  for (const name of ['AGENTS.md', '.pi/prompts/odd.md', '.pi/skills/odd/SKILL.md'])
    expect(warnings).toContain(
      `${join(home.cwd, name)} is left out: it leads out of the project, which is not trusted`,
    );
});

verifies('U34', 'a link out of a folder above an untrusted project is not read, and reported', async ({ open }) => {
  const home = newHome();
  const link = join(home.root, 'CLAUDE.md');
  const target = outside(newHome());
  writeFileSync(target, SECRET);
  symlinkSync(target, link);
  const { peer } = await open({ home });

  await peer.ok({ type: 'get_state' });

  expect(peer.records.filter(({ type }) => type === 'warning')).toMatchObject([
    { message: `${link} is left out: it leads out of the project, which is not trusted` },
  ]);
});

verifies('U34', 'links within an untrusted project are read', async ({ open }) => {
  const { peer } = await open({ home: linkedProject(inside), script: promptScript });

  await peer.run('/odd');

  expect(JSON.stringify(peer.records)).toContain(INNER);
  expect(peer.records.filter(({ type }) => type === 'warning')).toMatchObject([
    { message: expect.stringContaining('SKILL.md') },
  ]);
});

verifies('U34', 'links out of a trusted project are read', async ({ open }) => {
  const home = linkedProject(outside);
  const { peer } = await open({ home, script: promptScript, args: ['--approve'] });

  await peer.run('/odd');

  expect(JSON.stringify(peer.records)).toContain(SECRET);
});
