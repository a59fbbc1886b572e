import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { build } from 'esbuild';
import { expect, it } from 'vitest';
import { startProgram, runTau } from '../../support/processes/program.ts';
import { example } from '../../support/agent/extensions.ts';
import { newHome } from '../../support/agent/test-agent.ts';

const root = join(import.meta.dirname, '../../..');

/** The loader as a program of its own, bundled as ours is, in a folder that is installed like a package. */
async function loader() {
  const home = newHome();
  const dist = join(home.root, 'package', 'dist');
  await build({
    entryPoints: [join(root, 'test/support/agent/loader-program.ts')],
    outdir: dist,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node20.19',
    external: ['jiti', '@vscode/ripgrep', 'sharp'],
    alias: { yaml: join(root, 'node_modules/yaml/browser/index.js') },
    logLevel: 'error',
  });
  mkdirSync(join(home.root, 'package', 'node_modules'));
  symlinkSync(join(root, 'node_modules', 'jiti'), join(home.root, 'package', 'node_modules', 'jiti'));
  const write = (name: string, text: string) => {
    writeFileSync(join(home.cwd, name), text);
    return join(home.cwd, name);
  };
  const cache = join(home.agentDir, 'cache', 'extensions');
  const run = async (...paths: string[]) => {
    const program = [process.execPath, join(dist, 'loader-program.mjs'), cache, ...paths];
    const { code, stdout, stderr } = await startProgram(home, program).finished;
    return {
      code,
      stdout,
      stderr,
      said: stdout
        .split('\n')
        .filter(Boolean)
        .map((line) => JSON.parse(line)),
    };
  };
  return { cache, write, run };
}

it('what an extension prints while it loads never reaches the client', async () => {
  const { write, run } = await loader();
  const chatty = write(
    'chatty.ts',
    `import { execSync } from 'node:child_process';
     import fs, { writeSync } from 'node:fs';
     import './helper';
     console.log('by console');
     process.stdout.write('by stream');
     writeSync(1, 'by descriptor');
     fs.appendFileSync('/dev/stdout', 'by file');
     execSync('echo by child', { stdio: 'inherit' });
     export default () => { console.info('by factory'); return 'quiet'; };`,
  );
  write('helper.cjs', "require('fs').writeSync(1, 'by required'); console.log('by helper');");

  const { stdout, stderr, said } = await run(chatty);

  expect(said).toEqual([{ result: 'quiet' }]);
  expect(stdout).not.toContain('by ');
  for (const way of ['console', 'stream', 'descriptor', 'file', 'child', 'factory', 'required', 'helper']) {
    expect(stderr).toContain(`by ${way}`);
  }
});

it('loads what it brings along from where it is installed, and the compiler only for what is new', async () => {
  const { write, run, cache } = await loader();
  const text = `
    import { Type } from '@sinclair/typebox';
    import { StringEnum, getModel } from '@mariozechner/pi-ai';
    import { parseFrontmatter, VERSION } from '@mariozechner/pi-coding-agent';
    import { visibleWidth } from '@mariozechner/pi-tui';
    export default () => [
      Type.Object({ a: StringEnum(['x']) }).required, parseFrontmatter('---\\na: 1\\n---').frontmatter, typeof VERSION,
      visibleWidth('abc'), typeof getModel, Object.keys(process.getBuiltinModule('node:module').Module._cache).some((name) => /babel/.test(name)),
    ];`;
  const paths = [write('one.ts', text), write('two.mjs', text)];
  const result = (compiled: boolean) => ({ result: [['a'], { a: 1 }, 'string', 3, 'function', compiled] });

  const cold = await run(...paths);
  const warm = await run(...paths);
  writeFileSync(join(cache, 'half-written.js'), 'x');
  writeFileSync(paths[0] ?? '', `${text}\n// changed`);
  const changed = await run(...paths);

  expect(cold.said).toEqual([result(true), result(true)]);
  expect(warm.said).toEqual([result(false), result(false)]);
  expect(changed.said).toEqual([result(true), result(true)]);
  expect(readdirSync(cache)).toHaveLength(3);
});

it('goes on after an extension that fails', async () => {
  const { write, run } = await loader();
  const broken = [
    write('a.ts', 'throw new Error("no")'),
    write('b.ts', 'const = 1'),
    write('c.ts', 'export default 1'),
  ];
  const good = write('d.ts', 'export default () => "good"');

  const { code, said } = await run(...broken, '/no/such/file.ts', good);

  expect(said.map((one) => Object.keys(one)[0])).toEqual(['error', 'error', 'error', 'error', 'result']);
  expect(code).toBe(0);
});

it('programs that load the same extension for the first time at once do not disturb each other', async () => {
  const { write, run, cache } = await loader();
  const path = write('one.ts', 'export default (): string => "one";');

  const runs = await Promise.all(Array.from({ length: 4 }, () => run(path)));

  expect(runs.map(({ said }) => said)).toEqual(runs.map(() => [{ result: 'one' }]));
  expect(readdirSync(cache)).toHaveLength(1);
  expect(execFileSync('find', [cache, '-perm', '/077'], { encoding: 'utf8' })).toBe('');
});

/** The code that a start with these arguments has run, told by V8. */
async function codeRun(...args: string[]): Promise<string[]> {
  const home = newHome();
  const folder = join(home.root, 'coverage');
  await runTau(home, ['--mode', 'rpc', '--no-session', ...args], {
    input: '{"type":"get_commands"}\n',
    env: { NODE_V8_COVERAGE: folder },
  });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  const urls: string[] = reports.flatMap(({ result }) => result.map(({ url }: { url: string }) => url));
  return urls.filter((url) => url.startsWith('file:')).map((url) => readFileSync(fileURLToPath(url), 'utf8'));
}

it('nothing of extensions is loaded where there are none', async () => {
  const holdsExtensions = (code: string) => code.includes('Extension does not export a valid factory function');

  const without = await codeRun();
  const having = await codeRun('-e', example('extensions/permission-gate.ts'));

  expect(without.length).toBeGreaterThan(1);
  expect(without.filter(holdsExtensions)).toEqual([]);
  expect(having.filter(holdsExtensions)).toHaveLength(1);
});
