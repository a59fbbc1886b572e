import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const MODELS = ['turn', 'ok', 'slow', 'many', 'paced', 'endless'];

/** Calls `use` with an HTTP model server in its own process; agents of this workspace have its models as bench/<name>. */
export async function withLocalModel(workspace, use) {
  const server = spawn(process.execPath, [join(import.meta.dirname, 'model-server.mjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const [port] = await once(server.stdout.setEncoding('utf8'), 'data');
  const url = `http://127.0.0.1:${port.trim()}/v1`;
  const models = MODELS.map((id) => ({ id }));
  const provider = { baseUrl: url, api: 'openai-completions', apiKey: 'none', models };
  const file = workspace.file('agent/models.json', JSON.stringify({ providers: { bench: provider } }));
  try {
    return await use({ url, writtenAt: () => writtenAt(url) });
  } finally {
    rmSync(file);
    server.stdin.end();
  }
}

/** Send times of first deltas of the models `slow` and `paced` since the last call, on the clock of this process. */
async function writtenAt(url) {
  const times = await (await fetch(url)).json();
  const behind = clockBehindMs();
  return times.map((nanos) => Number(nanos) / 1e6 - behind);
}

/** Offset of this process's clock to the system clock, which all processes share. */
function clockBehindMs() {
  const before = performance.now();
  const now = Number(process.hrtime.bigint()) / 1e6;
  return now - (before + performance.now()) / 2;
}
