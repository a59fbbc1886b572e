import { existsSync, linkSync, mkdirSync, readFileSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import type { ApprovalMode } from '../../../src/protocol/generated/vocabulary.ts';
import { allQuestions, answer, approvalFlags, callOutcome, nextQuestion } from '../../support/agent/approvals.ts';
import { writeTextFile } from '../../support/agent/extensions.ts';
import { type Home, newHome, type Transport } from '../../support/agent/test-agent.ts';
import { toolCallStep, toolEnds } from '../../support/tools/host-tools.ts';
import { type AgentFixture, verifies } from '../../support/verifies.ts';

const SECRET = 'TOKEN=hunter2';
/** In this process `~` is the home folder of the tests. */
const PROCESSES: readonly Transport[] = ['stdio', 'unix'];

const TOOLS = ['--tools', 'read,ls,find,grep,edit,write,bash'];

/** A project with secrets in it, beside it and in hidden folders of the user, and links to them. */
function homeWithSecrets(): Home {
  const home = newHome();
  writeTextFile(join(home.cwd, '.env'), `${SECRET}\n`);
  writeTextFile(join(home.cwd, 'deep', '.env'), `${SECRET}\n`);
  writeTextFile(join(home.cwd, 'open.txt'), 'nothing\n');
  writeTextFile(join(home.root, '.ssh', 'id_rsa'), `${SECRET}\n`);
  writeTextFile(join(home.root, '.kept', 'key'), `${SECRET}\n`);
  writeTextFile(join(home.agentDir, 'auth.json'), '{}');
  writeTextFile(join(home.root, 'beside.txt'), `${SECRET}\n`);
  symlinkSync(join(home.cwd, '.env'), join(home.cwd, 'link-to-env'));
  symlinkSync(join(home.root, '.ssh', 'id_rsa'), join(home.cwd, 'link-to-key'));
  symlinkSync(join(home.root, '.ssh'), join(home.cwd, 'keys'));
  symlinkSync(join(home.root, 'beside.txt'), join(home.cwd, 'link-beside'));
  return home;
}

interface Access {
  readonly home: Home;
  readonly mode: ApprovalMode;
  readonly settings?: object;
}

/** Runs calls one after another and returns their outcomes and output; questions are denied. */
async function outputsOf(
  { open }: AgentFixture,
  calls: readonly [tool: string, args: object][],
  { home, mode, settings = {} }: Access,
) {
  const steps = calls.map(([name, args], index) => toolCallStep(name, args, `c${index}`));
  const { peer } = await open({
    home,
    args: [...approvalFlags(mode), ...TOOLS],
    settings,
    script: [...steps, { text: 'done' }],
  });
  await peer.ok({ type: 'prompt', message: 'go' });
  const outcomes = [];
  for (const index of calls.keys()) {
    const outcome = await callOutcome(peer, `c${index}`);
    outcomes.push(outcome);
    if (outcome === 'questioned') answer(peer, await nextQuestion(peer, `c${index}`), 'reject_once');
  }
  await peer.next('agent_settled');
  const ends = toolEnds(peer.records);
  return { peer, outcomes, ends, text: JSON.stringify(ends) };
}

for (const mode of ['plan', 'ask', 'edit', 'full'] as const)
  verifies(
    'A138',
    `in the mode ${mode} a denied file is neither read, searched nor changed, also through a link`,
    async (fixture) => {
      const home = homeWithSecrets();
      const edits = [{ oldText: 'TOKEN', newText: 'OTHER' }];

      const { outcomes, ends, text, peer } = await outputsOf(
        fixture,
        [
          ['read', { path: '.env' }],
          ['read', { path: 'link-to-env' }],
          ['read', { path: './deep/../deep/.env' }],
          ['grep', { pattern: 'TOKEN', path: '.env' }],
          ['grep', { pattern: 'TOKEN' }],
          ['grep', { pattern: 'TOKEN', path: 'deep' }],
          ['edit', { path: '.env', edits }],
          ['edit', { path: 'link-to-env', edits }],
          ['write', { path: 'deep/.env', content: 'gone' }],
          ['read', { path: 'open.txt' }],
        ],
        { home, mode, settings: { approvals: { deny: ['read(**/.env)'], allow: ['read', 'edit(**)'] } } },
      );

      expect(text).not.toContain('hunter2');
      expect(outcomes.filter((_outcome, index) => ![4, 5, 9].includes(index))).toEqual(Array(7).fill('denied'));
      expect(allQuestions(peer)).toEqual([]);
      expect(ends.at(-1)).toMatchObject({ isError: false });
      for (const name of ['.env', 'deep/.env']) expect(readFileSync(join(home.cwd, name), 'utf8')).toBe(`${SECRET}\n`);
    },
  );

for (const mode of ['plan', 'ask', 'auto'] as const)
  verifies(
    'A156',
    `in the mode ${mode} the file tools read no hidden file and nothing of /proc`,
    async (fixture) => {
      const home = homeWithSecrets();
      const hidden = join(home.root, '.ssh');

      const { outcomes, ends, text } = await outputsOf(
        fixture,
        [
          ['read', { path: join(hidden, 'id_rsa') }],
          ['read', { path: '~/.ssh/id_rsa' }],
          ['read', { path: 'link-to-key' }],
          ['read', { path: 'keys/id_rsa' }],
          ['read', { path: join(home.agentDir, 'auth.json') }],
          ['read', { path: join(home.root, '.kept', 'key') }],
          ['read', { path: '/proc/self/environ' }],
          ['read', { path: `/proc/${process.pid}/environ` }],
          ['read', { path: '/proc/self/cwd/../.ssh/id_rsa' }],
          ['grep', { pattern: 'TOKEN', path: hidden }],
          ['ls', { path: hidden }],
          ['ls', { path: '/proc/self' }],
          ['find', { pattern: 'id_*', path: hidden }],
          ['grep', { pattern: 'TOKEN=hunter', path: home.root, glob: '{id_rsa,key}' }],
          ['find', { pattern: 'id_rsa', path: home.root }],
          ['read', { path: 'open.txt' }],
        ],
        { home, mode, settings: { sandbox: { hidden: [join(home.root, '.kept')] } } },
      );

      expect(text).not.toContain('hunter2');
      expect(text).not.toMatch(/PATH=/);
      expect(outcomes).not.toContain('questioned');
      expect(ends.slice(0, 9).map(({ isError }) => isError)).toEqual(Array(9).fill(true));
      expect(JSON.stringify(ends.slice(10, 13))).not.toContain('id_rsa\\n');
      expect(ends.at(-1)).toMatchObject({ isError: false });
    },
    PROCESSES,
  );

verifies(
  'A156',
  'a change outside of the writable folders needs an approval of its real path',
  async (fixture) => {
    const home = homeWithSecrets();
    mkdirSync(join(home.cwd, '.git'));
    mkdirSync(join(home.cwd, 'sub', '.pi'), { recursive: true });
    linkSync(join(home.root, 'beside.txt'), join(home.cwd, 'hard-link.txt'));
    symlinkSync(home.root, join(home.cwd, 'up'));
    const targets = [
      ['../made.txt', join(home.root, 'made.txt')],
      ['link-beside', join(home.root, 'beside.txt')],
      ['up/made.txt', join(home.root, 'made.txt')],
      ['.git/hooks/pre-commit', join(home.cwd, '.git', 'hooks', 'pre-commit')],
      ['sub/.pi/settings.json', join(home.cwd, 'sub', '.pi', 'settings.json')],
      ['keys/authorized_keys', join(home.root, '.ssh', 'authorized_keys')],
      ['hard-link.txt', join(home.cwd, 'hard-link.txt')],
      ['~/.bashrc', join(home.root, '.bashrc')],
    ] as const;

    const { peer, outcomes } = await outputsOf(
      fixture,
      [
        ...targets.map(([path]) => ['write', { path, content: 'changed' }] as [string, object]),
        ['write', { path: 'new.txt', content: '' }],
      ],
      { home, mode: 'edit', settings: { approvals: { allow: ['write', 'edit'] } } },
    );

    expect(outcomes).toEqual([...targets.map(() => 'questioned'), 'ran']);
    expect(allQuestions(peer).map(({ approval }) => approval)).toMatchObject(
      targets.map(([, path]) => ({ kind: 'path', subject: { type: 'edit', path }, needs: 'full' })),
    );
    expect(readFileSync(join(home.root, 'beside.txt'), 'utf8')).toBe(`${SECRET}\n`);
    expect(targets.filter(([, path]) => existsSync(path)).map(([name]) => name)).toEqual([
      'link-beside',
      'hard-link.txt',
    ]);
  },
  PROCESSES,
);

verifies('A156', 'an approved path is written, and no other one by the same call', async ({ open }) => {
  const home = homeWithSecrets();
  const { peer } = await open({
    home,
    args: approvalFlags('auto'),
    script: [
      toolCallStep('write', { path: 'link-beside', content: 'changed' }),
      toolCallStep('write', { path: '../made.txt', content: 'x' }),
      { text: 'done' },
    ],
  });
  await peer.ok({ type: 'prompt', message: 'go' });

  const first = await nextQuestion(peer);
  // The link is replaced while the user reads the question.
  unlinkSync(join(home.cwd, 'link-beside'));
  symlinkSync(join(home.root, '.ssh', 'id_rsa'), join(home.cwd, 'link-beside'));
  answer(peer, first, 'allow_once');
  answer(peer, await nextQuestion(peer), 'allow_once');
  await peer.next('agent_settled');

  expect(first.approval.subject).toMatchObject({ path: join(home.root, 'beside.txt') });
  expect(readFileSync(join(home.root, '.ssh', 'id_rsa'), 'utf8')).toBe(`${SECRET}\n`);
  expect(toolEnds(peer.records).map(({ isError }) => isError)).toEqual([true, false]);
  expect(readFileSync(join(home.root, 'made.txt'), 'utf8')).toBe('x');
});

verifies('A156', 'the mode full without rules about files reaches every file', async (fixture) => {
  const home = homeWithSecrets();

  const { outcomes, text } = await outputsOf(
    fixture,
    [
      ['read', { path: join(home.root, '.ssh', 'id_rsa') }],
      ['write', { path: '../made.txt', content: '' }],
    ],
    { home, mode: 'full' },
  );

  expect(outcomes).toEqual(['ran', 'ran']);
  expect(text).toContain('hunter2');
});
