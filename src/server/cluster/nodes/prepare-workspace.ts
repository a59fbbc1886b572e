import { statSync } from 'node:fs';
import { Refusal } from '../../../protocol/errors.ts';
import { runProgram } from '../../../system/processes/run-program.ts';
import type { SessionTarget } from '../../sessions.ts';

// How long the preparation of a folder may take.
const PREPARE_WORKSPACE_MS = 10 * 60_000;

// Characters of the command's last line that a client gets.
const MAX_PREPARE_REASON = 300;

export interface PreparationOptions {
  /** A shell command. */
  readonly command: string;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command that makes the folder of a session on this node, for a session whose own node is away. */
export class WorkspacePreparation {
  readonly #options: PreparationOptions;
  /** The running commands by session: clients that connect at the same time share one. */
  readonly #running = new Map<string, Promise<void>>();

  constructor(options: PreparationOptions) {
    this.#options = options;
  }

  /** Settles when the folder exists. Rejects with the last line of the command if it fails. */
  run(target: SessionTarget): Promise<void> {
    const running = this.#running.get(target.id) ?? this.#start(target).finally(() => this.#running.delete(target.id));
    this.#running.set(target.id, running);
    return running;
  }

  async #start({ id, cwd }: SessionTarget): Promise<void> {
    const { command, env } = this.#options;
    const { code, stdout, stderr, killed } = await runProgram({
      command: '/bin/sh',
      args: ['-c', command],
      cwd: process.cwd(),
      env: { ...env, TAU_SESSION: id, TAU_CWD: cwd },
      family: 'workspaces',
      timeout: PREPARE_WORKSPACE_MS,
    });
    if (killed) throw failed(`it took longer than ${PREPARE_WORKSPACE_MS / 60_000} minutes`);
    if (code !== 0) throw failed(lastLineOf(stderr) || lastLineOf(stdout) || `it ended with code ${code}`);
    if (!statSync(cwd, { throwIfNoEntry: false })?.isDirectory()) throw failed(`it made no folder ${cwd}`);
  }
}

const failed = (reason: string) =>
  new Refusal('session_in_use', `The folder of the session could not be prepared: ${reason}`);

const lastLineOf = (text: string): string => (text.trim().split('\n').at(-1) ?? '').slice(0, MAX_PREPARE_REASON);
