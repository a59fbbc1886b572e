import { realpathSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import { fine, warning } from './finding.ts';

/** The search tools have a program of their own, in a package for each platform. */
export const ripgrepFinding = (): Finding =>
  packageFinding('ripgrep', {
    packages: ['@vscode/ripgrep', `@vscode/ripgrep-${process.platform}-${process.arch}/bin/rg`],
    loss: 'search is slower or not there',
  });

/** Large images are made smaller with it. */
export const sharpFinding = (): Finding =>
  packageFinding('sharp', { packages: ['sharp'], loss: 'images are sent as large as they are' });

function packageFinding(name: string, { packages, loss }: { packages: readonly string[]; loss: string }): Finding {
  const missing = packages.find((packageName) => !isInstalled(packageName));
  if (missing === undefined) return fine(name, 'Installed');
  return warning(name, `${missing} is not installed: ${loss}. Install tau again, with optional dependencies`);
}

/** Looks for a package as an import would, without loading it. */
function isInstalled(name: string): boolean {
  try {
    createRequire(importBase()).resolve(name);
    return true;
  } catch {
    return false;
  }
}

/** Where imports of tau are looked up. The program is built as CommonJS, where `import.meta` is empty. */
const importBase = () => (import.meta.url as string | undefined) ?? realpathSync(process.argv[1] ?? process.execPath);
