import { execFileSync, spawn } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

const CACHE = join(import.meta.dirname, '../../../node_modules/.cache/nats-server');

// The first suite of Debian with a server that is new enough.
const SUITE = 'trixie';

const MIN_VERSION = [2, 10, 23];

/** A server of NATS that runs until `stop`. */
export interface NatsServer {
  readonly url: string;
  readonly pid: number;
  readonly storeDir: string;
  readonly stop: (signal?: NodeJS.Signals) => Promise<void>;
}

interface NatsServerOptions {
  /** Lines of the configuration beside JetStream. */
  readonly config?: string;
  readonly port?: number;
  /** Of an earlier server, to continue its data. */
  readonly storeDir?: string;
}

/** Starts a server with JetStream that syncs every record, on a free port of the loopback address. */
export async function startNatsServer({ config = '', port, storeDir }: NatsServerOptions = {}): Promise<NatsServer> {
  const folder = storeDir ?? mkdtempSync(join(tmpdir(), 'nats-'));
  const listen = port ?? (await freePort());
  const configFile = join(folder, 'server.conf');
  const text = `listen: 127.0.0.1:${listen}\njetstream { store_dir: "${folder}", sync_interval: always }\n${config}\n`;
  writeFileSync(configFile, text);
  const child = spawn(natsProgram(), ['-c', configFile], { stdio: ['ignore', 'ignore', 'pipe'] });
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  await new Promise<void>((resolve, reject) => {
    let output = '';
    child.once('error', reject);
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      output += chunk;
      if (output.includes('Server is ready')) resolve();
    });
    void exited.then(() => reject(new Error(`nats-server ended: ${output}`)));
  });
  return {
    url: `nats://127.0.0.1:${listen}`,
    pid: child.pid ?? 0,
    storeDir: folder,
    stop: async (signal = 'SIGTERM') => {
      child.kill(signal);
      await exited;
    },
  };
}

async function freePort(): Promise<number> {
  const probe = createServer();
  await new Promise<void>((resolve) => probe.listen(0, '127.0.0.1', resolve));
  const address = probe.address();
  await new Promise((resolve) => probe.close(resolve));
  return typeof address === 'object' && address ? address.port : 0;
}

/** The server on the PATH if it is new enough, else that of a newer Debian, unpacked without root. */
export function natsProgram(): string {
  if (isNewEnough('nats-server')) return 'nats-server';
  const cached = join(CACHE, 'nats-server');
  mkdirSync(dirname(CACHE), { recursive: true });
  while (!existsSync(cached)) {
    if (isDownloading()) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 200);
    else downloadAlone(cached);
  }
  return cached;
}

/** Holds the pid of the process that downloads: test files start at the same time, and one of them is enough. */
const LOCK = `${CACHE}.lock`;

function isDownloading(): boolean {
  try {
    process.kill(Number(readFileSync(LOCK, 'utf8')), 0);
    return true;
  } catch (error) {
    // The lock of a process that was killed is not released.
    if ((error as NodeJS.ErrnoException).code === 'ESRCH') rmSync(LOCK, { force: true });
    return false;
  }
}

function downloadAlone(target: string): void {
  try {
    writeFileSync(LOCK, String(process.pid), { flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return;
    throw error;
  }
  try {
    if (!existsSync(target)) download(target);
  } finally {
    rmSync(LOCK);
  }
}

function isNewEnough(program: string): boolean {
  try {
    const output = execFileSync(program, ['--version'], { encoding: 'utf8' });
    const numbers = /(\d+)\.(\d+)\.(\d+)/.exec(output)?.slice(1).map(Number) ?? [];
    const difference = MIN_VERSION.map((least, index) => (numbers[index] ?? 0) - least).find((one) => one !== 0);
    return difference === undefined || difference > 0;
  } catch {
    return false;
  }
}

/** Downloads the package with lists of its own, so that nothing is installed and no list of the machine changes. */
function download(target: string): void {
  const work = `${CACHE}.${process.pid}`;
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'etc', 'unpacked'])
    mkdirSync(join(work, folder), { recursive: true });
  writeFileSync(join(work, 'etc/sources.list'), `${debianSource()}\n`);
  const options = [
    `Dir::State=${work}/state`,
    `Dir::Cache=${work}/cache`,
    `Dir::Etc::sourcelist=${work}/etc/sources.list`,
    'Dir::Etc::sourceparts=-',
    'APT::Sandbox::User=root',
  ].flatMap((option) => ['-o', option]);
  const apt = (...args: string[]) => execFileSync('apt-get', [...options, ...args], { cwd: work, stdio: 'pipe' });
  try {
    apt('update');
    apt('download', 'nats-server');
    const [file = ''] = readdirSync(work).filter((name) => name.endsWith('.deb'));
    execFileSync('dpkg', ['-x', join(work, file), join(work, 'unpacked')]);
    mkdirSync(CACHE, { recursive: true });
    renameSync(join(work, 'unpacked/usr/sbin/nats-server'), target);
  } catch (error) {
    throw new Error(
      'The tests of the cluster need nats-server 2.10.23 or later on the PATH, or Debian to get it from',
      {
        cause: error,
      },
    );
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** The first Debian source of this machine, with another suite. */
function debianSource(): string {
  const texts = ['/etc/apt/sources.list', ...sourceFiles()].filter((file) => existsSync(file));
  const text = texts.map((file) => readFileSync(file, 'utf8')).join('\n');
  const uri =
    /^URIs:\s*(\S+\/debian)\/?\s*$/m.exec(text)?.[1] ?? /^deb\s+(?:\[[^\]]*\]\s+)?(\S+\/debian)\/?\s/m.exec(text)?.[1];
  if (!uri) throw new Error('This machine has no source of Debian packages');
  return `deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] ${uri} ${SUITE} main`;
}

function sourceFiles(): string[] {
  const folder = '/etc/apt/sources.list.d';
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}
