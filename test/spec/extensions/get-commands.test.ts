import { join } from 'node:path';
import { expect } from 'vitest';
import { userTexts } from '../../support/agent/run-records.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { verifies } from '../../support/verifies.ts';

/** A home with templates and skills in every kind of location. */
function homeWithTemplates(): { home: Home; args: string[] } {
  const home = newHome();
  writeFiles(home, {
    'agent/prompts/review.md': '---\nargument-hint: "[focus]"\n---\nReview $1 (user)',
    'project/.pi/agent/prompts/fix-tests.md': '---\ndescription: Fix failing tests\n---\nFix $1',
    'agent/skills/brave-search/SKILL.md': '---\ndescription: Web search via Brave API\n---\nSearch.',
    'project/.agents/skills/deploy/SKILL.md': '---\nname: deploy\ndescription: Ships it.\n---\nShip.',
    'elsewhere/odd name.md': '---\ndescription: Odd.\n---\nOddly.',
  });
  return { home, args: ['--skill', '../elsewhere'] };
}

verifies('N1 N3 N4 N6 N7 N8 N9 N10', 'templates and skills are listed with their source', async ({ open }) => {
  const { home, args } = homeWithTemplates();
  const { peer } = await open({ home, args });
  const sourceOf = (path: string, scope: string, baseDir: string) => ({
    path,
    sourceInfo: { path, source: 'auto', scope, origin: 'top-level', baseDir },
  });
  const { agentDir, cwd, root } = home;
  const elsewhere = join(root, 'elsewhere');
  const odd = join(elsewhere, 'odd name.md');

  const { commands } = await peer.ok({ type: 'get_commands' });

  expect(commands).toEqual([
    {
      name: 'fix-tests',
      description: 'Fix failing tests',
      source: 'prompt',
      location: 'project',
      ...sourceOf(join(cwd, '.pi/agent/prompts/fix-tests.md'), 'project', join(cwd, '.pi/agent')),
    },
    {
      name: 'review',
      description: 'Review $1 (user)',
      source: 'prompt',
      location: 'user',
      argumentHint: '[focus]',
      ...sourceOf(join(agentDir, 'prompts/review.md'), 'user', agentDir),
    },
    {
      name: 'skill:deploy',
      description: 'Ships it.',
      source: 'skill',
      location: 'project',
      ...sourceOf(join(cwd, '.agents/skills/deploy/SKILL.md'), 'project', join(cwd, '.agents')),
    },
    {
      name: 'skill:brave-search',
      description: 'Web search via Brave API',
      source: 'skill',
      location: 'user',
      ...sourceOf(join(agentDir, 'skills/brave-search/SKILL.md'), 'user', agentDir),
    },
    {
      name: 'skill:odd name',
      description: 'Odd.',
      source: 'skill',
      location: 'path',
      path: odd,
      sourceInfo: { path: odd, source: 'local', scope: 'temporary', origin: 'top-level', baseDir: elsewhere },
    },
  ]);
});

verifies('N2', 'every listed command runs when a prompt names it', async ({ open }) => {
  const { peer } = await open(homeWithTemplates());
  const { commands } = await peer.ok({ type: 'get_commands' });

  for (const { name } of commands) await peer.run(`/${name} now`);

  expect(userTexts(peer.records)).toEqual([
    'Fix now',
    'Review now (user)',
    expect.stringMatching(/^<skill name="deploy" location=".+">\n.+\n\nShip\.\n<\/skill>\n\nnow$/),
    expect.stringMatching(/^<skill name="brave-search" location=".+">\n.+\n\nSearch\.\n<\/skill>\n\nnow$/),
    expect.stringMatching(/^<skill name="odd name" location=".+">\n.+\n\nOddly\.\n<\/skill>\n\nnow$/),
  ]);
});
