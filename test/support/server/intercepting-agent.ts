import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, scriptArgs, TAU } from '../agent/test-agent.ts';

interface InterceptOptions {
  /** Responses of the scripted model. */
  readonly script?: readonly object[];
  /** Code that runs first. */
  readonly start?: string;
  /** Code that may change each `record` of tau, or say more, before the server gets it. */
  readonly outgoing?: string;
}

/**
 * Arguments that make `tau serve` start agents behind an interceptor. The code `intercept` gets each `request`, can `say`
 * a line to the server or `answer` the request, and withholds the request from tau by returning true.
 */
export function interceptingAgentArgs(
  home: Home,
  intercept: string,
  { script, start = '', outgoing = '' }: InterceptOptions = {},
): string[] {
  const path = join(home.root, `agent-${Math.random().toString(36).slice(2)}.mjs`);
  const onLine = outgoing === '' ? 'say' : `(line) => { const record = JSON.parse(line); ${outgoing}; say(record); }`;
  const args = JSON.stringify([TAU, ...scriptArgs(home, script)]);
  writeFileSync(
    path,
    `import { spawn } from 'node:child_process';
import { appendFileSync, existsSync, rmSync } from 'node:fs';
import { createInterface } from 'node:readline';
${start}
const tau = spawn(process.execPath, [...${args}, ...process.argv.slice(2)], { stdio: ['pipe', 'pipe', 'inherit'] });
const say = (line) => process.stdout.write((typeof line === 'string' ? line : JSON.stringify(line)) + '\\n');
const answer = ({ id, type }, more) => say({ id, type: 'response', command: type, ...more });
const intercept = (request) => { ${intercept} };
createInterface({ input: tau.stdout }).on('line', ${onLine});
createInterface({ input: process.stdin })
  .on('line', (line) => intercept(JSON.parse(line)) || tau.stdin.write(line + '\\n'))
  .on('close', () => tau.stdin.end());
tau.on('exit', (code) => process.exit(code ?? 1));
`,
  );
  return ['--agent-command', `'${process.execPath}' '${path}'`];
}
