import { execFileSync } from 'node:child_process';
import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { compile, exitOf, processes, readAll, temporaryFolder, until } from '../testing/script.ts';

const folder = temporaryFolder();
const start = processes();
const PROTOCOL = '{"type":"ready"}\n{"type":"done"}\n';

/** Runs a script that takes stdout, writes `ready`, runs the body and writes `done`; stdout and stderr are files. */
async function run(body: string): Promise<{ stdout: string; stderr: string; code: unknown }> {
  const script = compile(
    folder,
    `import { takeStdout } from './stdout/private-stdout.ts';
     import * as childProcess from 'node:child_process';
     import * as fs from 'node:fs';
     import * as fsPromises from 'node:fs/promises';
     const stdout = takeStdout();
     stdout.write('{"type":"ready"}\\n');
     await new Promise((resolve) => process.nextTick(resolve));
     ${body}
     stdout.write('{"type":"done"}\\n');
     await stdout.flush();`,
  );
  const paths = [join(folder, 'out'), join(folder, 'err')] as const;
  const fds = paths.map((path) => openSync(path, 'w'));
  const child = start(process.execPath, [script], { stdio: ['ignore', ...fds] });
  for (const fd of fds) closeSync(fd);
  const code = await exitOf(child);
  return { stdout: readFileSync(paths[0], 'utf8'), stderr: readFileSync(paths[1], 'utf8'), code };
}

