import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Jiti from 'jiti';

/** How a module is run: awaited by whoever imports it, or at once, as `require` demands. */
export type ModuleMode = 'import' | 'require';

/** A file of source code. */
export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** What compiled code takes: the names that CommonJS knows, and those that stand for `import` and `import.meta`. */
export const PARAMETERS = 'exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve, importMeta';

// An import would have to be awaited, which code that runs at once cannot do.
const requireNow = createRequire(join(import.meta.dirname, 'compile.ts'));

/**
 * Turns TypeScript and modules of any kind into the body of a function with these parameters. Types are not checked.
 *
 * The first call loads a compiler, which takes longer than tau to start.
 */
export function compile({ path, text }: SourceFile, mode: ModuleMode): string {
  const { createJiti } = requireNow('jiti') as typeof Jiti;
  const { transform } = createJiti(path, { fsCache: false, moduleCache: false, debug: false, sourceMaps: false });
  const code = transform({
    source: text,
    filename: path,
    ts: /\.[cm]?tsx?$/.test(path),
    jsx: path.endsWith('x'),
    async: mode === 'import',
    babel: { plugins: [importMetaPlugin] },
  });
  const failure = /^exports\.__JITI_ERROR__ = (.*)/.exec(code)?.[1];
  if (failure !== undefined) throw syntaxError(failure);
  return code;
}

interface MetaProperty {
  readonly parent: { readonly type: string };
  readonly node: { readonly meta: { readonly name: string } };
  replaceWith(node: object): void;
}

/** jiti replaces what is taken from `import.meta`, but not `import.meta` itself. */
const importMetaPlugin = () => ({
  visitor: {
    MetaProperty(path: MetaProperty) {
      if (path.node.meta.name !== 'import' || path.parent.type === 'MemberExpression') return;
      path.replaceWith({ type: 'Identifier', name: 'importMeta' });
    },
  },
});

function syntaxError(failure: string): SyntaxError {
  const { filename, line, column, message } = JSON.parse(failure) as Record<string, unknown>;
  return new SyntaxError(`${String(message).trim()} (${filename}:${line}:${column})`);
}
