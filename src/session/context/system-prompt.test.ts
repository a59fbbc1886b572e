import { expect, it } from 'vitest';
import type { Tool } from '../../agent/tool.ts';
import { textOutput } from '../../agent/tool.ts';
import { systemPrompt } from './system-prompt.ts';

const tool = (name: string): Tool => ({
  name,
  description: `Does ${name}.`,
  parameters: { type: 'object' },
  execute: async () => textOutput(''),
});

const nothing = { append: [], contextFiles: [] };

const today = new Date().toISOString().slice(0, 10);

it.each([[['read', 'bash', 'edit', 'write']], [['read', 'bash', 'edit', 'write', 'grep', 'find', 'ls']]])(
  'the prompt names the tools and the working directory: %j',
  (names) => {
    const prompt = systemPrompt({ cwd: '/work', tools: names.map(tool), parts: nothing });

    expect(prompt).toContain(`Tools:\n${names.map((name) => `- ${name}: Does ${name}.`).join('\n')}\n\n`);
    expect(prompt.endsWith(`Today is ${today}. The working directory is /work`)).toBe(true);
    expect(prompt).not.toMatch(/\n{3}|^\s|\s$/);
  },
);

it('the prompt does not mention tools when there are none', () => {
  const prompt = systemPrompt({ cwd: '/work', tools: [], parts: nothing });

  expect(prompt).not.toContain('Tools:');
  expect(prompt).toContain('You have no tools');
});

it('the parts follow in order: system prompt, appended texts, context files, working directory', () => {
  const parts = {
    system: '\n\nYou are a pirate.\n',
    append: ['One more.', 'And another.'],
    contextFiles: [
      { path: '/a/AGENTS.md', text: '\nUse tabs.\n\n' },
      { path: '/a/b/AGENTS.md', text: 'Use spaces.' },
    ],
  };

  expect(systemPrompt({ cwd: '/a/b', tools: [tool('read')], parts })).toBe(
    [
      'You are a pirate.',
      'One more.',
      'And another.',
      '# Project context',
      '## /a/AGENTS.md',
      'Use tabs.',
      '## /a/b/AGENTS.md',
      'Use spaces.',
      `Today is ${today}. The working directory is /a/b`,
    ].join('\n\n'),
  );
});

it('an empty system prompt leaves no gap', () => {
  const prompt = systemPrompt({ cwd: '/work', tools: [], parts: { ...nothing, system: '' } });

  expect(prompt).toBe(`Today is ${today}. The working directory is /work`);
});

const skills = [
  { name: 'pdf-tools', description: 'Read & "write" <pdf> files, don\'t draw.', path: '/skills/pdf-tools/SKILL.md' },
  { name: 'other', description: 'Other.', path: '/skills/a&b/SKILL.md' },
];

it('skills follow the context files, escaped as XML', () => {
  const parts = { ...nothing, contextFiles: [{ path: '/a/AGENTS.md', text: 'Use tabs.' }], skills };

  const prompt = systemPrompt({ cwd: '/work', tools: [tool('read')], parts });

  expect(prompt.split('Use tabs.\n\n')[1]).toMatch(/^# Skills\n\n.+\n\n<available_skills>\n/);
  expect(prompt).toContain(`
<available_skills>
  <skill>
    <name>pdf-tools</name>
    <description>Read &amp; &quot;write&quot; &lt;pdf&gt; files, don&apos;t draw.</description>
    <location>/skills/pdf-tools/SKILL.md</location>
  </skill>
  <skill>
    <name>other</name>
    <description>Other.</description>
    <location>/skills/a&amp;b/SKILL.md</location>
  </skill>
</available_skills>

Today is`);
});

it.each([
  ['without skills', ['read'], []],
  ['without the read tool', ['bash', 'read_all'], skills],
  ['without tools', [], skills],
])('skills are not mentioned %s', (_title, names, listed) => {
  const parts = { ...nothing, system: 'Mine.', skills: listed };

  const prompt = systemPrompt({ cwd: '/work', tools: names.map(tool), parts });

  expect(prompt).toBe(`Mine.\n\nToday is ${today}. The working directory is /work`);
});
