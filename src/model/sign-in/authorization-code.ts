import { createHash, randomBytes } from 'node:crypto';
import { messageOf } from '../../protocol/errors.ts';
import { type CallbackServer, listenForCallback } from './callback-server.ts';
import { type FlowContext, LoginCancelled, type LoginInteraction } from './flow.ts';
import { IssuerError } from './issuer-request.ts';

// A user who pastes the wrong text this often gets an error.
export const MAX_PASTES = 5;

/** A secret and what is sent of it first, as PKCE requires. */
export interface ProofKey {
  readonly verifier: string;
  readonly challenge: string;
}

export function newProofKey(): ProofKey {
  const verifier = randomToken();
  return { verifier, challenge: createHash('sha256').update(verifier).digest('base64url') };
}

/** A text that cannot be guessed. */
export const randomToken = (): string => randomBytes(32).toString('base64url');

/** A login in a browser, on this machine or another one. */
export interface BrowserLogin {
  readonly port: number;
  readonly path: string;
  /** The address that the issuer redirects to, for this port. */
  readonly redirect: (port: number) => string;
  readonly authorize: (redirect: string) => string;
  /** The callback must contain it; undefined if the issuer has none. */
  readonly state?: string;
  /** Parameters that the callback must hold besides the code. */
  readonly required?: readonly string[];
}

/** The parameters of the callback, and the redirect address that was used. */
export interface Authorization {
  readonly parameters: URLSearchParams;
  readonly redirect: string;
}

/**
 * Shows the address to open, then waits for the browser's return and for a pasted code or address at the same time: the
 * first one counts.
 */
export async function authorizeInBrowser(
  interaction: LoginInteraction,
  login: BrowserLogin,
  { env }: FlowContext,
): Promise<Authorization> {
  const server = await listen(login, env['PI_OAUTH_CALLBACK_HOST'] || '127.0.0.1');
  const isListening = !('problem' in server);
  if (!isListening) interaction.notify({ type: 'info', message: server.problem });
  const redirect = login.redirect(isListening ? server.port : login.port);
  const withdrawn = new AbortController();
  try {
    interaction.notify({
      type: 'auth_url',
      url: login.authorize(redirect),
      instructions: 'Sign in with a browser. If its last page does not load, paste the address of that page here.',
    });
    const pasted = pastedParameters(interaction, login, withdrawn.signal);
    const parameters = await Promise.race([pasted, ...(isListening ? [server.parameters] : [])]);
    const error = parameters.get('error');
    if (error) throw new IssuerError(`The login failed: ${parameters.get('error_description') ?? error}`);
    return { parameters, redirect };
  } finally {
    withdrawn.abort();
    if (isListening) server.close();
  }
}

async function listen(login: BrowserLogin, host: string): Promise<CallbackServer | { readonly problem: string }> {
  const { port, path } = login;
  try {
    return await listenForCallback({ host, port, path, accept: (parameters) => checkParameters(parameters, login) });
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    const reason = code === 'EADDRINUSE' ? 'is in use, perhaps by another login' : `cannot be used (${code})`;
    return { problem: `Port ${port} ${reason}: paste the address of the browser's last page.` };
  }
}

async function pastedParameters(
  interaction: LoginInteraction,
  login: BrowserLogin,
  withdrawn: AbortSignal,
): Promise<URLSearchParams> {
  const signal = AbortSignal.any([interaction.signal, withdrawn]);
  for (let pastes = 1; ; pastes++) {
    const text = await interaction.prompt({
      type: 'manual_code',
      message: 'Paste the address of the last page, or the code that it shows',
      signal,
    });
    if (text === undefined) throw new LoginCancelled();
    try {
      const parameters = parsePaste(text);
      checkParameters(parameters, login);
      return parameters;
    } catch (error) {
      if (pastes >= MAX_PASTES) throw error;
      interaction.notify({ type: 'info', message: messageOf(error) });
    }
  }
}

/** The parameters in a pasted address, `code#state`, query or code. Terminals may break a long text into lines. */
export function parsePaste(text: string): URLSearchParams {
  const compact = text.replaceAll(/\s+/g, '');
  if (compact === '') throw new Error('Nothing was pasted.');
  if (/^https?:/.test(compact)) return new URLSearchParams(compact.split('#', 1)[0]?.split('?', 2)[1]);
  if (/(?:^|[?&])(?:code|error)=/.test(compact)) return new URLSearchParams(compact.replace(/^.*\?/, ''));
  const [code = '', state] = compact.split('#');
  return new URLSearchParams(state === undefined ? { code } : { code, state });
}

/** Throws if the parameters are incomplete, or those of another login. */
export function checkParameters(
  parameters: URLSearchParams,
  { state, required = [] }: Pick<BrowserLogin, 'state' | 'required'>,
): void {
  const isError = parameters.has('error');
  if (!isError && !parameters.get('code')) throw new Error('This holds no code.');
  const missing = isError ? undefined : required.find((name) => !parameters.get(name)?.trim());
  if (missing !== undefined) throw new Error(`This holds no ${missing}: paste the whole address.`);
  if (state !== undefined && parameters.get('state') !== state) throw new Error('This belongs to another sign-in.');
}
