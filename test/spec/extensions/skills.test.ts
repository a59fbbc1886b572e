import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openWithHooks } from '../../support/agent/hooked-agent.ts';
import { userTexts, waitUntilSettled } from '../../support/agent/run-records.ts';
import { type Home, newGate, newHome, openTestAgent } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { runTau } from '../../support/processes/program.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';
import { verifies } from '../../support/verifies.ts';

const PIXEL = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==';

const skill = (name: string, body = `Do ${name}.`) => `---\nname: ${name}\ndescription: About ${name}.\n---\n${body}\n`;

/** A home with this skill. */
function homeWithSkill(name: string, body?: string): Home {
  const home = newHome();
  writeFiles(home, { [`agent/skills/${name}/SKILL.md`]: skill(name, body) });
  return home;
}

/** The text that replaces a call of this skill. */
function skillBlock({ agentDir }: Home, name: string, body = `Do ${name}.`): string {
  const folder = join(agentDir, 'skills', name);
  const pathNote = `Relative paths in this skill are relative to its folder, ${folder}`;
  return `<skill name="${name}" location="${folder}/SKILL.md">\n${pathNote}\n\n${body}\n</skill>`;
}

const stall = { stall: true, when: 'stall' };

verifies('P17 N20', 'a skill call is replaced by the skill text and keeps its images', async ({ open }) => {
  const home = homeWithSkill('pdf-tools', '# PDF\n\nRead refs.md');
  const { peer } = await open({ home });
  const image = { type: 'image', data: PIXEL, mimeType: 'image/png' };

  const records = await peer.run({ message: '/skill:pdf-tools extract "a b.pdf"', images: [image] });

  const text = `${skillBlock(home, 'pdf-tools', '# PDF\n\nRead refs.md')}\n\nextract "a b.pdf"`;
  expect(userTexts(records)).toEqual([text]);
  const { messages } = await peer.ok({ type: 'get_messages' });
  expect(messages[0]).toMatchObject({ role: 'user', content: [{ type: 'text', text }, image] });
});

verifies('P17', 'a message that calls no known skill is sent unchanged', async ({ open }) => {
  const { peer } = await open({ home: homeWithSkill('a') });
  const texts = ['skill:a', ' /skill:a', '/skill:b now', '/skill:', '/', 'say /skill:a'];

  for (const text of texts) await peer.run(text);

  expect(userTexts(peer.records)).toEqual(texts);
});

verifies('P17 P21 P25', 'skills are expanded before a message is queued', async ({ open }) => {
  const home = homeWithSkill('a');
  const gate = newGate();
  const script = [{ steps: [{ text: 'one' }, { await: gate.path }] }, { text: 'two' }, { repeat: true }];
  const { peer } = await open({ home, script });
  await peer.ok({ type: 'prompt', message: 'begin' });
  await peer.next('message_update');

  await peer.ok({ type: 'steer', message: '/skill:a steer' });
  await peer.ok({ type: 'follow_up', message: '/skill:a follow' });
  await peer.ok({ type: 'prompt', message: '/skill:a prompt', streamingBehavior: 'followUp' });

  const { items } = peer.records.findLast(({ type }) => type === 'queue_update') as unknown as {
    items: { text: string }[];
  };
  const texts = ['steer', 'follow', 'prompt'].map((word) => `${skillBlock(home, 'a')}\n\n${word}`);
  expect(items.map(({ text }) => text)).toEqual(texts);
  gate.open();
  await waitUntilSettled(peer);
  expect(userTexts(peer.records)).toEqual(['begin', ...texts]);
});

verifies('P38 P17', 'abort_and_prompt expands its text, and so does a prompt after an abort', async ({ open }) => {
  const home = homeWithSkill('a');
  const { peer } = await open({ home, script: [stall, stall, { text: 'done' }, { repeat: true }] });
  await peer.ok({ type: 'prompt', message: 'stall' });
  await peer.next('message_update');

  await peer.ok({ type: 'abort_and_prompt', message: '/skill:a stall' });
  await peer.next(({ type, message }) => type === 'message_end' && (message as { role: string }).role === 'user');
  await peer.ok({ type: 'abort' });
  await peer.run('/skill:a again');

  expect(userTexts(peer.records)).toEqual([
    'stall',
    `${skillBlock(home, 'a')}\n\nstall`,
    `${skillBlock(home, 'a')}\n\nagain`,
  ]);
});

verifies('P17', 'the first prompt can call a skill', async ({ open }) => {
  const home = homeWithSkill('a');
  const { peer } = await open({ home });

  peer.send({ type: 'prompt', message: '/skill:a' });
  await peer.find('agent_settled');

  expect(userTexts(peer.records)).toEqual([skillBlock(home, 'a')]);
});

