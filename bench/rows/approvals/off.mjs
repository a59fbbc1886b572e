import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { promptInTurn } from '../../support/agents-in-turn.mjs';
import { callScript } from '../../support/call-script.mjs';

const TURNS = 100;
const START = ['--mode', 'rpc', '--no-session'];

/** Everything off, compared with a build from before approvals in the folder `before`. */
export const approvalsOff = (before) => ({
  name: 'approvals-off',
  rounds: 10,

  samplers(workspace) {
    const script = callScript(workspace, 'approvals-off', { tool: 'bash', args: { command: 'true' } });
    const programs = {
      now: workspace.path('dist/tau.cjs'),
      ...(before === undefined ? {} : { before: join(before, 'tau.cjs') }),
    };
    const names = Object.keys(programs);
    const agents = Object.fromEntries(
      names.map((name) => [name, { args: ['--script', script], program: programs[name] }]),
    );
    const started = (name) => () => workspace.program(programs[name], START, { use: firstState });
    const loaded = (name) => () => loadedFiles(workspace, programs[name]);
    return {
      turns: () => promptInTurn(workspace, agents, TURNS),
      ...Object.fromEntries(names.map((name) => [`${name}Start`, started(name)])),
      ...Object.fromEntries(names.map((name) => [`${name}Files`, loaded(name)])),
    };
  },

  rows({ turns, nowStart, beforeStart, nowFiles, beforeFiles }) {
    const row = (what, unit, [value, reference], over) => ({
      ...{ what, unit, value, reference },
      ...(reference === undefined || over === undefined ? {} : { limit: { over } }),
    });
    return [
      row('`bash true`, prompt to agent_settled, median', 'ms', [turns['now median'], turns['before median']], 0.1),
      row('`bash true`, CPU', 'ms', [turns['now cpu'], turns['before cpu']]),
      row('spawn to get_state', 'ms', [nowStart.ms, beforeStart?.ms], 1),
      row('files of code loaded at the start', '', [nowFiles.files, beforeFiles?.files], 0),
    ];
  },
});

const firstState = async (child) => ({ ms: (await child.request({ id: 1, type: 'get_state' })) - child.startedAt });

/** Number of code files that the process has run, from V8's coverage report. */
async function loadedFiles(workspace, program) {
  const folder = mkdtempSync(workspace.path('coverage-'));
  await workspace.program(program, START, { use: firstState, env: { NODE_V8_COVERAGE: folder } });
  const reports = readdirSync(folder).map((name) => JSON.parse(readFileSync(join(folder, name), 'utf8')));
  rmSync(folder, { recursive: true });
  const urls = reports.flatMap(({ result }) => result.map(({ url }) => url)).filter((url) => !url.startsWith('node:'));
  return { files: new Set(urls).size };
}
