import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { project } from './demo-project.mjs';

const TAU = join(import.meta.dirname, '../../dist/tau.cjs');

/** Serves the demo project to a new user, with a scripted model. */
export async function serveDemo({ script, extension }) {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'tau-demo-')));
  const cwd = join(root, 'corner-shop');
  const agentDir = join(root, 'agent');
  for (const [path, text] of Object.entries(project)) put(join(cwd, path), text);
  mkdirSync(agentDir);
  if (extension) put(join(agentDir, 'extensions/demo.ts'), extension);
  const scriptArgs = script.length > 0 ? ['--script', join(root, 'script.jsonl')] : [];
  const lines = script.map((line) => JSON.stringify(line).replaceAll('%ROOT%', root));
  put(join(root, 'script.jsonl'), lines.join('\n'));
  const tools = ['--tools', 'read,bash,edit,write,grep,find,ls'];
  const agent = [process.execPath, TAU, ...tools, ...scriptArgs].map((word) => `'${word}'`).join(' ');
  const env = { ...process.env, HOME: root, PI_CODING_AGENT_DIR: agentDir };
  const start = (port) =>
    spawn(process.execPath, [TAU, 'serve', '--port', port, '--agent-command', agent], { cwd, env });
  let server = start('0');
  const loginLink = await firstLine(server);
  return {
    root,
    cwd,
    loginLink,
    /** Creates a file that the script awaits. */
    open: (gate) => put(join(root, gate), ''),
    /** Kills the server with SIGKILL. */
    kill: () => stop(server, 'SIGKILL'),
    restart: async () => {
      server = start(new URL(loginLink).port);
      await firstLine(server);
    },
    close: async () => {
      await stop(server, 'SIGTERM');
      rmSync(root, { recursive: true, force: true });
    },
  };
}

async function firstLine(server) {
  const lines = createInterface({ input: server.stdout });
  const [line] = await Promise.race([once(lines, 'line'), once(server, 'exit')]);
  if (typeof line !== 'string') throw new Error('The server did not start');
  return line;
}

async function stop(server, signal) {
  if (server.exitCode !== null || server.signalCode !== null) return;
  const exit = once(server, 'exit');
  server.kill(signal);
  await exit;
}

function put(path, text) {
  mkdirSync(dirname(path), { recursive: true });
  writeFileSync(path, text);
}
