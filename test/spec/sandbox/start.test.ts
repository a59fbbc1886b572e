import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, watch } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Preflight } from '../../../src/protocol/generated/vocabulary.ts';
import { type Home, TAU } from '../../support/agent/test-agent.ts';
import { RemotePeer } from '../../support/clients/remote-peer.ts';
import { startProgram } from '../../support/processes/program.ts';
import { bash, CONFINED, openConfined, resultOf } from '../../support/sandbox/confined-agent.ts';
import { newUserHome, writeFile } from '../../support/sandbox/user-home.ts';
import { machinesWithoutEngine } from '../../support/sandbox/without-engine.ts';
import { itConfined } from '../../support/sandbox/working-sandbox.ts';
import { OWNER_TOKEN } from '../../support/server/test-server.ts';

const runTauIn = (wrapper: readonly string[], home: Home, args: readonly string[]) =>
  startProgram(home, [...wrapper, process.execPath, TAU, ...args], { input: '' }).finished;

describe.each(machinesWithoutEngine)('on a machine $machine', ({ wrapper, missing }) => {
  it.each(['rpc', 'json', 'print'])(
    '[A141] tau in the mode %s with --sandbox required exits with 1 and one line that names what is missing',
    async (mode) => {
      const home = newUserHome();
      const args =
        mode === 'print'
          ? ['-p', 'run `touch ran`']
          : ['--mode', mode, ...(mode === 'json' ? ['run `touch ran`'] : [])];

      const { code, stdout, stderr } = await runTauIn(wrapper, home, [...args, ...CONFINED]);

      expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
      expect(stderr).toMatch(missing);
      expect(stderr.trim().split('\n')).toHaveLength(1);
      expect(readdirSync(home.cwd)).toEqual([]);
    },
  );

  it('[A141] with --sandbox auto the state has the reason, and the mode auto questions commands', async () => {
    const { peer, start, settled, question, answer, home } = await openConfined({
      wrapper,
      args: ['--approvals', 'auto', '--sandbox', 'auto'],
      runs: [[bash('touch denied'), bash('touch ~/allowed')]],
    });

    await start();
    const first = await question();
    answer(first, 'reject_once');
    answer(await question(), 'allow_once');
    const [denied, allowed] = await settled();

    expect((await peer.ok({ type: 'get_state' })).sandbox).toEqual({
      status: 'unavailable',
      reason: expect.stringMatching(missing),
    });
    expect(first.approval).toMatchObject({ kind: 'tool', why: { mode: 'auto' }, needs: 'full' });
    expect([denied?.isError, allowed?.isError]).toEqual([true, false]);
    expect([existsSync(join(home.cwd, 'denied')), existsSync(join(home.root, 'allowed'))]).toEqual([false, true]);
  });

  it('[A141] set_approval_mode that requires a sandbox is refused, and the mode stays', async () => {
    const { peer } = await openConfined({ wrapper, args: [], runs: [] });
    await peer.greeted();

    const refusal = await peer.refused({ type: 'set_approval_mode', mode: 'auto', sandbox: 'required' });

    expect(refusal).toMatchObject({ code: 'sandbox_unavailable', error: expect.stringMatching(missing) });
    const { approvalMode, sandbox } = await peer.ok({ type: 'get_state' });
    expect({ approvalMode, sandbox }).toEqual({ approvalMode: 'full', sandbox: { status: 'off' } });
  });

  it('[A141] a server reports sandbox_unavailable, for a session and for all of its sessions', async () => {
    const home = newUserHome();
    const { connect } = await serve(wrapper, home, []);
    const peer = connect();

    const refusal = await peer.refused({ type: 'set_approval_mode', mode: 'auto', sandbox: 'required' });

    expect(refusal).toMatchObject({ code: 'sandbox_unavailable', error: expect.stringMatching(missing) });
    const server = await serve(wrapper, newUserHome(), CONFINED);
    const strict = server.connect();
    strict.send({ type: 'prompt', message: 'run `touch ran`' });
    expect(await strict.find('server_error')).toMatchObject({
      code: 'sandbox_unavailable',
      error: expect.stringMatching(missing),
    });
    expect(server.program.stderr()).toMatch(/no session opens/);
  });

  it('[A154] tau doctor reports that no sandbox works, and names the remedy', async () => {
    const { stdout } = await runTauIn(wrapper, newUserHome(), ['doctor', '--json']);

    const { findings } = JSON.parse(stdout) as Preflight;
    expect(findings.filter(({ check }) => check === 'sandbox')).toEqual([
      { check: 'sandbox', status: 'warning', message: expect.stringMatching(missing) },
    ]);
  });
});

