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

/** Runs a client scenario of the suite against tau; returns its exit code and report. */
export async function runScenario(scenario: string, revision: string) {
  const command = `${process.execPath} ${join(FIXTURES, 'conformance-client.mjs')}`;
  const { finished } = startProgram(newHome(), [
    process.execPath,
    '--import',
    join(FIXTURES, 'node20-fs.mjs'),
    join(SUITE, 'dist/index.js'),
    ...['client', '--command', command, '--scenario', scenario, '--spec-version', revision],
  ]);
  const { code, stdout, stderr } = await finished;
  return { code, report: `${stdout}${stderr}` };
}
