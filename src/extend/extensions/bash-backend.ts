/** Replaces the shell of the bash tool, for example with a remote one. */
export interface BashOperations {
  readonly exec: (command: string, cwd: string, options: BashExecOptions) => Promise<{ exitCode: number | null }>;
}

export interface BashExecOptions {
  readonly onData: (data: Buffer) => void;
  readonly signal?: AbortSignal | undefined;
  /** In seconds. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** Replaces the file access of the file tools. */
export interface FileToolOperations {
  readonly readFile: (path: string) => Promise<Buffer>;
  readonly writeFile: (path: string, content: string) => Promise<void>;
  /** Rejects if the file cannot be used. */
  readonly access: (path: string) => Promise<void>;
  readonly mkdir: (folder: string) => Promise<void>;
  readonly detectImageMimeType?: (path: string) => Promise<string | null | undefined>;
}