verifies('N20', 'a skill file is read at each call', async ({ open }) => {
  const home = homeWithSkill('a', 'Old.');
  const { peer } = await open({ home });
  await peer.run('/skill:a');
  writeFiles(home, { 'agent/skills/a/SKILL.md': skill('a', 'New.') });

  await peer.run('/skill:a');

  expect(userTexts(peer.records)).toEqual([skillBlock(home, 'a', 'Old.'), skillBlock(home, 'a', 'New.')]);
});

verifies('N21', 'a skill file that cannot be read is reported, and the message is sent unchanged', async ({ open }) => {
  const home = homeWithSkill('a');
  writeFiles(home, { 'agent/prompts/fix.md': 'Fix $1' });
  const { peer } = await open({ home });
  await peer.ok({ type: 'get_commands' });
  rmSync(join(home.agentDir, 'skills'), { recursive: true });
  rmSync(join(home.agentDir, 'prompts'), { recursive: true });

  await peer.run('/skill:a now');
  await peer.run('/fix it');

  expect(userTexts(peer.records)).toEqual(['/skill:a now', '/fix it']);
  expect(peer.records.filter(({ type }) => type === 'extension_error')).toEqual([
    {
      type: 'extension_error',
      extensionPath: join(home.agentDir, 'skills/a/SKILL.md'),
      event: 'skill_expansion',
      error: expect.stringContaining('ENOENT'),
    },
    {
      type: 'extension_error',
      extensionPath: join(home.agentDir, 'prompts/fix.md'),
      event: 'template_expansion',
      error: expect.stringContaining('ENOENT'),
    },
  ]);
});

it('[N22] an invalid skill, a name that is taken and a missing path are reported on stderr and left out', async () => {
  const home = homeWithSkill('good');
  writeFiles(home, {
    'agent/skills/bad/SKILL.md': '---\nname: bad\n---\nNo description.',
    'agent/skills/worse/SKILL.md': '---\ndescription: [\n---\n',
    'project/.pi/skills/good/SKILL.md': skill('good'),
  });
  const args = ['--skill', 'nowhere', '--prompt-template', 'nowhere.md'];
  const agent = await openTestAgent('stdio', { home, args });

  const { commands } = await agent.peer.ok({ type: 'get_commands' });
  await agent.peer.run('say hello');
  await agent.close();

  expect(commands.map(({ name }: { name: string }) => name)).toEqual(['skill:good']);
  const skillPath = (name: string) => join(home.root, name, 'SKILL.md');
  const lines = agent.process?.stderr().trimEnd().split('\n');
  expect(lines).toEqual([
    `tau: ${join(home.cwd, 'nowhere.md')} is left out of the prompt templates: it is not there`,
    `tau: ${skillPath('agent/skills/bad')} is left out: it has no description`,
    expect.stringContaining(`tau: ${skillPath('agent/skills/worse')} is left out: its front matter is no YAML: `),
    `tau: ${skillPath('project/.pi/skills/good')} is left out: ${skillPath('agent/skills/good')} has the name good already`,
    `tau: ${join(home.cwd, 'nowhere')} is left out of the skills: it is not there`,
  ]);
});

verifies(
  'N23',
  'project skills and templates need no trust and belong to the folder of the session',
  async ({ open }) => {
    const home = homeWithSkill('mine');
    writeFiles(home, {
      'project/.pi/skills/here/SKILL.md': skill('here'),
      'project/.pi/prompts/fix.md': 'Fix it here',
      'other/.agents/skills/there/SKILL.md': skill('there'),
    });
    const other = storeSession(home, [header(join(home.root, 'other'))], { cwd: join(home.root, 'other') });
    const { peer } = await open({ home });
    const names = async () => {
      const { commands } = await peer.ok({ type: 'get_commands' });
      return commands.map(({ name }: { name: string }) => name);
    };
    const { sessionFile, projectTrusted } = await peer.ok({ type: 'get_state' });
    await peer.run('/fix');
    const ownNames = await names();

    await peer.ok({ type: 'switch_session', sessionPath: other });
    const otherNames = await names();
    await peer.run('/skill:here');
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile });

    expect(projectTrusted).toBe(false);
    expect(ownNames).toEqual(['fix', 'skill:here', 'skill:mine']);
    expect(otherNames).toEqual(['skill:there', 'skill:mine']);
    expect(userTexts(peer.records)).toEqual(['Fix it here', '/skill:here']);
    expect(await names()).toEqual(ownNames);
  },
);

verifies('N23', 'paths in project settings apply while the project is trusted', async ({ open }) => {
  const home = homeWithSkill('mine');
  writeFiles(home, {
    'agent/settings.json': JSON.stringify({ skills: ['../more'] }),
    'more/yours/SKILL.md': skill('yours'),
    'project/.pi/settings.json': JSON.stringify({ skills: ['../tools', '-../../agent/skills/mine'] }),
    'project/tools/theirs/SKILL.md': skill('theirs'),
  });
  const { peer } = await open({ home });
  const names = async () => {
    const { commands } = await peer.ok({ type: 'get_commands' });
    return commands.map(({ name }: { name: string }) => name);
  };

  const before = await names();
  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  const trusted = await names();
  await peer.ok({ type: 'set_trust', trusted: false, remember: false });

  expect(before).toEqual(['skill:mine', 'skill:yours']);
  expect(trusted).toEqual(['skill:yours', 'skill:theirs']);
  expect(await names()).toEqual(before);
});

