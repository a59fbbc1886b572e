import { mkdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { OpenAgentOptions } from '../../../src/index.ts';
import { openWithHooks } from '../../support/agent/hooked-agent.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { verifies } from '../../support/verifies.ts';

/** Opens an agent that records the system prompt of every request. */
async function openRecordingPrompts(home: Home, options: Parameters<typeof openWithHooks>[1] = {}) {
  const prompts: string[] = [];
  const agent = await openWithHooks(
    {
      beforeRequest: async ({ systemPrompt }) => {
        prompts.push(systemPrompt);
        return undefined;
      },
    },
    { cwd: home.cwd, agentDir: home.agentDir, ...options },
  );
  const nextSystemPrompt = async () => {
    await agent.client.promptAndWait('say hello');
    return prompts.at(-1) ?? '';
  };
  return { ...agent, prompts, nextSystemPrompt };
}

/** The words that occur in a text, in the order of their first occurrence. */
const order = (text: string, texts: readonly string[]) =>
  texts.filter((part) => text.includes(part)).toSorted((one, other) => text.indexOf(one) - text.indexOf(other));

it('[U1 U2] the system prompt has tools, additions, context files, skills, date and working directory', async () => {
  const home = newHome();
  writeFiles(home, {
    'agent/APPEND_SYSTEM.md': 'an addition',
    'agent/skills/sweep/SKILL.md': '---\nname: sweep\ndescription: Sweeps.\n---\n',
    'agent/AGENTS.md': 'from the user',
    'CLAUDE.md': 'from above',
    'project/AGENTS.md': 'from the project',
    'project/CLAUDE.md': 'hidden',
    'project/below/AGENTS.md': 'hidden, too',
  });
  const { nextSystemPrompt } = await openRecordingPrompts(home);

  const prompt = await nextSystemPrompt();

  const words = [
    'coding agent',
    '- read: ',
    'an addition',
    'from the user',
    'from above',
    'from the project',
    '<name>sweep</name>',
    'Today is ',
    `working directory is ${home.cwd}`,
  ];
  expect(order(prompt, words)).toEqual(words);
  expect(prompt).toContain(`## ${join(home.cwd, 'AGENTS.md')}\n\nfrom the project`);
  expect(prompt).not.toContain('hidden');
});

it('[U2] an override file wins, and a file that is too long is truncated with a note', async () => {
  const home = newHome();
  writeFiles(home, {
    'project/AGENTS.override.md': `the override ${'x'.repeat(1024 * 1024)}`,
    'project/AGENTS.md': 'hidden',
  });
  const { nextSystemPrompt } = await openRecordingPrompts(home);

  const prompt = await nextSystemPrompt();

  expect(prompt).toContain('the override');
  expect(prompt).not.toContain('hidden');
  expect(prompt).toContain(`[The rest of ${join(home.cwd, 'AGENTS.override.md')} is left out: it is too long.]`);
  expect(prompt.length).toBeLessThan(300 * 1024);
});

it('[U3] a changed context file applies from the next run on', async () => {
  const home = newHome();
  writeFiles(home, { 'project/AGENTS.md': 'rule one' });
  const command = 'echo rule two > AGENTS.md';
  const { client, prompts } = await openRecordingPrompts(home, {
    answers: [{ toolCall: { name: 'bash', arguments: { command } } }, { text: 'ok' }, { text: 'ok' }],
  });

  await client.promptAndWait('change it');
  await client.promptAndWait('again');
  rmSync(join(home.cwd, 'AGENTS.md'));
  await client.promptAndWait('gone');

  const seen = prompts.map((prompt) => order(prompt, ['rule one', 'rule two']));
  expect(seen).toEqual([['rule one'], ['rule one'], ['rule two'], []]);
});

it('[U4] SYSTEM.md of the user replaces the built-in prompt, and APPEND_SYSTEM.md follows it', async () => {
  const home = newHome();
  writeFiles(home, {
    'agent/SYSTEM.md': 'You are a pirate.',
    'agent/APPEND_SYSTEM.md': 'Say arr.',
    'project/AGENTS.md': 'from the project',
  });
  const { nextSystemPrompt } = await openRecordingPrompts(home);

  const prompt = await nextSystemPrompt();

  expect(prompt.startsWith('You are a pirate.\n\nSay arr.\n\n# Project context\n\n')).toBe(true);
  expect(prompt).toContain('from the project');
  expect(prompt).not.toContain('- read: ');
});

it("[U5] the project's prompt files apply only while it is trusted; its context files always apply", async () => {
  const home = newHome();
  writeFiles(home, {
    'agent/SYSTEM.md': 'user system',
    'project/.pi/SYSTEM.md': 'project system',
    'project/.pi/agent/SYSTEM.md': 'deeper system',
    'project/.pi/agent/APPEND_SYSTEM.md': 'deeper addition',
    'project/AGENTS.md': 'from the project',
  });
  const { client, nextSystemPrompt } = await openRecordingPrompts(home);
  const words = ['user system', 'project system', 'deeper system', 'deeper addition', 'from the project'];

  const unknown = await nextSystemPrompt();
  await client.setTrust({ trusted: true, remember: false });
  const trusted = await nextSystemPrompt();
  await client.setTrust({ trusted: false, remember: false });
  const again = await nextSystemPrompt();

  expect(order(unknown, words)).toEqual(['user system', 'from the project']);
  expect(order(trusted, words)).toEqual(['project system', 'deeper addition', 'from the project']);
  expect(order(again, words)).toEqual(order(unknown, words));
});

it('[U6] prompt options of openAgent win over every file', async () => {
  const home = newHome();
  writeFiles(home, { 'agent/SYSTEM.md': 'file', 'agent/APPEND_SYSTEM.md': 'addition', 'project/AGENTS.md': 'context' });
  const words = ['file', 'addition', 'context', 'my words', 'one more', 'and another'];

  const cases: [NonNullable<OpenAgentOptions['prompt']>, string[]][] = [
    [{}, ['file', 'addition', 'context']],
    [{ system: 'my words' }, ['my words', 'addition', 'context']],
    [{ append: ['one more', ' ', 'and another'] }, ['file', 'one more', 'and another', 'context']],
    [{ append: [] }, ['file', 'context']],
    [{ contextFiles: false }, ['file', 'addition']],
    [{ system: '', append: [], contextFiles: false }, []],
  ];
  for (const [prompt, expected] of cases) {
    const { nextSystemPrompt } = await openRecordingPrompts(home, { prompt });
    expect(order(await nextSystemPrompt(), words), JSON.stringify(prompt)).toEqual(expected);
  }
});

it('[U1] a change of tools changes the system prompt from the next model call on', async () => {
  const home = newHome();
  const { client, nextSystemPrompt } = await openRecordingPrompts(home);

  const before = await nextSystemPrompt();
  await client.setActiveTools({ tools: [] });
  const after = await nextSystemPrompt();

  expect([before.includes('- bash: '), after.includes('- bash: ')]).toEqual([true, false]);
  expect(after).toContain('You have no tools');
});

verifies('U2', 'special files in place of context files do not block a run', async ({ open }) => {
  const home = newHome();
  mkdirSync(join(home.cwd, 'AGENTS.md'));
  const { peer } = await open({ home });
  await peer.ok({
    type: 'bash',
    command: 'mkfifo AGENTS.override.md; ln -s /dev/zero CLAUDE.md; ln -s loop CLAUDE.MD',
  });

  expect((await peer.run('say hello')).at(-1)).toMatchObject({ outcome: 'ok' });
});
