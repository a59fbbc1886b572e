import { makeServerFolder } from '../../store/agent-dir.ts';
import {
  addLogin,
  type LoginRecord,
  loginStorePath,
  readLogins,
  removeLogins,
} from '../../store/tokens/login-store.ts';
import type { TokenRecord } from '../../store/tokens/token-record.ts';
import { readTokens, recordTokenUse, tokenStorePath } from '../../store/tokens/token-store.ts';
import { watchFiles } from '../../store/watch-files.ts';
import type { Log } from '../../system/log.ts';
import { LastValid } from './last-valid.ts';
import { LoginCodes } from './login-codes.ts';
import type { NewLogin, ServerCredentials, TokenUse } from './server-credentials.ts';

/** The tokens and logins in files of the user. Changes of other processes take effect at once. */
export class FileCredentials implements ServerCredentials {
  readonly codes = new LoginCodes();
  readonly cookieName = undefined;
  readonly #agentDir: string;
  readonly #log: Log | undefined;
  readonly #storedTokens: LastValid<TokenRecord>;
  readonly #storedLogins: LastValid<LoginRecord>;
  readonly #unwatch: () => void;
  #onChange: () => void = () => {};

  constructor(agentDir: string, log: Log | undefined) {
    makeServerFolder(agentDir);
    this.#agentDir = agentDir;
    this.#log = log;
    const [tokenPath, loginPath] = [tokenStorePath(agentDir), loginStorePath(agentDir)];
    this.#storedTokens = new LastValid({ path: tokenPath, read: () => this.#readTokens(), log });
    this.#storedLogins = new LastValid({ path: loginPath, read: () => readLogins(agentDir), log });
    // Watches before reading, so that no change in between is missed.
    this.#unwatch = watchFiles([tokenPath, loginPath], (path) => {
      (path === tokenPath ? this.#storedTokens : this.#storedLogins).refresh();
      this.#onChange();
    });
    this.#storedTokens.refresh();
    this.#storedLogins.refresh();
  }

  get tokens(): readonly TokenRecord[] {
    return this.#storedTokens.value;
  }

  get logins(): readonly LoginRecord[] {
    return this.#storedLogins.value;
  }

  onChange(listener: () => void): void {
    this.#onChange = listener;
  }

  refreshTokens(): boolean {
    return this.#storedTokens.refreshIfChanged();
  }

  async addLogin(login: NewLogin): Promise<string> {
    const secret = await addLogin(this.#agentDir, login);
    this.#reloadLogins();
    return secret;
  }

  async removeLogins(digests: ReadonlySet<string>): Promise<void> {
    await removeLogins(this.#agentDir, digests);
    this.#reloadLogins();
  }

  recordTokenUse(use: TokenUse): Promise<void> {
    return recordTokenUse(this.#agentDir, use);
  }

  close(): void {
    this.#unwatch();
  }

  #readTokens(): readonly TokenRecord[] {
    const { tokens, problems } = readTokens(this.#agentDir);
    for (const problem of problems) this.#log?.write('warn', 'auth', problem);
    return tokens;
  }

  #reloadLogins(): void {
    this.#storedLogins.refresh();
    this.#onChange();
  }
}