it('[P21] a queued message that survives kill -9 was expanded before it was stored', async () => {
  const home = homeWithSkill('a');
  const first = await openTestAgent('stdio', { home, script: [stall] });
  const { sessionFile } = await first.peer.ok({ type: 'get_state' });
  await first.peer.ok({ type: 'prompt', message: 'stall' });
  await first.peer.next('message_update');
  await first.peer.ok({ type: 'steer', message: '/skill:a now' });
  first.process?.kill('SIGKILL');
  await first.process?.exited;
  rmSync(join(home.agentDir, 'skills'), { recursive: true });

  const { peer } = await openTestAgent('stdio', { home, args: ['--session', sessionFile] });

  expect(await peer.ok({ type: 'clear_queue' })).toMatchObject({ steering: [`${skillBlock(home, 'a')}\n\nnow`] });
});

it('[P17] --print expands a skill call', async () => {
  const home = homeWithSkill('a', 'say hello');

  const { code, stdout, stderr } = await runTau(home, ['-p', '--no-session', '/skill:a'], { input: '' });

  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toContain('<skill name=');
});

it('[U7] the system prompt lists skills while `read` is active, except hidden ones', async () => {
  const home = homeWithSkill('a');
  writeFiles(home, { 'agent/skills/b/SKILL.md': '---\ndescription: Hidden.\ndisable-model-invocation: true\n---\n' });
  const prompt = async (...args: string[]) => (await runTau(home, ['--print-system-prompt', ...args])).stdout;

  const listed = `  <skill>
    <name>a</name>
    <description>About a.</description>
    <location>${home.agentDir}/skills/a/SKILL.md</location>
  </skill>`;
  expect(await prompt()).toContain(`<available_skills>\n${listed}\n</available_skills>`);
  expect(await prompt('--tools', 'bash')).not.toContain('<available_skills>');
  expect(await prompt('--no-skills')).not.toContain('<available_skills>');
});

it('[U7] a change of tools decides from the next model call whether skills are listed', async () => {
  const home = homeWithSkill('a');
  const prompts: string[] = [];
  const { client } = await openWithHooks(
    {
      beforeRequest: async ({ systemPrompt }) => {
        prompts.push(systemPrompt);
        return undefined;
      },
    },
    { cwd: home.cwd, agentDir: home.agentDir },
  );

  await client.promptAndWait('say hello');
  await client.setActiveTools({ tools: ['bash'] });
  await client.promptAndWait('say hello');

  expect(prompts.map((prompt) => prompt.includes('<name>a</name>'))).toEqual([true, false]);
});

it('[N24] --skill and --prompt-template add files; --no-skills and --no-prompt-templates drop the others', async () => {
  const home = homeWithSkill('mine');
  writeFiles(home, {
    'agent/settings.json': JSON.stringify({ skills: ['../set'] }),
    'set/set/SKILL.md': skill('set'),
    'agent/prompts/fix.md': 'Fix',
    'project/one/SKILL.md': skill('one'),
    'project/more/two/SKILL.md': skill('two'),
    'project/ask.md': 'Ask',
  });
  const names = async (...args: string[]) => {
    const { peer } = await openTestAgent('stdio', { home, args: ['--no-session', ...args] });
    const { commands } = await peer.ok({ type: 'get_commands' });
    return commands.map(({ name }: { name: string }) => name);
  };
  const named = ['--skill', 'one', '--skill', './more', '--prompt-template', 'ask.md'];

  expect(await names()).toEqual(['fix', 'skill:mine', 'skill:set']);
  expect(await names(...named)).toEqual(['fix', 'ask', 'skill:mine', 'skill:set', 'skill:one', 'skill:two']);
  expect(await names('--no-skills')).toEqual(['fix']);
  expect(await names('-ns', '-np', ...named)).toEqual(['ask', 'skill:one', 'skill:two']);
  expect(await names('--no-skills', '--no-prompt-templates')).toEqual([]);
});

it('[N24] openAgent takes the same skill and template options', async () => {
  const home = homeWithSkill('mine');
  writeFiles(home, { 'project/one/SKILL.md': skill('one'), 'project/ask.md': 'Ask $1' });
  const resourceOptions = { skills: ['one'], findSkills: false, promptTemplates: ['ask.md'] };
  const { client } = await openWithHooks({}, { cwd: home.cwd, agentDir: home.agentDir, addons: resourceOptions });

  const { commands } = await client.getCommands();
  const { messages } = await client.promptAndWait('/ask me');

  expect(commands.map(({ name }) => name)).toEqual(['ask', 'skill:one']);
  expect(messages[0]).toMatchObject({ role: 'user', content: [{ text: 'Ask me' }] });
});