describe('everything else that is printed goes to stderr', () => {
  const prints: Record<string, string> = {
    'console.log': `console.log('lost');`,
    'process.stdout.write': `process.stdout.write('lost\\n');`,
    'process.stdout.end': `process.stdout.end('lost\\n');`,
    'a stream piped to process.stdout': `
      const { Readable } = await import('node:stream');
      const { pipeline } = await import('node:stream/promises');
      await pipeline(Readable.from(['lo', 'st\\n']), process.stdout);`,
    'fs.writeSync': `fs.writeSync(1, 'lost\\n');`,
    'fs.writevSync': `fs.writevSync(1, [Buffer.from('lo'), Buffer.from('st\\n')]);`,
    'fs.write': `await new Promise((resolve) => fs.write(1, 'lost\\n', resolve));`,
    'fs.writev': `await new Promise((resolve) => fs.writev(1, [Buffer.from('lost\\n')], resolve));`,
    'fs.writeFileSync to a number': `fs.writeFileSync(1, 'lost\\n');`,
    'fs.writeFileSync to a path': `fs.writeFileSync('/dev/stdout', 'lost\\n');`,
    'fs.writeFileSync to a URL': `fs.writeFileSync(new URL('file:///dev/stdout'), 'lost\\n');`,
    'fs.appendFileSync': `fs.appendFileSync('/proc/self/fd/1', 'lost\\n');`,
    'fs.writeFile': `await new Promise((resolve) => fs.writeFile('/dev/fd/1', 'lost\\n', resolve));`,
    'fs.appendFile': `await new Promise((resolve) => fs.appendFile(1, 'lost\\n', resolve));`,
    'fs.openSync': `const fd = fs.openSync('/dev/stdout', 'w'); fs.writeSync(fd, 'lost\\n'); fs.closeSync(fd);`,
    'fs.open': `
      const fd = await new Promise((resolve) => fs.open('/dev/stdout', 'w', (_, fd) => resolve(fd)));
      fs.writeSync(fd, 'lost\\n');`,
    'fs.createWriteStream of a number': `
      await new Promise((resolve) => fs.createWriteStream('', { fd: 1 }).end('lost\\n').on('close', resolve));`,
    'fs.createWriteStream of a path': `
      await new Promise((resolve) => fs.createWriteStream('/dev/stdout').end('lost\\n').on('close', resolve));`,
    'fsPromises.writeFile': `await fsPromises.writeFile('/dev/stdout', 'lost\\n');`,
    'fsPromises.appendFile': `await fs.promises.appendFile('/dev/stdout', 'lost\\n');`,
    'fsPromises.open': `
      const file = await fsPromises.open('/dev/stdout', 'w');
      await file.write('lost\\n');
      await file.close();`,
    'a worker thread': `
      const { Worker } = await import('node:worker_threads');
      const worker = new Worker("console.log('lost')", { eval: true });
      await new Promise((resolve) => worker.on('exit', resolve));`,
    'spawn with stdio inherit': `
      const child = childProcess.spawn('echo', ['lost'], { stdio: 'inherit' });
      await new Promise((resolve) => child.on('exit', resolve));`,
    'spawn with inherit in second place': `
      const child = childProcess.spawn('echo', ['lost'], { stdio: ['ignore', 'inherit', 'ignore'] });
      await new Promise((resolve) => child.on('exit', resolve));`,
    'spawn with process.stdout': `
      const child = childProcess.spawn('echo', ['lost'], { stdio: ['ignore', process.stdout, 'ignore'] });
      await new Promise((resolve) => child.on('exit', resolve));`,
    'spawn with 1 as its stderr': `
      const child = childProcess.spawn('sh', ['-c', 'echo lost >&2'], { stdio: ['ignore', 'ignore', 1] });
      await new Promise((resolve) => child.on('exit', resolve));`,
    'spawn with 1 in fourth place': `
      const child = childProcess.spawn('sh', ['-c', 'echo lost >&3'], { stdio: ['ignore', 'ignore', 'ignore', 1] });
      await new Promise((resolve) => child.on('exit', resolve));`,
    'spawn with a stream on 1': `
      const stdio = ['ignore', fs.createWriteStream('', { fd: 1 }), 'ignore'];
      const child = childProcess.spawn('echo', ['lost'], { stdio });
      await new Promise((resolve) => child.on('exit', resolve));`,
    fork: `
      fs.writeFileSync('${folder}/forked.cjs', "console.log('lost')");
      const child = childProcess.fork('${folder}/forked.cjs');
      await new Promise((resolve) => child.on('exit', resolve));`,
    spawnSync: `childProcess.spawnSync('echo', ['lost'], { stdio: [0, 1, 2] });`,
    execSync: `childProcess.execSync('echo lost', { stdio: 'inherit' });`,
    execFileSync: `childProcess.execFileSync('echo', ['lost'], { stdio: ['inherit', 'inherit', 'inherit'] });`,
  };

  it.each(Object.entries(prints))('%s', async (_name, print) => {
    expect(await run(print)).toEqual({ stdout: PROTOCOL, stderr: 'lost\n', code: 0 });
  });

  it('from code that was imported or used before stdout was taken', async () => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       import { writeSync } from 'node:fs';
       import { spawnSync } from 'node:child_process';
       const { stdout: early } = process;
       console.log('before');
       takeStdout().write('protocol\\n');
       process.nextTick(() => {
         console.log('console');
         early.write('early\\n');
         writeSync(1, 'imported\\n');
         spawnSync('echo', ['child'], { stdio: 'inherit' });
       });`,
    );
    const child = start(process.execPath, [script]);

    const [stdout, stderr] = await Promise.all([readAll(child.stdout), readAll(child.stderr)]);

    expect(stdout).toBe('before\nprotocol\n');
    expect(stderr.split('\n').sort()).toEqual(['', 'child', 'console', 'early', 'imported']);
  });

  it('but output that the caller captures is unchanged', async () => {
    const { stderr } = await run(`
      const { promisify } = await import('node:util');
      const { stdout: text } = await promisify(childProcess.exec)('echo from exec');
      const { bytesWritten } = await promisify(fs.write)(2, 'promisified ');
      fs.writeFileSync('${folder}/file', 'from file');
      fs.writeSync(2, [childProcess.execSync('echo piped'), text, bytesWritten, fs.readFileSync('${folder}/file')].join(''));`);

    expect(stderr).toBe('promisified piped\nfrom exec\n12from file');
  });

  it('and stdout and stderr stay open after every attempt to close them', async () => {
    const outcome = await run(`
      process.stdout.end();
      process.stdout.destroy();
      fs.closeSync(1);
      fs.closeSync(2);
      await new Promise((resolve) => fs.close(1, resolve));
      console.error('still here');`);

    expect(outcome).toEqual({ stdout: PROTOCOL, stderr: 'still here\n', code: 0 });
  });
});

describe('the writer', () => {
  const writeLongText = () =>
    compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       const stdout = takeStdout();
       console.log('lost');
       stdout.write('ü'.repeat(200_000) + '\\n');
       await stdout.flush();
       process.exit();`,
    );
  /** Shortens the report of a failure. */
  const short = (text: string) => text.replaceAll(/ü+/g, (run) => `${run.length} ü`);
  const sent = '200000 ü\n';

  it('reaches a socket', async () => {
    const child = start(process.execPath, [writeLongText()]);

    expect((await Promise.all([readAll(child.stdout), readAll(child.stderr)])).map(short)).toEqual([sent, 'lost\n']);
  });

  it('reaches a pipe', async () => {
    const child = start('bash', ['-c', '"$0" "$1" | cat', process.execPath, writeLongText()]);

    expect((await Promise.all([readAll(child.stdout), readAll(child.stderr)])).map(short)).toEqual([sent, 'lost\n']);
  });

  it('reaches a file', async () => {
    const path = join(folder, 'reached');

    execFileSync('bash', ['-c', '"$0" "$1" > "$2" 2> "$2.err"', process.execPath, writeLongText(), path]);

    expect([path, `${path}.err`].map((file) => short(readFileSync(file, 'utf8')))).toEqual([sent, 'lost\n']);
  });

  it.runIf(process.platform === 'linux')('reaches a terminal', async () => {
    const child = start('script', ['-qec', `${process.execPath} ${writeLongText()} 2>/dev/null`, '/dev/null'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });

    expect(short(await readAll(child.stdout)).replaceAll('\r', '')).toBe(sent);
  });

  it('never blocks on a reader that does not read, and reports when the reader has caught up', async () => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       const stdout = takeStdout();
       if (stdout.write('x'.repeat(4 << 20))) console.error('there is room');
       stdout.onDrain(() => console.error('drained'));
       setTimeout(() => console.error('alive'), 1);`,
    );
    const child = start('bash', ['-c', '"$0" "$1" | { read -r -u 3; cat >/dev/null; }', process.execPath, script], {
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
    });
    let printed = '';
    child.stderr?.on('data', (chunk) => {
      printed += chunk;
    });

    await until(() => printed === 'alive\n');
    (child.stdio[3] as NodeJS.WritableStream).end('read now\n');

    await until(() => printed === 'alive\ndrained\n');
  });

  it('has written everything when flush settles', async () => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       const stdout = takeStdout();
       for (let line = 0; line < 5000; line++) stdout.write(String(line).padStart(999, '.') + '\\n');
       await stdout.flush();
       process.exit(7);`,
    );
    const child = start('bash', ['-c', '"$0" "$1" | wc -c; exit "$PIPESTATUS"', process.execPath, script]);

    expect(await Promise.all([readAll(child.stdout), exitOf(child)])).toEqual(['5000000\n', 7]);
  });

  it.each(['| true', '> >(true)'])('reports once that its reader has closed (%s)', async (reader) => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       import { appendFileSync } from 'node:fs';
       const stdout = takeStdout();
       const events = [];
       stdout.onError((error) => events.push(error.code));
       while (events.length === 0) {
         stdout.write('anyone?\\n');
         await new Promise((resolve) => setImmediate(resolve));
       }
       for (let more = 0; more < 100; more++) {
         if (!stdout.write('x'.repeat(100_000))) events.push('waits');
         await new Promise((resolve) => setImmediate(resolve));
       }
       await stdout.flush();
       await new Promise((resolve) => stdout.onError((error) => resolve(events.push('late ' + error.code))));
       console.error(events.join());`,
    );
    const child = start('bash', ['-c', `"$0" "$1" ${reader}; exit "$PIPESTATUS"`, process.execPath, script]);

    expect(await Promise.all([readAll(child.stderr), exitOf(child)])).toEqual(['EPIPE,late EPIPE\n', 0]);
  });

  it('settles flush and ends every wait when the reader closes meanwhile', async () => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       const stdout = takeStdout();
       const events = [];
       stdout.onError(() => events.push('error'));
       stdout.onDrain(() => events.push('drain'));
       if (!stdout.write('x'.repeat(4 << 20))) console.error('full');
       await stdout.flush();
       await new Promise((resolve) => setImmediate(resolve));
       console.error(events.join());`,
    );
    const child = start(process.execPath, [script]);
    let printed = '';
    child.stderr?.on('data', (chunk) => {
      printed += chunk;
    });

    await until(() => printed === 'full\n');
    child.stdout?.destroy();

    expect(await exitOf(child)).toBe(0);
    await until(() => printed === 'full\nerror,drain\n');
  });

  it('survives a closed stderr', async () => {
    const script = compile(
      folder,
      `import { takeStdout } from './stdout/private-stdout.ts';
       const stdout = takeStdout();
       for (let times = 0; times < 100; times++) {
         console.log('dropped');
         process.stderr.write('dropped');
         await new Promise((resolve) => setImmediate(resolve));
       }
       stdout.write('fine\\n');`,
    );
    const child = start('bash', ['-c', '"$0" "$1" 2> >(true)', process.execPath, script]);

    expect(await Promise.all([readAll(child.stdout), exitOf(child)])).toEqual(['fine\n', 0]);
  });
});
