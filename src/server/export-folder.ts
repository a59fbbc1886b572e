import { mkdirSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serverFolder } from '../store/agent-dir.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import { reachableStats } from '../system/files/reachable-stats.ts';
import type { Grant } from './auth/grant.ts';
import { ExportOffers, OFFER_MS } from './http/export-offers.ts';

interface ExportFolderOptions {
  readonly agentDir: string;
  readonly basePath: string;
  readonly isGrantValid: (grant: Grant) => boolean;
}

/**
 * The folder for exported pages that remote clients download. It is removed at close. Those of other servers are kept
 * until their pages can no longer be fetched.
 */
export class ExportFolder {
  readonly offers: ExportOffers;
  readonly #parent: string;
  readonly #path: string;
  readonly #basePath: string;

  constructor({ agentDir, basePath, isGrantValid }: ExportFolderOptions) {
    this.offers = new ExportOffers(isGrantValid);
    this.#parent = join(serverFolder(agentDir), 'exports');
    this.#path = join(this.#parent, newUuid());
    this.#basePath = basePath;
    this.#removeAbandoned();
  }

  newPath(): string {
    this.#removeAbandoned();
    mkdirSync(this.#path, { recursive: true, mode: 0o700 });
    return join(this.#path, `${newUuid()}.html`);
  }

  /** Returns the URL path at which the page can be fetched once. */
  offer(path: string, grant: Grant): string {
    const code = this.offers.offer(path, grant, { isOwn: dirname(path) === this.#path });
    return `${this.#basePath}/api/exports/${code}`;
  }

  close(): void {
    rmSync(this.#path, { recursive: true, force: true });
    this.#removeIfEmpty();
  }

  /** Removes what servers that were killed left here. */
  #removeAbandoned(): void {
    for (const name of namesIn(this.#parent)) {
      const path = join(this.#parent, name);
      const modifiedAt = reachableStats(path)?.mtimeMs ?? 0;
      if (path !== this.#path && Date.now() - modifiedAt > OFFER_MS) rmSync(path, { recursive: true, force: true });
    }
    this.#removeIfEmpty();
  }

  #removeIfEmpty(): void {
    try {
      rmdirSync(this.#parent);
    } catch {
      // Missing, or in use by another server.
    }
  }
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}
