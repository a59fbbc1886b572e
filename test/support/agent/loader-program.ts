import type { ExtensionAPI } from '../../../src/extend/extensions/extension-api.ts';
import { loadExtension } from '../../../src/extend/extensions/load/load-extension.ts';
import { takeStdout } from '../../../src/system/stdout/private-stdout.ts';

// Loads extensions one after another, as an agent does, and prints a JSON line about each.
const [cacheDir = '', ...paths] = process.argv.slice(2);
const stdout = takeStdout();
for (const path of paths) {
  const source = { path, scope: 'user', origin: 'top-level', baseDir: path } as const;
  const outcome = await loadExtension(source, {
    cacheDir,
    agentDir: cacheDir,
    shell: () => ({ cwd: cacheDir, env: process.env, family: 'test' }),
  })
    .then((factory) => ({ result: factory({} as ExtensionAPI) }))
    .catch((error: Error) => ({ error: error.message }));
  stdout.write(`${JSON.stringify(outcome)}\n`);
}
await stdout.flush();
