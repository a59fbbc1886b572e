import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ruleText, triggeredRules } from '../../support/agent/stream-rules.ts';
import { type Home, newHome } from '../../support/agent/test-agent.ts';
import { writeFiles } from '../../support/agent/user-files.ts';
import { runTau } from '../../support/processes/program.ts';
import { header, storeSession } from '../../support/sessions/stored-session.ts';
import { stdioServer, writeMcpServers } from '../../support/tools/mcp.ts';
import { AGENT_SWITCHES_SESSION, verifies } from '../../support/verifies.ts';

verifies('Z22', 'the settings of an untrusted project are not read', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all', shellCommandPrefix: 'echo owned >> proof.txt' });

  const { peer } = await open({ home });
  const records = await peer.run('run `echo hello`');

  expect((await peer.ok({ type: 'get_state' })).steeringMode).toBe('one-at-a-time');
  expect(JSON.stringify(records)).toContain('hello');
  expect(() => readFileSync(join(home.cwd, 'proof.txt'))).toThrow('ENOENT');
});

verifies('Z22', 'the settings of a trusted project override those of the user', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all' });
  userSettings(home, { steeringMode: 'one-at-a-time', followUpMode: 'all' });

  const { peer } = await open({ home, args: ['--approve'] });

  expect(await peer.ok({ type: 'get_state' })).toMatchObject({ steeringMode: 'all', followUpMode: 'all' });
});

verifies('Z22', '--approve and --no-approve apply to one process only', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all' });
  const modes: string[] = [];

  for (const args of [['--approve'], [], ['--no-approve']]) {
    const agent = await open({ home, args });
    modes.push((await agent.peer.ok({ type: 'get_state' })).steeringMode);
    await agent.close();
  }

  expect(modes).toEqual(['all', 'one-at-a-time', 'one-at-a-time']);
});

verifies(
  'Z22',
  'trust without `remember` still holds when the agent returns to the folder',
  async ({ open }) => {
    const home = newHome();
    const elsewhere = storeSession({ ...home, cwd: home.root }, [header(home.root)]);
    const { peer } = await open({ home });
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.run('say hello');
    await peer.ok({ type: 'set_trust', trusted: true, remember: false });

    await peer.ok({ type: 'switch_session', sessionPath: elsewhere });
    const away = await peer.ok({ type: 'get_state' });
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile ?? '' });

    expect(away).toMatchObject({ cwd: home.root, projectTrusted: false });
    expect(await peer.ok({ type: 'get_state' })).toMatchObject({ cwd: home.cwd, projectTrusted: true });
  },
  AGENT_SWITCHES_SESSION,
);

verifies('Z22', 'a project cannot declare itself trusted', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all', defaultProjectTrust: 'always' });

  const { peer } = await open({ home });

  expect((await peer.ok({ type: 'get_state' })).steeringMode).toBe('one-at-a-time');
});

verifies('Z22', 'the user may trust every project', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all' });
  userSettings(home, { defaultProjectTrust: 'always' });

  const { peer } = await open({ home });

  expect((await peer.ok({ type: 'get_state' })).steeringMode).toBe('all');
});

verifies('Z22 Z23', 'set_trust returns the decision and stores it for later processes', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all' });
  const modes: string[] = [];

  for (const trusted of [true, false]) {
    const agent = await open({ home });
    expect(await agent.peer.ok({ type: 'set_trust', trusted })).toEqual({ projectTrusted: trusted });
    await agent.close();
    const again = await open({ home });
    modes.push((await again.peer.ok({ type: 'get_state' })).steeringMode);
    await again.close();
  }

  expect(modes).toEqual(['all', 'one-at-a-time']);
});

verifies('Z23', 'set_trust with `remember: false` lasts only for the process', async ({ open }) => {
  const home = projectWith({ steeringMode: 'all' });
  const first = await open({ home });
  const response = await first.peer.ok({ type: 'set_trust', trusted: true, remember: false });
  await first.close();

  const { peer } = await open({ home });

  expect(response).toEqual({ projectTrusted: true });
  expect((await peer.ok({ type: 'get_state' })).steeringMode).toBe('one-at-a-time');
});

verifies('Z23', 'set_trust without a valid decision changes nothing', async ({ open }) => {
  const { peer, home } = await open({ home: projectWith({ steeringMode: 'all' }) });

  expect(await peer.refused({ type: 'set_trust' })).toMatchObject({ code: 'invalid_params' });
  expect(await peer.refused({ type: 'set_trust', trusted: 'yes' })).toMatchObject({ code: 'invalid_params' });

  expect(() => readFileSync(join(home.agentDir, 'trust.json'))).toThrow('ENOENT');
});

/** A home whose project has these settings. */
function projectWith(settings: object): Home {
  const home = newHome();
  mkdirSync(join(home.cwd, '.pi'));
  writeFileSync(join(home.cwd, '.pi/settings.json'), JSON.stringify(settings));
  return home;
}

function userSettings({ agentDir }: Home, settings: object): void {
  mkdirSync(agentDir);
  writeFileSync(join(agentDir, 'settings.json'), JSON.stringify(settings));
}

