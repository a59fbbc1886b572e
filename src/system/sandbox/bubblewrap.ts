import { dirname, join } from 'node:path';
import { type Cell, startCell, unshareArguments } from './cell.ts';
import { Entry, mountSources } from './entry.ts';
import { confinedEnvironment } from './environment.ts';
import { type Launcher, makeLauncher } from './launcher.ts';
import { networkEnvironment, startProxy } from './network/cell-network.ts';
import type { CellProxy } from './network/proxy.ts';
import type { SandboxPrograms } from './programs.ts';
import {
  existingPath,
  folderIdentity,
  isLedByCommand,
  type WritableRoots,
  withTrusted,
  writableRoots,
} from './roots.ts';
import type { Sandbox, SandboxLaunch, SandboxOptions } from './sandbox.ts';
import { seccompFilter } from './seccomp.ts';
import { makeSessionFiles, type SessionFiles } from './session-files.ts';
import { Stubs } from './stubs.ts';
import { viewArguments } from './view.ts';

interface Room {
  /** Undefined where no command can enter a cell. */
  readonly cell: Cell | undefined;
  readonly proxy: CellProxy | undefined;
}

/** The sandbox of Linux: one cell for all commands, and a view of the files for each. */
export class BubblewrapSandbox implements Sandbox {
  readonly engine = 'bubblewrap';
  readonly #bwrap: string;
  readonly #nsenter: string | undefined;
  readonly #options: SandboxOptions;
  readonly #files: SessionFiles;
  readonly #launcher: Launcher;
  readonly #writable: WritableRoots;
  readonly #gitFolders: ReadonlyMap<string, string>;
  readonly #stubs = new Stubs();
  readonly #entry = new Entry();
  #room: Promise<Room> | undefined;
  #closing: Promise<void> | undefined;

  /** Rejects where the sandbox does not work. */
  static async create(options: SandboxOptions, { bwrap, nsenter }: SandboxPrograms): Promise<Sandbox> {
    const filter = seccompFilter(options);
    if (!filter) throw new Error(`There is no sandbox for the architecture ${process.arch}`);
    if (bwrap === undefined) throw new Error('bwrap is not installed');
    const sandbox = new BubblewrapSandbox(options, { bwrap, nsenter }, makeSessionFiles(filter));
    try {
      await sandbox.#enterableRoom();
      return sandbox;
    } catch (error) {
      await sandbox.close();
      throw error;
    }
  }

  private constructor(options: SandboxOptions, programs: SandboxPrograms & { bwrap: string }, files: SessionFiles) {
    this.#options = options;
    this.#bwrap = programs.bwrap;
    this.#nsenter = programs.nsenter;
    this.#files = files;
    this.#launcher = makeLauncher(files.filter);
    this.#writable = writableRoots(options);
    this.#gitFolders = options.gitWrite ? gitFoldersOf(this.#writable) : new Map();
  }

  get tmp(): string {
    return this.#files.tmp;
  }

  async confine({ command, args, cwd, env, fds }: SandboxLaunch): Promise<SandboxLaunch> {
    const { cell, proxy } = await this.#enterableRoom();
    if (this.#closing !== undefined) throw new Error('The sandbox is closed');
    const isChangeable = this.#options.changeable?.() ?? (() => false);
    const writable = withTrusted(this.#writable, this.#options.trusted?.() ?? []);
    this.#addStubs(writable);
    const { network } = this.#options;
    const kept = networkEnvironment(confinedEnvironment(env, this.#options.env), network, proxy);
    const namespaces = cell ? ['--unshare-user'] : unshareArguments(network === 'open');
    const view = viewArguments({
      sandbox: this.#options,
      writable,
      files: this.#files,
      gitFolders: this.#gitFolders,
      isLed: (path) => isLedByCommand(path, isChangeable),
      cwd,
      path: kept['PATH'],
    });
    const bwrap = [this.#bwrap, ...namespaces, '--cap-drop', 'ALL', '--new-session', '--die-with-parent', ...view];
    const filter = ['--seccomp', String(this.#launcher.filterFd)];
    return {
      command: this.#launcher.command,
      args: [
        ...this.#launcher.args,
        ...(cell?.enter ?? []),
        ...bwrap,
        ...filter,
        '--',
        ...this.#entry.before(view, mountSources(writable.roots.filter((root) => isChangeable(dirname(root))))),
        command,
        ...args,
      ],
      cwd: '/',
      env: kept,
      ...(fds && { fds }),
      ...(cell && { cell: cell.processes }),
    };
  }

  close(): Promise<void> {
    this.#closing ??= this.#close();
    return this.#closing;
  }

  async #close(): Promise<void> {
    const room = await this.#room?.catch(() => undefined);
    try {
      await leave(room);
    } finally {
      this.#stubs.remove();
      await this.#files.remove();
    }
  }

  /** A command can end the cell by killing its processes: the next command gets a new one. */
  async #enterableRoom(): Promise<Room> {
    const known = this.#room;
    const room = await known;
    if (room && (!room.cell || room.cell.isAlive())) return room;
    if (this.#room !== known) return this.#enterableRoom();
    if (this.#closing !== undefined) throw new Error('The sandbox is closed');
    const opening = this.#openRoom(room);
    this.#room = opening;
    // The next command tries again.
    opening.catch(() => {
      if (this.#room === opening) this.#room = undefined;
    });
    return opening;
  }

  async #openRoom(previous: Room | undefined): Promise<Room> {
    await leave(previous);
    const openNetwork = this.#options.network === 'open';
    const cell = await startCell({ bwrap: this.#bwrap, nsenter: this.#nsenter, openNetwork });
    try {
      return { cell, proxy: cell && (await startProxy(cell, this.#options)) };
    } catch (error) {
      await cell?.end();
      throw error;
    }
  }

  #addStubs({ projects }: WritableRoots): void {
    const isInPlace = (path: string) => existingPath(path) === path && folderIdentity(path) !== undefined;
    for (const path of projects.filter(isInPlace)) this.#stubs.addPi(join(path, '.pi'));
    for (const path of [...this.#gitFolders.keys()].filter(isInPlace)) this.#stubs.addToGit(path);
  }
}

async function leave(room: Room | undefined): Promise<void> {
  await room?.proxy?.close();
  await room?.cell?.end();
}

/** Only those that exist before the first command: later a command could have put a link in their place. */
const gitFoldersOf = ({ projects }: WritableRoots): Map<string, string> =>
  new Map(
    projects.flatMap((project): [string, string][] => {
      const path = `${project}/.git`;
      const identity = folderIdentity(path);
      return identity === undefined ? [] : [[path, identity]];
    }),
  );
