import type { ProcessCell } from '../processes/cell-processes.ts';

/** The reach of the commands of one session. All paths are absolute. */
export interface SandboxOptions {
  /** The folder of the session. */
  readonly cwd: string;
  readonly home: string;
  /** Folders that commands may change; the folder of the session only if it is listed. */
  readonly writable: readonly string[];
  /** Files and folders that commands cannot read, beside those that are hidden always. */
  readonly hidden: readonly string[];
  /** Files and folders inside hidden ones that commands can read all the same. */
  readonly readable?: readonly string[];
  /** Returns folders whose `.git` and `.pi` stay read-only if they lie in a writable one. */
  readonly trusted?: () => readonly string[];
  /** Returns a test whether commands of any sandbox can change a folder, by real path. */
  readonly changeable?: () => (folder: string) => boolean;
  /** True: commands change nothing but their `/tmp`. */
  readonly readOnly: boolean;
  /** `ask`: `mayConnect` decides for each host; `none`: no network at all; `open`: as without a sandbox. */
  readonly network: 'ask' | 'none' | 'open';
  readonly mayConnect: (host: string, port: number) => Promise<boolean>;
  /** Variables of `env` that pass although they look like secrets. */
  readonly env: readonly string[];
  /** True: commands may connect to Unix sockets. */
  readonly unixSockets: boolean;
  /** True: `git commit` works inside; hooks and configuration stay read-only. */
  readonly gitWrite: boolean;
}

/** A program to start: `fds` are inherited as 3, 4 and so on. */
export interface SandboxLaunch {
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly fds?: readonly number[];
  /** Where the program will run: `spawnGroup` needs it to find escapees. */
  readonly cell?: ProcessCell;
}

export type SandboxEngine = 'bubblewrap' | 'seatbelt';

/** Whether this machine can confine commands, and what is missing if not. */
export type SandboxProbe =
  | { readonly engine: SandboxEngine }
  | { readonly engine?: undefined; readonly reason: string; readonly remedy: string };

/** The sandbox of one session: created with the first command, closed with the session. */
export interface Sandbox {
  readonly engine: SandboxEngine;
  /** The folder that is `/tmp` inside. */
  readonly tmp: string;
  readonly confine: (launch: SandboxLaunch) => Promise<SandboxLaunch>;
  /** Ends every process inside and removes what the sandbox made. */
  readonly close: () => Promise<void>;
}
