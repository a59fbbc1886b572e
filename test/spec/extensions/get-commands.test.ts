import { join } from 'node:path';
import { expect } from 'vitest';
import { userTexts } from '../../support/agent/run-records.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { verifies } from '../../support/verifies.ts';

const builtins = ['/compact', '/new', '/model', '/quit', '/name x', '/settings'];

verifies('N1', 'get_commands returns a list', async ({ open }) => {
  const { peer } = await open();

  const response = await peer.request({ type: 'get_commands' });

  expect(response).toMatchObject({ command: 'get_commands', success: true, data: { commands: [] } });
});

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

verifies('N3 N4 N6 N7 N8 N9 N10', 'templates and skills are listed with their source', async ({ open }) => {
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
      name: 'review',
      description: 'Review $1 (user)',
      source: 'prompt',
      location: 'user',
      argumentHint: '[focus]',
      ...sourceOf(join(agentDir, 'prompts/review.md'), 'user', agentDir),
    },
    {
      name: 'fix-tests',
      description: 'Fix failing tests',
      source: 'prompt',
      location: 'project',
      ...sourceOf(join(cwd, '.pi/agent/prompts/fix-tests.md'), 'project', join(cwd, '.pi/agent')),
    },
    {
      name: 'skill:brave-search',
      description: 'Web search via Brave API',
      source: 'skill',
      location: 'user',
      ...sourceOf(join(agentDir, 'skills/brave-search/SKILL.md'), 'user', agentDir),
    },
    {
      name: 'skill:deploy',
      description: 'Ships it.',
      source: 'skill',
      location: 'project',
      ...sourceOf(join(cwd, '.agents/skills/deploy/SKILL.md'), 'project', join(cwd, '.agents')),
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
    'Review now (user)',
    'Fix now',
    expect.stringMatching(/^<skill name="brave-search" location=".+">\n.+\n\nSearch\.\n<\/skill>\n\nnow$/),
    expect.stringMatching(/^<skill name="deploy" location=".+">\n.+\n\nShip\.\n<\/skill>\n\nnow$/),
    expect.stringMatching(/^<skill name="odd name" location=".+">\n.+\n\nOddly\.\n<\/skill>\n\nnow$/),
  ]);
});

verifies('N11', 'built-in commands are not listed', async ({ open }) => {
  const { peer } = await open();
  await peer.ok({ type: 'hello', builtins: false });

  const { commands } = await peer.ok({ type: 'get_commands' });

  expect(commands.filter(({ source }: { source: string }) => source === 'builtin')).toEqual([]);
});

verifies('N12', 'the text of a built-in command goes to the model unchanged', async ({ open }) => {
  const { peer } = await open({ script: [{ text: 'read' }, { repeat: true }] });
  const before = await peer.ok({ type: 'get_state' });

  for (const message of builtins) await peer.run(message);

  const { messages } = await peer.ok({ type: 'get_messages' });
  const texts = messages.flatMap(({ role, content }: { role: string; content: { text: string }[] }) =>
    role === 'user' ? [content[0]?.text] : [],
  );
  expect(texts).toEqual(builtins);
  const { sessionId, model } = await peer.ok({ type: 'get_state' });
  expect({ sessionId, model }).toEqual({ sessionId: before.sessionId, model: before.model });
  const dispositions = peer.records.filter(({ command }) => command === 'prompt').map(({ data }) => data);
  expect(dispositions).toEqual(builtins.map(() => expect.objectContaining({ disposition: 'started' })));
});
