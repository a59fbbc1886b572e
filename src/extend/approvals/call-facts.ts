/** Everything about a tool call that decides whether it may run. */
export interface CallFacts {
  readonly toolName: string;
  readonly source: CallSource;
  readonly subject: CallSubject;
}

/** Where a tool comes from: an extension's `bash` is a tool of that extension. */
export type CallSource = 'builtin' | 'extension' | 'host' | 'mcp';

/** Commands and files of tau's own tools, hosts that commands connect to, and calls of all other tools. */
export type CallSubject =
  | { readonly type: 'command'; readonly command: string; readonly outside: boolean }
  | ReadSubject
  | WriteSubject
  | { readonly type: 'host'; readonly host: string; readonly port: number }
  | { readonly type: 'other' };

/** A file or folder to read, by its real path. */
export interface ReadSubject {
  readonly type: 'read';
  readonly path: string;
  /** The absolute path before symlinks were followed. */
  readonly requestedPath?: string;
}

/** A file to change, by its real path. */
export interface WriteSubject extends Omit<ReadSubject, 'type'> {
  readonly type: 'write';
  readonly isInWritableRoot: boolean;
  /** In `.git` or `.pi`. */
  readonly isProtected: boolean;
  /** The file has hard links: a change of it changes files with other names. */
  readonly hasOtherNames: boolean;
}

/** Whether a file is an ordinary file of the workspace, which has no power outside of it. */
export const isOrdinary = ({ isInWritableRoot, isProtected, hasOtherNames }: WriteSubject): boolean =>
  isInWritableRoot && !isProtected && !hasOtherNames;