verifies(
  'Z24',
  'an untrusted project contributes only text; extensions, rules and MCP servers need trust',
  async ({ open }) => {
    const home = newHome();
    const proof = join(home.root, 'proof');
    writeFiles(home, {
      'project/AGENTS.md': 'Words of the project.',
      'project/.pi/prompts/greet.md': 'Greet $1',
      'project/.pi/skills/fly/SKILL.md': '---\nname: fly\ndescription: Flies.\n---\nFlap.',
      'project/.pi/extensions/mine.ts':
        "export default (pi) => pi.registerCommand('mine', { handler: async () => {} });",
      'project/.pi/rules/tidy.md': ruleText({ condition: 'bad' }),
    });
    writeMcpServers(home, { theirs: stdioServer({ tools: [] }, { env: { TOKEN: `!touch ${proof}` } }) }, 'project');
    const { peer } = await open({ home, script: [{ text: 'bad' }, { text: 'bad' }, { text: 'good' }] });
    const names = async () =>
      (await peer.ok({ type: 'get_commands' })).commands.map(({ name }: { name: string }) => name);
    const servers = async () => (await peer.ok({ type: 'get_state' })).mcpServers?.length ?? 0;

    expect(await names()).toEqual(['greet', 'skill:fly']);
    expect(triggeredRules(await peer.run('/greet Ada'))).toEqual([]);
    expect(await servers()).toBe(0);
    expect(existsSync(proof)).toBe(false);
    await peer.ok({ type: 'set_trust', trusted: true, remember: false });

    expect(await names()).toEqual(['mine', 'greet', 'skill:fly']);
    expect(triggeredRules(await peer.run('again'))).toEqual([['tidy']]);
    expect(await servers()).toBe(1);
  },
);

/** Every kind of project file that needs trust, beside files that do not. */
function projectNeedingTrust(home = newHome()) {
  const files = {
    '.pi/settings.json': '{}',
    '.pi/mcp.json': '{}',
    '.pi/SYSTEM.md': 'Be brief.',
    '.pi/extensions/gate.ts': 'export default () => {};',
    '.pi/agent/rules/no.md': ruleText({ condition: 'never' }),
  };
  writeFiles({ ...home, root: home.cwd }, { ...files, '.pi/prompts/hello.md': 'Hello', 'AGENTS.md': 'Read this.' });
  return { home, files: Object.keys(files).map((name) => join(home.cwd, name)) };
}

const sorted = (paths: readonly string[]) => [...paths].sort();

verifies('Z72 Z73', 'files that are skipped without trust are listed when the session opens', async ({ open }) => {
  const { home, files } = projectNeedingTrust();
  const { peer } = await open({ home });

  const event = await peer.next('trust_skipped');
  const state = await peer.ok({ type: 'get_state' });

  expect(event.cwd).toBe(home.cwd);
  expect(sorted(event.files)).toEqual(sorted(files));
  expect(state.skippedFiles).toEqual(event.files);
  expect(state.projectTrusted).toBe(false);
});

verifies('Z74', 'set_trust clears the list of skipped files, and restores it', async ({ open }) => {
  const { home, files } = projectNeedingTrust();
  const { peer } = await open({ home });
  await peer.next('trust_skipped');

  await peer.ok({ type: 'set_trust', trusted: true, remember: false });
  const cleared = await peer.next('trust_skipped');
  const trusted = await peer.ok({ type: 'get_state' });
  await peer.ok({ type: 'set_trust', trusted: false, remember: false });
  const restored = await peer.next('trust_skipped');

  expect(cleared).toEqual({ type: 'trust_skipped', cwd: home.cwd, files: [] });
  expect(trusted).not.toHaveProperty('skippedFiles');
  expect(sorted(restored.files)).toEqual(sorted(files));
});

verifies('Z72', 'a trusted project, or one without such files, gets no trust_skipped', async ({ open }) => {
  const { home } = projectNeedingTrust();
  const trusted = await open({ home, args: ['--approve'] });
  const plain = await open();

  for (const { peer } of [trusted, plain]) {
    expect(await peer.ok({ type: 'get_state' })).not.toHaveProperty('skippedFiles');
    expect(peer.records.map(({ type }) => type)).not.toContain('trust_skipped');
  }
});

verifies(
  'Z74',
  'the list of skipped files follows the agent to another folder',
  async ({ open }) => {
    const { home, files } = projectNeedingTrust();
    const elsewhere = storeSession({ ...home, cwd: home.root }, [header(home.root)]);
    const { peer } = await open({ home });
    await peer.next('trust_skipped');
    const { sessionFile } = await peer.ok({ type: 'get_state' });
    await peer.run('say hello');

    await peer.ok({ type: 'switch_session', sessionPath: elsewhere });
    expect(await peer.next('trust_skipped')).toEqual({ type: 'trust_skipped', cwd: home.root, files: [] });
    await peer.ok({ type: 'switch_session', sessionPath: sessionFile ?? '' });

    expect(sorted((await peer.next('trust_skipped')).files)).toEqual(sorted(files));
  },
  AGENT_SWITCHES_SESSION,
);

verifies('Z75', 'preflight lists the files that are skipped without trust', async ({ open }) => {
  const { home, files } = projectNeedingTrust();
  const { peer } = await open({ home });

  const { findings } = await peer.ok({ type: 'preflight' });

  const finding = findings.find(({ check }: { check: string }) => check === 'trust');
  expect(finding).toMatchObject({ status: 'warning' });
  for (const file of files) expect(finding.message).toContain(file);
});

it('[Z75] tau doctor lists the files that are skipped without trust', async () => {
  const { home, files } = projectNeedingTrust();

  const { stdout } = await runTau(home, ['doctor'], { input: '' });

  const [, finding = ''] = /^warning +trust +(.*)$/m.exec(stdout) ?? [];
  for (const file of files) expect(finding).toContain(file);
});

verifies(
  'Z73',
  'a server sends the skipped files to the first client, and in the state to later ones',
  async ({ open }) => {
    const { home, files } = projectNeedingTrust();
    const { peer, join } = await open({ home });
    const event = await peer.next('trust_skipped');

    const later = join?.();
    const synced = await later?.find('state_synced');

    expect(sorted(event.files)).toEqual(sorted(files));
    expect(synced).toMatchObject({ state: { skippedFiles: event.files } });
  },
  ['websocket'],
);
