/** Finds extensions. */
export function findExtensions(_places: {
  agentDir: string;
  cwd: string;
  trusted: boolean;
  named: readonly string[];
  find: boolean;
}): { found: readonly ExtensionSource[]; warnings: readonly string[] } {
  return { found: [], warnings: [] };
}

/** Where an extension comes from. */
export interface ExtensionSource {
  /** Its entry file. */
  readonly path: string;
  readonly scope: 'project' | 'user' | 'temporary';
  readonly origin: 'top-level' | 'package';
  readonly baseDir: string;
}
