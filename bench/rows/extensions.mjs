import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { cpuMicros, residentMb } from '../support/process-facts.mjs';

const root = join(import.meta.dirname, '..', '..');
const NAMES = ['permission-gate', 'custom-tool', 'rpc-demo'];

/** Three extensions that were compiled by an earlier start, over none. */
export const extensions = {
  name: 'extensions',
  rounds: 15,

  samplers(place) {
    cpSync(join(root, 'examples', 'extensions'), place.path('extensions'), { recursive: true });
    const three = NAMES.flatMap((name) => ['-e', place.path(`extensions/${name}.ts`)]);
    return {
      none: () => place.agent(['--no-session'], listed),
      three: () => place.agent(['--no-session', ...three], listed),
      noneLoads: () => loads(place, ['--no-session']),
      threeLoad: () => loads(place, ['--no-session', ...three]),
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

/** It waits for the extensions; `get_state` would not. */
async function listed(child) {
  const ms = (await child.ask({ id: 1, type: 'get_commands' })) - child.startedAt;
  return { ms, cpu: cpuMicros(child.pid) / 1000, mb: residentMb(child.pid) };
}

/** How many files of code the process has run, told by its V8 when it ends. */
async function loads(place, args) {
  const folder = mkdtempSync(place.path('coverage-'));
  await place.agent(args, listed, { env: { NODE_V8_COVERAGE: folder } });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  rmSync(folder, { recursive: true });
  const urls = reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => !url.startsWith('node:'));
  return { files: new Set(urls).size };
}
