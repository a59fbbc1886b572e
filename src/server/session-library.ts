import type { SessionTarget } from './sessions.ts';

/** Moves sessions into the trash and back, for a server whose agents cannot do that in a file alone. */
export interface SessionLibrary {
  /** Moves a session that is not open here into the trash; returns the path that restores it. */
  trash(target: SessionTarget): Promise<string>;
  /** The session that a path in the trash names, if there is one. */
  inTrash(path: string): SessionTarget | undefined;
  /** Moves a session out of the trash; returns its path. */
  restore(target: SessionTarget): Promise<string>;
}
