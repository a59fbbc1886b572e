import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect } from 'vitest';
import { openTestAgent } from '../../support/agent/test-agent.ts';
import { makeFifo } from '../../support/processes/fifo.ts';
import { bash, CONFINED, openConfined, resultOf } from '../../support/sandbox/confined-agent.ts';
import { git, makeRepository, newUserHome, writeFile } from '../../support/sandbox/user-home.ts';
import { itConfined } from '../../support/sandbox/working-sandbox.ts';

const COMMIT = 'git -c user.name=Ada -c user.email=ada@example.com commit -qam change';

itConfined('[A145] git reads the repository; a commit fails with a line that names the way out', async () => {
  const home = newUserHome();
  makeRepository(home.cwd);
  const { run } = await openConfined({
    home,
    runs: [
      [
        bash('git log --format=%s'),
        bash('echo more >> README.md; git status --short'),
        bash('git diff'),
        bash(COMMIT),
        bash('false'),
      ],
    ],
  });

  const [log, status, diff, commit, unrelated] = await run();

  expect(log).toEqual({ isError: false, text: 'begin\n' });
  expect(status).toEqual({ isError: false, text: ' M README.md\n' });
  expect(diff?.text).toContain('+more');
  expect(commit).toMatchObject({ isError: true, text: expect.stringContaining('Read-only file system') });
  expect(commit?.text).toMatch(/^.*sandbox.*outside: true.*$/m);
  expect(unrelated?.text).not.toContain('outside');
  expect(git(home.cwd, 'log', '--format=%s')).toBe('begin\n');
});

itConfined(
  '[A145] with outside a call is questioned also in the mode auto, and the question names the hooks',
  async () => {
    const home = newUserHome();
    makeRepository(home.cwd);
    writeFile(join(home.cwd, '.git/hooks/pre-commit'), '#!/bin/sh\n');
    const leave = bash(`echo more >> README.md; ${COMMIT}`, { outside: true, why: 'to commit' });
    const { start, settled, question, answer } = await openConfined({ home, runs: [[leave], [leave]] });

    await start();
    const denied = await question();
    answer(denied, 'reject_once');
    const [deniedResult] = await settled();
    const before = git(home.cwd, 'log', '--format=%s');
    await start();
    answer(await question(), 'allow_once');
    const [allowed] = await settled();

    expect(denied.approval).toMatchObject({
      kind: 'outside',
      description: expect.stringContaining('to commit'),
      subject: { type: 'command', hooks: [expect.stringContaining('pre-commit')] },
      why: { mode: 'auto' },
    });
    expect(deniedResult?.isError).toBe(true);
    expect(before).toBe('begin\n');
    expect(allowed).toMatchObject({ isError: false });
    expect(git(home.cwd, 'log', '--format=%s')).toBe('change\nbegin\n');
  },
);

itConfined('[A145] no command plants a hook, a configuration or an extension that runs later outside', async () => {
  const home = newUserHome();
  makeRepository(home.cwd);
  const settings = join(home.cwd, '.pi/settings.json');
  writeFile(settings, '{}');
  const config = readFileSync(join(home.cwd, '.git/config'), 'utf8');
  const evil = '[core]\\n\\tfsmonitor = touch ~/ran\\n';
  const attempts = [
    'echo x > .git/hooks/pre-commit',
    'git config core.fsmonitor "touch ~/ran"',
    `mkdir evil; printf '${evil}' > evil/config; echo ../evil > .git/commondir`,
    'mv .git .git2 && cp -r .git2 .git && echo x > .git/hooks/pre-commit',
    'mv .pi pi2; rm -rf .pi; echo "{}" > .pi/mcp.json; mkdir -p .pi/extensions',
    'ln -sfn evil .git; ln -sfn evil .pi',
    'git worktree add ../other; git worktree add other',
  ];

  const { text } = await resultOf(bash(`{ ${attempts.join('; ')}; } 2>&1; exit 0`), { home });
  git(home.cwd, 'status');

  expect(text).toMatch(/Read-only file system|busy/);
  expect(readFileSync(join(home.cwd, '.git/config'), 'utf8')).toBe(config);
  expect(
    ['hooks/pre-commit', 'commondir', 'worktrees'].filter((name) => existsSync(join(home.cwd, '.git', name))),
  ).toEqual([]);
  expect(readdirSync(join(home.cwd, '.pi'))).toEqual(['settings.json']);
  expect(readFileSync(settings, 'utf8')).toBe('{}');
  expect(existsSync(join(home.root, 'ran'))).toBe(false);
});

