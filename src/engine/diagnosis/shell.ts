import { closeSync, openSync } from 'node:fs';
import { access, constants } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import { defaultShell } from '../../agent/tools/bash/shell.ts';
import { withoutSecrets } from '../../model/keys/secret-variables.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { newUuid } from '../../store/sessions/random-id.ts';
import { spawnGroup } from '../../system/processes/process-group.ts';
import { fine, problem } from './finding.ts';

// Time limit of the shell check.
const SHELL_LIMIT_MS = 1000;

const REMEDY = 'Set shellPath in settings.json to a shell that works';

/** Checks that the shell of the `bash` tool exists and can run `true`. */
export async function shellFinding(
  shellPath: string | undefined,
  env: Readonly<Record<string, string | undefined>>,
): Promise<Finding> {
  const shell = shellPath ?? defaultShell();
  if (isAbsolute(shell) && !(await isProgram(shell))) {
    return problem('shell', `${shell} is not there or cannot be run. ${REMEDY}`);
  }
  const failure = await shellProblem(shell, env);
  return failure === undefined ? fine('shell', shell) : problem('shell', `${shell} ${failure}. ${REMEDY}`);
}

const isProgram = (path: string) =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

/** Runs `true` in the shell and returns the problem; leaves no process behind. */
async function shellProblem(shell: string, env: Readonly<Record<string, string | undefined>>) {
  const output = openSync('/dev/null', 'w');
  const options = { command: shell, args: ['-c', 'true'], cwd: '/', env: withoutSecrets(env), output };
  const child = spawnGroup({ ...options, family: newUuid() });
  closeSync(output);
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    void child.kill();
  }, SHELL_LIMIT_MS);
  const { code, signal, error } = await child.exited;
  clearTimeout(timer);
  await child.kill();
  if (late) return `did not run \`true\` within ${SHELL_LIMIT_MS} ms`;
  if (error) return `does not start (${error.code})`;
  return code === 0 ? undefined : `cannot run \`true\` (it ended with ${signal ?? code})`;
}
