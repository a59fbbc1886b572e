import { chmodSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { type Home, newHome, TAU } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';

/** Creates folders below the home and returns a PATH of them, in front of the system's own. */
function pathOf({ root }: Home, ...names: readonly string[]): { PATH: string } {
  const folders = names.map((name) => join(root, name));
  for (const folder of folders) mkdirSync(folder, { recursive: true });
  return { PATH: [...folders, process.env['PATH']].join(delimiter) };
}

/** An executable that prints this text. */
function writeProgram(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, `#!/bin/sh\necho ${text}\n`);
  chmodSync(path, 0o755);
}

/** Installs the published pi as npm does: a link into a package. */
function installPi({ root }: Home, bin: string): string {
  const folder = join(root, 'lib/node_modules/@earendil-works/pi-coding-agent');
  writeProgram(join(folder, 'dist/cli.js'), 'the real pi');
  writeFileSync(join(folder, 'package.json'), '{"name":"@earendil-works/pi-coding-agent","version":"1.5.2"}');
  symlinkSync(join(folder, 'dist/cli.js'), join(root, bin, 'pi'));
  return join(root, bin, 'pi');
}

it('[Z2] the launcher of tau shim pi starts the same program with its arguments, input and exit code', async () => {
  const home = newHome();
  const env = pathOf(home, "it's here");
  await runTau(home, ['shim', 'pi', '--dir', join(home.root, "it's here")]);
  const args = ['--mode', 'json', 'say "two  words"', '--no-session', '--model', 'tau/none'];
  const start = (program: readonly string[]) => startProgram(home, [...program, ...args], { env, input: '' }).finished;

  const [pi, tau] = await Promise.all([start(['pi']), start([process.execPath, TAU])]);

  expect(pi).toEqual(tau);
  expect(pi.code).toBe(1);
});

it('[Z82] tools of an agent that was started as pi do not inherit the name', async () => {
  const home = newHome();
  const env = pathOf(home, 'bin');
  await runTau(home, ['shim', 'pi', '--dir', join(home.root, 'bin')]);

  const pi = startProgram(home, ['pi', '--mode', 'rpc', '--no-session'], { env });
  pi.send({ id: '1', type: 'bash', command: `env | grep TAU_STARTED_AS; "${process.execPath}" "${TAU}" --version` });
  pi.child.stdin?.end();

  const { version } = JSON.parse(readFileSync(join(dirname(TAU), '../package.json'), 'utf8'));
  expect((await pi.finished).stdout).toContain(`"output":"${version}\\n"`);
});

