import { mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { serverFolder } from '../store/agent-dir.ts';
import { newUuid } from '../store/sessions/random-id.ts';
import type { Grant } from './auth/grant.ts';
import { ExportOffers } from './http/export-offers.ts';

interface ExportFolderOptions {
  readonly agentDir: string;
  readonly basePath: string;
  readonly isGrantValid: (grant: Grant) => boolean;
}

/** The folder for exported pages that remote clients download. It is emptied at start and close. */
export class ExportFolder {
  readonly offers: ExportOffers;
  readonly #path: string;
  readonly #basePath: string;

  constructor({ agentDir, basePath, isGrantValid }: ExportFolderOptions) {
    this.offers = new ExportOffers(isGrantValid);
    this.#path = join(serverFolder(agentDir), 'exports');
    this.#basePath = basePath;
    rmSync(this.#path, { recursive: true, force: true });
  }

  newPath(): string {
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
  }
}
