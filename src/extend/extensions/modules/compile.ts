import { createRequire } from 'node:module';
import { join } from 'node:path';
import type * as Jiti from 'jiti';

/** How a module runs: asynchronously, or synchronously for `require`. */
export type ModuleMode = 'import' | 'require';

export interface SourceFile {
  readonly path: string;
  readonly text: string;
}

/** The parameters of compiled code: the CommonJS variables, and stand-ins for `import` and `import.meta`. */
export const PARAMETERS = 'exports, require, module, __filename, __dirname, jitiImport, jitiESMResolve, importMeta';

// `require`, because synchronous code cannot await an import.
const requireNow = createRequire(join(import.meta.dirname, 'compile.ts'));

/** Compiles a TypeScript or JavaScript module to a function body. The first call loads the compiler, which is slow. */
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

// jiti replaces members of `import.meta`, but not `import.meta` itself.
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
