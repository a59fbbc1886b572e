import type { SandboxLaunch } from '../system/sandbox/sandbox.ts';
import type { MadeCall } from './nested-calls.ts';
import type { Tool } from './tool.ts';

/** A tool call whose arguments are final: hooks have run and the schema fits. */
export interface FinalCall {
  readonly call: MadeCall;
  readonly tool: Tool;
  readonly args: Readonly<Record<string, unknown>>;
}

/** Decides whether a call may run. A rejection blocks the call. */
export type Permit = (call: FinalCall, signal: AbortSignal) => Promise<Permission>;

/** The reach of a permitted call. */
export interface Permission {
  /** The paths that file tools may use; absent: all. */
  readonly files?: FileAccess;
  /** Where a command runs; absent: outside of any sandbox. */
  readonly sandbox?: CommandSandbox;
}

/** Decides about files by the real path, after all symlinks. */
export interface FileAccess {
  /** The path that stands for an absolute path of the model: the session has a `/tmp` of its own while a sandbox is on. */
  readonly translate: (path: string) => string;
  readonly mayRead: (realPath: string) => boolean;
  /** Real paths for which `mayRead` is false, with all below: a search does not descend into them. */
  readonly hidden?: readonly string[];
  /** Includes paths that were approved for this call. */
  readonly mayWrite: (realPath: string) => boolean;
}

/** Confines commands of the model. */
export interface CommandSandbox {
  /** Returns the launch that runs the command inside the sandbox. Rejects if there is no sandbox any more. */
  readonly confine: (launch: SandboxLaunch) => Promise<SandboxLaunch>;
  /** The reach of commands inside, as the end of "The command ran in a sandbox: ". */
  readonly reach: string;
}
