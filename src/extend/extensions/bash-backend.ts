/** What stands in for the shell where an extension runs commands in its own way, on another machine perhaps. */
export interface BashOperations {
  readonly exec: (command: string, cwd: string, options: BashExecOptions) => Promise<{ exitCode: number | null }>;
}

export interface BashExecOptions {
  readonly onData: (data: Buffer) => void;
  readonly signal?: AbortSignal | undefined;
  /** Seconds. */
  readonly timeout?: number | undefined;
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
}

/** The same for files. */
export interface FileToolOperations {
  readonly readFile: (path: string) => Promise<Buffer>;
  readonly writeFile: (path: string, content: string) => Promise<void>;
  /** Rejects where the file cannot be used. */
  readonly access: (path: string) => Promise<void>;
  readonly mkdir: (folder: string) => Promise<void>;
  readonly detectImageMimeType?: (path: string) => Promise<string | null | undefined>;
}