it('[Z84] the launcher is written beside the running tau if that folder is on the PATH', async () => {
  const home = newHome();
  const env = pathOf(home, 'first', 'second');
  symlinkSync(TAU, join(home.root, 'second/tau'));

  const { code, stdout } = await runTau(home, ['shim', 'pi'], { env });

  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Wrote ${home.root}/second/pi: it starts ${TAU} under the name pi\n`,
  });
  expect((await startProgram(home, ['pi', '--version'], { env }).finished).stdout).toBe('1.5.0\n');
});

it('[Z84] otherwise it is written into ~/.local/bin, and a folder outside the PATH is reported', async () => {
  const home = newHome();
  const bin = join(home.root, '.local/bin');

  const { code, stdout } = await runTau(home, ['shim', 'pi'], { env: { HOME: home.root } });

  expect({ code, stdout }).toEqual({
    code: 0,
    stdout: `Wrote ${bin}/pi: it starts ${TAU} under the name pi\n${bin} is not on the PATH: add it, or name another folder with --dir\n`,
  });
});

it('[Z84] the programs that it shadows and that shadow it are named', async () => {
  const home = newHome();
  const env = pathOf(home, 'a', 'b', 'c');
  writeProgram(join(home.root, 'a/pi'), 'first');
  const real = installPi(home, 'c');

  const { stdout } = await runTau(home, ['shim', 'pi', '--dir', '../b'], { env });

  expect(stdout.split('\n').slice(1)).toEqual([
    `${home.root}/a/pi comes first on the PATH: shells start that one`,
    `It comes before ${real} (@earendil-works/pi-coding-agent 1.5.2) on the PATH`,
    '',
  ]);
});

it('[Z84] a file of another program is replaced only with --force, and a launcher always', async () => {
  const home = newHome();
  const env = pathOf(home, 'bin');
  const real = installPi(home, 'bin');
  const write = (...more: string[]) => runTau(home, ['shim', 'pi', '--dir', '../bin', ...more], { env });
  const started = async () => (await startProgram(home, ['pi', '--version'], { env }).finished).stdout;

  expect(await write()).toMatchObject({
    code: 1,
    stdout: '',
    stderr: `tau: ${real} (@earendil-works/pi-coding-agent 1.5.2) is not a launcher of tau. Name another folder with --dir, or replace it with --force\n`,
  });
  expect(await started()).toBe('the real pi\n');
  expect((await write('--force')).code).toBe(0);
  expect((await write()).code).toBe(0);

  expect(await started()).toBe('1.5.0\n');
  const target = join(home.root, 'lib/node_modules/@earendil-works/pi-coding-agent/dist/cli.js');
  expect(readFileSync(target, 'utf8')).toContain('the real pi');
  expect(readdirSync(join(home.root, 'bin'))).toEqual(['pi', 'pi.before-tau']);
});

it('[Z84] beside a pi of another program it is written into ~/.local/bin, and the place on the PATH is named', async () => {
  const home = newHome();
  const env = { ...pathOf(home, 'bin'), HOME: home.root };
  symlinkSync(TAU, join(home.root, 'bin/tau'));
  const real = installPi(home, 'bin');
  const user = join(home.root, '.local/bin');
  const write = (PATH: string) => runTau(home, ['shim', 'pi'], { env: { ...env, PATH } });

  const outside = await write(env.PATH);
  const behind = await write(`${env.PATH}:${user}`);

  const written = `Wrote ${user}/pi: it starts ${TAU} under the name pi\n`;
  expect(outside).toMatchObject({
    code: 0,
    stdout: `${written}${user} is not on the PATH: add it before ${home.root}/bin, or name another folder with --dir\n`,
  });
  expect(behind).toMatchObject({
    code: 0,
    stdout: `${written}${real} (@earendil-works/pi-coding-agent 1.5.2) comes first on the PATH: shells start that one\n`,
  });
  expect((await startProgram(home, ['pi', '--version'], { env }).finished).stdout).toBe('the real pi\n');
});

it('[Z84] without --dir it replaces no pi of another program in either folder', async () => {
  const home = newHome();
  writeProgram(join(home.root, '.local/bin/pi'), 'another');

  expect(await runTau(home, ['shim', 'pi'], { env: { HOME: home.root } })).toMatchObject({
    code: 1,
    stderr: expect.stringContaining(`${home.root}/.local/bin/pi is not a launcher of tau`),
  });
});

it('[Z85] --remove restores the pi that --force had replaced', async () => {
  const home = newHome();
  const env = pathOf(home, 'bin');
  symlinkSync(TAU, join(home.root, 'bin/tau'));
  const real = installPi(home, 'bin');
  const started = async () => (await startProgram(home, ['pi', '--version'], { env }).finished).stdout;

  const { stdout } = await runTau(home, ['shim', 'pi', '--force'], { env });
  expect(stdout).toContain(`Kept the pi that was there as ${real}.before-tau\n`);
  expect(await started()).toBe('1.5.0\n');
  expect((await runTau(home, ['shim', 'pi', '--force'], { env })).code).toBe(0);

  expect(await runTau(home, ['shim', 'pi', '--remove'], { env })).toMatchObject({
    code: 0,
    stdout: `Removed ${real}\nRestored the pi that was there before\n`,
  });
  expect(await started()).toBe('the real pi\n');
  expect(readdirSync(join(home.root, 'bin'))).toEqual(['pi', 'tau']);
});

it('[Z84] --force does not replace a pi while another one is kept', async () => {
  const home = newHome();
  pathOf(home, 'bin');
  for (const name of ['pi', 'pi.before-tau']) writeProgram(join(home.root, 'bin', name), name);

  expect(await runTau(home, ['shim', 'pi', '--dir', '../bin', '--force'])).toMatchObject({
    code: 1,
    stderr: `tau: ${home.root}/bin/pi.before-tau is there already: move it away first\n`,
  });
  expect(readFileSync(join(home.root, 'bin/pi'), 'utf8')).toContain('echo pi\n');
});

it('[Z85] --remove removes every launcher of tau on the PATH and no other file', async () => {
  const home = newHome();
  const env = pathOf(home, 'a', 'b', 'c');
  for (const name of ['a', 'c']) await runTau(home, ['shim', 'pi', '--dir', `../${name}`], { env });
  writeProgram(join(home.root, 'b/pi'), 'another');
  const remove = (...more: string[]) => runTau(home, ['shim', 'pi', '--remove', ...more], { env });

  expect(await remove('--dir', '../b')).toMatchObject({
    code: 1,
    stderr: `tau: ${home.root}/b/pi is not a launcher of tau\n`,
  });
  expect(await remove()).toMatchObject({
    code: 0,
    stdout: `Removed ${home.root}/a/pi\nRemoved ${home.root}/c/pi\n`,
  });
  expect(await remove()).toMatchObject({ code: 1, stdout: '' });

  expect(['a', 'b', 'c'].flatMap((name) => readdirSync(join(home.root, name)))).toEqual(['pi']);
});

it('[Z84] a launcher whose tau is gone fails with one line that names the remedy', async () => {
  const home = newHome();
  const env = pathOf(home, 'bin');
  await runTau(home, ['shim', 'pi', '--dir', '../bin']);
  const path = join(home.root, 'bin/pi');
  writeFileSync(path, readFileSync(path, 'utf8').replace(TAU, '/nowhere/tau.cjs'));

  const { code, stdout, stderr } = await startProgram(home, ['pi', '--version'], { env }).finished;

  expect({ code, stdout }).toEqual({ code: 127, stdout: '' });
  expect(stderr).toMatch(/^pi: tau is no longer at \/nowhere\/tau\.cjs: .*tau shim pi.*\n$/);
});

it.each([
  ['no name', ['shim']],
  ['another name', ['shim', 'node']],
  ['a further word', ['shim', 'pi', 'now']],
  ['contradicting flags', ['shim', 'pi', '--force', '--remove']],
])('[Z60] tau shim with %s ends with exit code 2', async (_label, args) => {
  expect(await runTau(newHome(), args)).toMatchObject({ code: 2, stdout: '' });
});
