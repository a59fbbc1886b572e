import { readVariable } from '../../store/config-value.ts';
import { readCredentialCommand } from '../../store/credential-command.ts';
import type { TokenSource } from './bearer-signer.ts';
import type { Environment, ExpiringValue } from './credential-cache.ts';
import { requestTokenFields } from './request-token.ts';

const RESOURCE = 'https://cognitiveservices.azure.com';
const AZ_COMMAND = `az account get-access-token --resource ${RESOURCE} --output json`;
// For a server that does not report it.
const DEFAULT_TOKEN_SECONDS = 3600;
const AUTHORITY = 'https://login.microsoftonline.com';

/**
 * Tokens of Entra ID for Azure's models: by client credentials if `AZURE_TENANT_ID`, `AZURE_CLIENT_ID` and
 * `AZURE_CLIENT_SECRET` are set, else by the command `az`.
 */
export function entraTokens(env: Environment): TokenSource {
  const [tenant, client, secret] = ['AZURE_TENANT_ID', 'AZURE_CLIENT_ID', 'AZURE_CLIENT_SECRET'].map((name) =>
    readVariable(env, name),
  );
  if (!tenant || !client || !secret)
    return { key: JSON.stringify(['az', env['AZURE_CONFIG_DIR']]), obtain: () => tokenOfAz(env) };
  const authority = (readVariable(env, 'AZURE_AUTHORITY_HOST') ?? AUTHORITY).replace(/\/+$/, '');
  const form = {
    grant_type: 'client_credentials',
    client_id: client,
    client_secret: secret,
    scope: `${RESOURCE}/.default`,
  };
  const url = `${authority}/${encodeURIComponent(tenant)}/oauth2/v2.0/token`;
  return { key: JSON.stringify(['entra', url, client, secret]), obtain: () => tokenOfClient(url, form) };
}

async function tokenOfClient(url: string, form: Record<string, string>): Promise<ExpiringValue<string>> {
  const { access_token: value, expires_in: seconds } = await requestTokenFields({ url, form });
  if (typeof value !== 'string' || value === '') throw new Error(`${new URL(url).host} sent no access token`);
  return { value, expiresAt: Date.now() + (Number(seconds) || DEFAULT_TOKEN_SECONDS) * 1000 };
}

const tokenOfAz = (env: Environment): Promise<ExpiringValue<string>> =>
  readCredentialCommand(AZ_COMMAND, env, (output) => {
    const { accessToken, expires_on: seconds, expiresOn } = JSON.parse(output);
    if (typeof accessToken !== 'string' || accessToken === '') throw new Error('No token');
    // Older versions print only a local time.
    const expiresAt = Number(seconds) > 0 ? Number(seconds) * 1000 : Date.parse(expiresOn);
    return { value: accessToken, expiresAt: Number.isNaN(expiresAt) ? undefined : expiresAt };
  });
