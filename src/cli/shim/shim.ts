import { accessSync, constants, realpathSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { messageOf } from '../../protocol/errors.ts';
import { expandHome } from '../../store/agent-dir.ts';
import { makeFolder } from '../../system/files/make-folder.ts';
import { terminalText } from '../../system/terminal-text.ts';
import { type CliArguments, UsageError } from '../flags/flags.ts';
import { printAndExit } from '../stdio.ts';
import { describeProgram, executablesNamed, fileKindAt, launcherText, writeLauncher } from './launcher.ts';

const NAME = 'pi';

/** `tau shim pi`: writes or removes a launcher that starts tau under the name pi. Other files stay as they are. */
export async function shim(args: CliArguments): Promise<number> {
  const [, name, extra] = args.positionals;
  if (name !== NAME || extra !== undefined) throw new UsageError(`tau shim takes the name ${NAME} and nothing else`);
  try {
    return args.remove ? await remove(args.dir) : await write(args);
  } catch (error) {
    return refuse(messageOf(error));
  }
}

async function write({ dir, force }: CliArguments): Promise<number> {
  const program = realpathSync(process.argv[1] ?? '');
  const folder = dir === undefined ? defaultFolder(program) : resolve(expandHome(dir));
  const path = join(folder, NAME);
  if (fileKindAt(path) === 'foreign' && !force) {
    return refuse(
      `${describeProgram(path)} is not a launcher of tau. Name another folder with --dir, or replace it with --force`,
    );
  }
  makeFolder(folder);
  writeLauncher(path, launcherText(NAME, { node: process.execPath, program }));
  return printAndExit(`Wrote ${path}: it starts ${program} under the name ${NAME}\n${positionOnPath(path)}`);
}

/** Explains which `pi` a shell starts now. */
function positionOnPath(path: string): string {
  const folders = pathFolders();
  const position = folders.indexOf(dirname(path));
  if (position < 0) return `${dirname(path)} is not on the PATH: add it, or name another folder with --dir\n`;
  const before = executablesNamed(NAME, folders.slice(0, position));
  const after = executablesNamed(NAME, folders.slice(position + 1));
  return [
    ...before.map((other) => `${describeProgram(other)} comes first on the PATH: shells start that one\n`),
    ...after.map((other) => `It comes before ${describeProgram(other)} on the PATH\n`),
  ].join('');
}

async function remove(dir: string | undefined): Promise<number> {
  const folders = dir === undefined ? [...pathFolders(), userFolder()] : [resolve(expandHome(dir))];
  const paths = [...new Set(folders)].map((folder) => join(folder, NAME));
  const launchers = paths.filter((path) => fileKindAt(path) === 'launcher');
  if (launchers.length === 0) {
    const [only = ''] = paths;
    if (dir === undefined) return refuse(`No folder of the PATH has a launcher of tau with the name ${NAME}`);
    return refuse(fileKindAt(only) === 'none' ? `There is no ${only}` : `${only} is not a launcher of tau`);
  }
  for (const path of launchers) rmSync(path);
  return printAndExit(launchers.map((path) => `Removed ${path}\n`).join(''));
}

/** The folder of the running tau if it is on the PATH and can be written, or else the user's own. */
function defaultFolder(program: string): string {
  const beside = executablesNamed('tau', pathFolders()).find((path) => realpathSync(path) === program);
  return beside !== undefined && canWrite(dirname(beside)) ? dirname(beside) : userFolder();
}

const userFolder = () => join(process.env['HOME'] || homedir(), '.local', 'bin');

const pathFolders = () =>
  (process.env['PATH'] ?? '')
    .split(delimiter)
    .filter(isAbsolute)
    .map((folder) => resolve(folder));

function canWrite(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}

function refuse(message: string): number {
  process.stderr.write(`tau: ${terminalText(message)}\n`);
  return 1;
}
