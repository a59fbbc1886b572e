import { readFileSync } from 'node:fs';
import { join } from 'node:path';

// The page before and after the session.
interface PageTemplate {
  readonly before: string;
  readonly after: string;
}

// Beside the program, or in dist/ when running from source.
const templatePaths = ['../session-page.html', '../../../../dist/session-page.html'];

const SESSION_MARKER = '%SESSION%';

/** Reads the page that the build made of `src/web/export` and splits it where the session belongs. */
export function readTemplate(): PageTemplate {
  const text = templatePaths.map(readIfExists).find((found) => found !== undefined);
  const [before, after] = text?.split(SESSION_MARKER) ?? [];
  if (before === undefined || after === undefined) throw new Error('The page for exports was not built');
  return { before, after };
}

function readIfExists(path: string): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, path), 'utf8');
  } catch {
    return undefined;
  }
}
