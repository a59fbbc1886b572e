import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMicros, residentMb } from '../support/process-stats.mjs';

const root = join(import.meta.dirname, '..', '..');
const NAMES = ['permission-gate', 'custom-tool', 'rpc-demo'];

/** Three extensions that were compiled by an earlier start, over none. */
export const extensions = {
  name: 'extensions',
  rounds: 15,

  samplers(workspace) {
    cpSync(join(root, 'examples', 'extensions'), workspace.path('extensions'), { recursive: true });
    const three = NAMES.flatMap((name) => ['-e', workspace.path(`extensions/${name}.ts`)]);
    return {
      none: () => workspace.agent(['--no-session'], listed),
      three: () => workspace.agent(['--no-session', ...three], listed),
      noneLoads: () => loads(workspace, ['--no-session']),
      threeLoad: () => loads(workspace, ['--no-session', ...three]),
    };
  },

  rows({ none, three, noneLoads, threeLoad }) {
    return [
      { what: 'spawn to get_commands', unit: 'ms', value: three.ms, reference: none.ms, limit: { over: 60 } },
      { what: 'CPU until get_commands', unit: 'ms', value: three.cpu, reference: none.cpu },
      { what: 'resident at get_commands', unit: 'MB', value: three.mb, reference: none.mb },
      { what: 'files of code that were loaded', unit: '', value: threeLoad.files, reference: noneLoads.files },
    ];
  },
};

/** `get_commands` waits for the extensions; `get_state` does not. */
async function listed(child) {
  const ms = (await child.request({ id: 1, type: 'get_commands' })) - child.startedAt;
  return { ms, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid) };
}

/** Number of code files that the process has run, from V8's coverage report. */
async function loads(workspace, args) {
  const folder = mkdtempSync(workspace.path('coverage-'));
  await workspace.agent(args, listed, { env: { NODE_V8_COVERAGE: folder } });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  rmSync(folder, { recursive: true });
  const urls = reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => !url.startsWith('node:'));
  return { files: new Set(urls).size };
}