itConfined('[A146] an agent that is killed while it looks for a sandbox leaves no file', async () => {
  const home = newUserHome();
  const temporary = join(home.root, 'temporary');
  mkdirSync(temporary);
  const watcher = watch(temporary);
  const begun = once(watcher, 'change');
  const env = { TMPDIR: temporary };
  const { child, finished } = startProgram(home, [process.execPath, TAU, '--mode', 'rpc', ...CONFINED], { env });
  await begun;
  watcher.close();

  child.kill('SIGKILL');
  await finished;

  await expect.poll(() => readdirSync(temporary)).toEqual([]);
});

itConfined('[A154] tau doctor names the sandbox that works', async () => {
  const { stdout } = await runTauIn([], newUserHome(), ['doctor', '--json']);

  const { findings } = JSON.parse(stdout) as Preflight;
  expect(findings.filter(({ check }) => check === 'sandbox')).toMatchObject([{ check: 'sandbox', status: 'ok' }]);
});

itConfined('[A141] with a sandbox the state names its engine, and nothing runs outside of it', async () => {
  const { peer, run, home } = await openConfined({
    args: ['--approvals', 'auto'],
    runs: [[bash('touch ~/outside; touch inside')]],
  });

  await run();

  expect((await peer.ok({ type: 'get_state' })).sandbox).toMatchObject({ status: 'on', engine: 'bubblewrap' });
  expect([existsSync(join(home.root, 'outside')), existsSync(join(home.cwd, 'inside'))]).toEqual([false, true]);
});

itConfined('[A122] in the mode auto a confined command runs without a question', async () => {
  const { run, questions } = await openConfined({ runs: [[bash('npm --version')]] });

  const [result] = await run();

  expect(result).toEqual({ isError: false, text: expect.stringMatching(/^\d+\.\d+\.\d+\n$/) });
  expect(questions()).toEqual([]);
});

it('[A142] with --sandbox external nothing is wrapped, and the mode auto runs commands without a question', async () => {
  const { peer, run, questions, home } = await openConfined({
    args: ['--approvals', 'auto', '--sandbox', 'external'],
    runs: [[bash('touch ~/outside; ls -d ~/.pi')]],
  });

  const [result] = await run();

  expect(result).toEqual({ isError: false, text: `${home.root}/.pi\n` });
  expect(existsSync(join(home.root, 'outside'))).toBe(true);
  expect(questions()).toEqual([]);
  expect((await peer.ok({ type: 'get_state' })).sandbox).toEqual({ status: 'external' });
});

itConfined('[A142] a project cannot declare the machine a sandbox', async () => {
  const home = newUserHome();
  writeFile(join(home.cwd, '.pi/settings.json'), JSON.stringify({ sandbox: { use: 'external' } }));

  const result = await resultOf(bash('touch ~/outside'), { home, args: ['--approvals', 'auto'] });

  expect(result).toMatchObject({ isError: true, text: expect.stringContaining('Read-only file system') });
  expect(existsSync(join(home.root, 'outside'))).toBe(false);
});

/** Starts a server on a machine; returns what connects a client to a new session. */
async function serve(wrapper: readonly string[], home: Home, args: readonly string[]) {
  const command = [process.execPath, TAU, 'serve', '--port', '0', ...args];
  const program = startProgram(home, [...wrapper, ...command], { env: { PI_AUTH_TOKEN: OWNER_TOKEN } });
  await program.waitForOutput('ws://');
  const [url = ''] = /ws:\S+/.exec(program.stdout()) ?? [];
  return { program, connect: () => new RemotePeer(`${url}?token=${OWNER_TOKEN}`) };
}
