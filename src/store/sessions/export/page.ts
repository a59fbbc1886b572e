import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The page around a session. */
interface Page {
  readonly before: string;
  readonly after: string;
}

/** Beside the program, and for what runs from its sources where the build puts it. */
const places = ['../session-page.html', '../../../../dist/session-page.html'];

const SESSION = '%SESSION%';

/** Reads the page that the build made of `src/web/export`, and cuts it where the session belongs. */
export function readPage(): Page {
  const text = places.map(read).find((found) => found !== undefined);
  const [before, after] = text?.split(SESSION) ?? [];
  if (before === undefined || after === undefined) throw new Error('The page for exports was not built');
  return { before, after };
}

function read(place: string): string | undefined {
  try {
    return readFileSync(join(import.meta.dirname, place), 'utf8');
  } catch {
    return undefined;
  }
}
