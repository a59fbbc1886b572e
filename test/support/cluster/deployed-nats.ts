import { execFileSync, spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { TAU } from '../agent/test-agent.ts';
import { freePort } from '../faults/server-process.ts';
import { natsProgram } from './nats-server.ts';
import { shellBlocksUnder } from './operators-guide.ts';

const CONFIG = join(import.meta.dirname, '../../../deploy/nats/server.conf');

const NAMES = ['nats-1', 'nats-2', 'nats-3'];

/** Three servers of NATS with the configuration in deploy/, and with keys and certificates as the guide makes them. */
export interface DeployedNats {
  readonly folder: string;
  /** Their addresses, separated by commas. */
  readonly urls: string;
  readonly adminKey: string;
  readonly nodeKey: string;
  readonly caFile: string;
  /** All that the servers have logged. */
  readonly log: () => string;
  readonly stop: () => Promise<void>;
}

/** Starts the servers in a folder of their own. */
export async function startDeployedNats(): Promise<DeployedNats> {
  const folder = mkdtempSync(join(tmpdir(), 'tau-nats-'));
  makeCertificates(folder);
  const printed = execFileSync(process.execPath, [TAU, 'cluster', 'keys', folder], { encoding: 'utf8' });
  const keys = Object.fromEntries(
    printed
      .trim()
      .split('\n')
      .map((line) => line.split('=')),
  );
  const ports = await Promise.all(NAMES.map(async () => [await freePort(), await freePort(), await freePort()]));
  const routes = ports.map(([, route]) => `tls://localhost:${route}`).join(', ');
  const logs = NAMES.map((name) => join(folder, `${name}.log`));
  const servers = ports.map(([client, route, monitor], index) =>
    spawn(natsProgram(), ['-c', CONFIG, '-l', logs[index] ?? ''], {
      stdio: 'ignore',
      env: {
        ...keys,
        NATS_NAME: NAMES[index],
        NATS_STORE: join(folder, `store-${index}`),
        NATS_LISTEN: `127.0.0.1:${client}`,
        NATS_CLUSTER: `127.0.0.1:${route}`,
        NATS_MONITOR: `127.0.0.1:${monitor}`,
        NATS_ROUTES: `[${routes}]`,
        NATS_CERT: join(folder, 'localhost.pem'),
        NATS_KEY: join(folder, 'localhost.key'),
        NATS_CA: join(folder, 'ca.pem'),
      },
    }),
  );
  const exited = servers.map((server) => new Promise((resolve) => server.once('exit', resolve)));
  return {
    folder,
    urls: ports.map(([client]) => `nats://localhost:${client}`).join(','),
    adminKey: join(folder, 'admin.nk'),
    nodeKey: join(folder, 'node.nk'),
    caFile: join(folder, 'ca.pem'),
    log: () => logs.map((file) => readFileSync(file, 'utf8')).join(''),
    stop: async () => {
      for (const server of servers) server.kill();
      await Promise.all(exited);
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** Runs the commands of the guide, for a server that is reached by one name, as in `DNS:localhost`, or by one IP number. */
export function makeCertificates(folder: string, subject = 'DNS:localhost'): void {
  const commands = shellBlocksUnder('Production').find((block) => block.includes('openssl')) ?? '';
  const name = subject.replace(/^\w+:/, '');
  const adapted = commands.replace(NAMES.join(' '), name).replace('DNS:$name', subject);
  execFileSync('sh', ['-euc', adapted], { cwd: folder, stdio: 'pipe' });
}
