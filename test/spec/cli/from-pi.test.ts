import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { nextUiRequest } from '../../support/agent/extensions.ts';
import { newPiSetup } from '../../support/agent/pi-setup.ts';
import { openTestAgent, sessionFiles } from '../../support/agent/test-agent.ts';
import { runTau, startProgram } from '../../support/processes/program.ts';
import { completions } from '../../support/providers/completions.ts';
import { ProviderDouble } from '../../support/providers/provider-double.ts';

const page = readFileSync(join(import.meta.dirname, '../../../docs/from-pi.md'), 'utf8');

it('[Z91] the steps of docs/from-pi.md move a set-up with a custom provider and an old session, and back', async () => {
  const double = await ProviderDouble.start(completions);
  const home = newPiSetup(double.url);
  const bin = join(home.root, 'bin');
  const env = { PATH: `${bin}:${process.env['PATH']}` };
  // A step of the page. The tests add a folder, and keep `--list-models` from looking for servers.
  const tau = (...args: string[]) => {
    const command = `tau ${args.join(' ').replace(/ --(?:dir \S+|offline)/, '')}`;
    expect(page.replaceAll("'", ''), command).toContain(command);
    return runTau(home, args, { env, input: '' });
  };

  expect((await tau('doctor', '--pi')).stdout).toContain('gateway: 1 models');
  expect((await tau('--list-models', '--offline')).stdout).toMatch(/^gateway +large /m);
  double.respondWith({ text: 'There are two.' });
  expect(await tau('-p', 'list the files')).toMatchObject({ code: 0, stdout: 'There are two.\n' });
  expect((await double.request(0)).headers.authorization).toBe('Bearer key-of-the-gateway');

  const [old = ''] = sessionFiles(home);
  const before = readFileSync(old, 'utf8');
  double.respondWith({ text: 'Beside the bakery.' });
  expect(page).toContain('tau --session <beginning of the id>');
  const continued = await runTau(home, ['--session', '0199aaaa', '-p', 'And the bakery?'], { env, input: '' });
  expect(continued).toMatchObject({ code: 0, stdout: 'Beside the bakery.\n' });
  expect((await double.request(1)).text).toContain('In src/shop.');
  const after = readFileSync(old, 'utf8');
  expect(after.startsWith(before)).toBe(true);
  expect(after.slice(before.length)).toContain('Beside the bakery.');

  expect((await tau('shim', 'pi', '--dir', bin)).code).toBe(0);
  expect((await startProgram(home, ['pi', '--version'], { env }).finished).stdout).toBe('1.5.0\n');
  expect((await tau('shim', 'pi', '--remove')).stdout).toBe(`Removed ${bin}/pi\n`);
});

it('[Z91] the extensions of that set-up run in tau, the one for a terminal too', async () => {
  const { peer } = await openTestAgent('stdio', { home: newPiSetup(), args: ['--no-mcp'] });

  for (const name of ['gate', 'footer']) {
    await peer.ok({ type: 'prompt', message: `/${name}` });
    expect(await nextUiRequest(peer, 'notify')).toMatchObject({ message: name });
  }

  expect(peer.records.filter(({ type }) => type === 'extension_error')).toEqual([]);
});
