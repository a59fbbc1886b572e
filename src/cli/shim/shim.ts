import { accessSync, constants, realpathSync, renameSync, rmSync } from 'node:fs';
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

/** `tau shim pi`: writes or removes a launcher that starts tau under the name pi. It removes no other file. */
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
  const folder = dir === undefined ? defaultFolder(program, { force }) : resolve(expandHome(dir));
  const path = join(folder, NAME);
  const isForeign = fileKindAt(path) === 'foreign';
  if (isForeign && !force) {
    return refuse(
      `${describeProgram(path)} is not a launcher of tau. Name another folder with --dir, or replace it with --force`,
    );
  }
  makeFolder(folder);
  if (isForeign) keepForeign(path);
  writeLauncher(path, launcherText(NAME, { node: process.execPath, program }));
  const kept = isForeign ? `Kept the ${NAME} that was there as ${keptPath(path)}\n` : '';
  return printAndExit(`Wrote ${path}: it starts ${program} under the name ${NAME}\n${kept}${positionOnPath(path)}`);
}

const keptPath = (path: string) => `${path}.before-tau`;

function keepForeign(path: string): void {
  const kept = keptPath(path);
  if (fileKindAt(kept) !== 'none') throw new Error(`${kept} is there already: move it away first`);
  renameSync(path, kept);
}

/** Explains which `pi` a shell starts now. */
function positionOnPath(path: string): string {
  const folders = pathFolders();
  const position = folders.indexOf(dirname(path));
  if (position < 0) {
    const [first] = executablesNamed(NAME, folders);
    const place = first === undefined ? '' : ` before ${dirname(first)}`;
    return `${dirname(path)} is not on the PATH: add it${place}, or name another folder with --dir\n`;
  }
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
  return printAndExit(launchers.map(removeLauncher).join(''));
}

/** Returns a report for the user. */
function removeLauncher(path: string): string {
  const kept = keptPath(path);
  const isKept = fileKindAt(kept) !== 'none';
  if (isKept) renameSync(kept, path);
  else rmSync(path);
  return `Removed ${path}\n${isKept ? `Restored the ${NAME} that was there before\n` : ''}`;
}

/**
 * The folder of the running tau if it is on the PATH and can be written, or else the user's own. Without `force` it is also
 * the user's own if the other one holds a foreign file of this name.
 */
function defaultFolder(program: string, { force }: { force: CliArguments['force'] | undefined }): string {
  const beside = executablesNamed('tau', pathFolders()).find((path) => realpathSync(path) === program);
  if (beside === undefined || !canWrite(dirname(beside))) return userFolder();
  const folder = dirname(beside);
  return force || fileKindAt(join(folder, NAME)) !== 'foreign' ? folder : userFolder();
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