itConfined('[A157] trust of a folder covers no extension that a confined command makes below it', async () => {
  const home = newUserHome();
  const [made, trusted] = [join(home.cwd, 'made'), join(home.cwd, 'trusted')];
  const decisions = Object.fromEntries([home.cwd, trusted].map((folder) => [folder, true]));
  writeFile(join(home.agentDir, 'trust.json'), JSON.stringify(decisions));
  const extension = 'export default (pi) => pi.registerCommand("evil", { handler: () => {} });';
  writeFile(join(trusted, '.pi/extensions/own.ts'), extension);
  const plant = `p=.pi/extensions; mkdir -p made/$p; for f in made trusted; do echo '${extension}' > $f/$p/evil.ts; done`;
  const { text } = await resultOf(bash(`{ ${plant}; mv trusted t; } 2>&1; exit 0`), { home });

  const states = [];
  for (const cwd of [home.cwd, made, trusted]) {
    const agent = await openTestAgent('stdio', { home: { ...home, cwd } });
    states.push(await agent.peer.ok({ type: 'get_state' }));
    await agent.close();
  }

  expect(text).toMatch(/Read-only file system[\s\S]*busy/);
  expect(readdirSync(join(trusted, '.pi/extensions'))).toEqual(['own.ts']);
  expect(states).toMatchObject([
    { projectTrusted: true },
    { projectTrusted: false, skippedFiles: [join(made, '.pi/extensions/evil.ts')] },
    { projectTrusted: true },
  ]);
});

itConfined(
  '[A145] with the setting gitWrite a commit works inside, hooks stay read-only, and no stub is left',
  async () => {
    const home = newUserHome();
    makeRepository(home.cwd);
    const before = readdirSync(join(home.cwd, '.git')).sort();
    const { run, close } = await openConfined({
      home,
      settings: { sandbox: { gitWrite: true } },
      runs: [
        [
          bash(`echo more >> README.md; ${COMMIT} && git branch topic && git log --format=%s`),
          bash('echo x > .git/hooks/pre-commit'),
          bash('git config core.fsmonitor "touch ~/ran"'),
          bash('echo ../evil > .git/commondir'),
          bash('mv .git .git2'),
        ],
      ],
    });

    const [committed, ...attacks] = await run();
    await close();

    expect(committed).toEqual({ isError: false, text: 'change\nbegin\n' });
    expect(attacks.map(({ isError }) => isError)).toEqual([true, true, true, true]);
    expect(readdirSync(join(home.cwd, '.git')).sort()).toEqual([...new Set([...before, 'COMMIT_EDITMSG'])].sort());
    expect(git(home.cwd, 'fsck')).toBe('');
  },
);

itConfined.each<[string, (cwd: string, root: string) => void]>([
  ['a folder that is no repository', () => {}],
  ['a repository', (cwd) => makeRepository(cwd)],
  ['a folder with .pi', (cwd) => writeFile(join(cwd, '.pi/settings.json'), '{}')],
  [
    'a worktree, whose .git is a file',
    (cwd, root) => {
      makeRepository(join(root, 'main'));
      git(join(root, 'main'), 'worktree', 'add', '--quiet', cwd);
    },
  ],
])('[A146] a command runs in %s, and nothing is left there', async (_where, prepare) => {
  const home = newUserHome();
  prepare(home.cwd, home.root);
  const before = readdirSync(home.cwd, { recursive: true, encoding: 'utf8' }).sort();
  const { run, close } = await openConfined({
    home,
    runs: [[bash('git status --short 2>&1; true'), bash('echo again; ls -d ~/.aws')]],
  });

  const [first, second] = await run();
  await close();

  expect(first?.isError).toBe(false);
  expect(second?.text).toMatch(/^again\nls: /);
  const left = readdirSync(home.cwd, { recursive: true, encoding: 'utf8' }).sort();
  expect(left.filter((name) => !name.endsWith('.git/index'))).toEqual(
    before.filter((name) => !name.endsWith('.git/index')),
  );
  expect(existsSync(join(home.root, '.aws'))).toBe(false);
});

itConfined('[A146] a .pi that a command wanted to fill is gone after SIGKILL of tau too', async () => {
  const home = newUserHome();
  writeFileSync(join(home.cwd, 'a'), '');
  const { run, process: agent } = await openConfined({
    home,
    args: CONFINED,
    runs: [[bash('echo x > .pi/evil; true')]],
  });

  await run();
  agent?.kill('SIGKILL');
  await agent?.exited;

  await expect.poll(() => readdirSync(home.cwd)).toEqual(['a']);
});

itConfined('[A145] the death of one agent leaves the protection of another in the same folder', async () => {
  const home = newUserHome();
  makeRepository(home.cwd);
  const settings = { sandbox: { gitWrite: true } };
  const other = await openConfined({ home, settings, args: CONFINED, runs: [[bash('true')]] });
  const gate = makeFifo(join(home.cwd, 'gate'));
  const attack = 'echo ../evil > .git/commondir; mkdir -p .git/modules/evil .pi/extensions';
  const { start, settled, close } = await openConfined({
    home,
    settings,
    runs: [[bash(`read -r _ < gate; { ${attack}; } 2>&1`)]],
  });
  await other.run();
  await start();
  const goOn = await gate.reader();

  other.process?.kill('SIGKILL');
  await other.process?.exited;
  // Its guardian has done its work when the marker is gone.
  await expect.poll(() => markersIn(home.cwd)).toHaveLength(1);
  await goOn();
  const [result] = await settled();
  await close();

  expect(result?.text.match(/Read-only file system/g)).toHaveLength(3);
  expect(readdirSync(home.cwd).sort()).toEqual(['.git', 'README.md', 'gate']);
  expect(readdirSync(join(home.cwd, '.git')).filter((name) => /commondir|modules/.test(name))).toEqual([]);
});

const markersIn = (folder: string) =>
  readdirSync(join(folder, '.git/hooks')).filter((name) => name.startsWith('.tau-sandbox-'));
