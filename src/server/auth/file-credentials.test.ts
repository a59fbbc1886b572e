import { writeFileSync } from 'node:fs';
import { makeServerFolder } from '../../store/agent-dir.ts';
import { tempFolder } from '../../store/testing/temp-folder.ts';
import { loginStorePath } from '../../store/tokens/login-store.ts';
import { createToken, revokeToken, tokenStorePath } from '../../store/tokens/token-store.ts';
import { FileCredentials } from './file-credentials.ts';
import { credentialsContract } from './testing/credentials-contract.ts';

credentialsContract('credentials in files', async () => {
  const agentDir = tempFolder();
  makeServerFolder(agentDir);
  const entries: Record<'token' | 'login', Record<string, object>> = { token: {}, login: {} };
  return {
    open: () => new FileCredentials(agentDir, undefined),
    create: (request) => createToken(agentDir, request),
    revoke: (idOrName) => revokeToken(agentDir, idOrName),
    write: async (kind, key, entry) => {
      entries[kind][key] = entry;
      const path = kind === 'token' ? tokenStorePath(agentDir) : loginStorePath(agentDir);
      writeFileSync(path, JSON.stringify({ [`${kind}s`]: entries[kind] }));
    },
  };
});
