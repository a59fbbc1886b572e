import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fine, warning } from './finding.ts';

/** Checks ripgrep: the search tools run it from a package per platform. */
export const ripgrepFinding = (): Finding =>
  packageFinding('ripgrep', {
    packages: ['@vscode/ripgrep', `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`],
    loss: 'search is slower or not there',
  });

/** Checks sharp: it shrinks large images. */
export const sharpFinding = (): Finding =>
  packageFinding('sharp', { packages: ['sharp'], loss: 'images are sent as large as they are' });

function packageFinding(name: string, { packages, loss }: { packages: readonly string[]; loss: string }): Finding {
  const missing = packages.find((packageName) => !isInstalled(packageName));
  if (missing === undefined) return fine(name, 'Installed');
  return warning(name, `${missing} is not installed: ${loss}. Install tau again, with optional dependencies`);
}

/** Resolves a package like an import, without loading it. */
function isInstalled(name: string): boolean {
  try {
    createRequire(importBase()).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Base of import resolution. The program is built as CommonJS, where `import.meta` is empty. */
const importBase = () => (import.meta.url as string | undefined) ?? realpathSync(process.argv[1] ?? process.execPath);
