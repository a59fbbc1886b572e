import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { parse } from 'yaml';
import { newHome } from '../agent/test-agent.ts';
import { startProgram } from '../processes/program.ts';

const SUITE = dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json'));
const FIXTURES = join(import.meta.dirname, '../../fixtures/mcp');

interface Requirements {
  readonly client: readonly string[];
  readonly not_scored: readonly { readonly scenario: string; readonly leg: string }[];
}

/** The client scenarios that the suite requires of a revision, and those that it runs without counting them. */
export function clientScenarios(revision: string): {
  readonly required: readonly string[];
  readonly optional: readonly string[];
} {
  const { client, not_scored } = parse(
    readFileSync(join(SUITE, 'requirements', `${revision}.yaml`), 'utf8'),
  ) as Requirements;
  const optional = not_scored.flatMap(({ scenario, leg }) => (leg === 'client' ? scenario : []));
  return { required: client, optional };
}

/** Runs a client scenario of the suite against tau; returns its report. */
export const runScenario = (scenario: string, revision: string) =>
  runSuite(['--scenario', scenario, '--spec-version', revision]);

/** Runs all client scenarios of a revision at the same time; returns those that passed. */
export async function runRevision(revision: string) {
  const { report } = await runSuite(['--requirements', revision, '--timeout', String(SCENARIO_TIMEOUT_MS)]);
  return { passed: [...report.matchAll(/^✓ (\S+): /gm)].map(([, scenario]) => scenario) };
}

// All scenarios of a revision share the processor.
const SCENARIO_TIMEOUT_MS = 200_000;

async function runSuite(options: readonly string[]) {
  const command = `${process.execPath} ${join(FIXTURES, 'conformance-client.mjs')}`;
  const { finished } = startProgram(newHome(), [
    process.execPath,
    '--import',
    join(FIXTURES, 'node20-fs.mjs'),
    join(SUITE, 'dist/index.js'),
    ...['client', '--command', command, ...options],
  ]);
  const { stdout, stderr } = await finished;
  return { report: `${stdout}${stderr}` };
}
