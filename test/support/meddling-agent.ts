import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Home, scriptArgs, TAU } from './open.ts';

interface Meddling {
  /** Answers of the scripted model. */
  readonly script?: readonly object[];
  /** Code that is run before anything else. */
  readonly start?: string;
}

/**
 * What `tau serve` is told to start agents of its own kind: tau, with something in between that looks at each request.
 * `meddle` is code that has `request`, may `say` a line to the server, and keeps the request from tau by returning true.
 */
export function meddlingAgent(home: Home, meddle: string, { script, start = '' }: Meddling = {}): string[] {
  const path = join(home.root, `agent-${Math.random().toString(36).slice(2)}.mjs`);
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
const meddle = (request) => { ${meddle} };
createInterface({ input: tau.stdout }).on('line', say);
createInterface({ input: process.stdin })
  .on('line', (line) => meddle(JSON.parse(line)) || tau.stdin.write(line + '\\n'))
  .on('close', () => tau.stdin.end());
tau.on('exit', (code) => process.exit(code ?? 1));
`,
  );
  return ['--agent-command', `'${process.execPath}' '${path}'`];
}
