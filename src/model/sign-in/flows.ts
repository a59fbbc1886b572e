import { isIssuerUrl } from '../../store/http-syntax.ts';
import { deviceGrant, pollDevice, pollTokenAddress, startDeviceLogin } from './device-code.ts';
import type { FlowContext, SignInFlow } from './flow.ts';
import { githubCopilotFlow } from './github-copilot.ts';
import { IssuerError } from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';
import { metaFlow } from './meta.ts';
import { openaiFlow } from './openai.ts';
import { openaiCodexFlow } from './openai-codex.ts';
import { openrouterFlow } from './openrouter.ts';
import type { SignInProviderId } from './sign-in-providers.ts';
import { requestTokens, tokensIn } from './tokens.ts';

/** The flow of every provider that tau can sign in to. Is imported on first use. */
export const flows: Readonly<Record<SignInProviderId, SignInFlow>> = {
  openai: openaiFlow,
  openrouter: openrouterFlow,
  xai: deviceFlow(issuers.xai),
  'kimi-coding': deviceFlow(issuers['kimi-coding'], ({ issuer, env }) => issuer ?? kimiIssuer(env)),
  'github-copilot': githubCopilotFlow,
  meta: metaFlow,
  'openai-codex': openaiCodexFlow,
};

/** The issuer that `KIMI_CODE_OAUTH_HOST` names. A host without a scheme is reached by https. */
function kimiIssuer(env: FlowContext['env']): string | undefined {
  const host = env['KIMI_CODE_OAUTH_HOST']?.trim();
  if (!host) return undefined;
  const issuer = /^[a-z][a-z\d+.-]*:\/\//i.test(host) ? host : `https://${host}`;
  if (isIssuerUrl(issuer)) return issuer;
  throw new IssuerError(
    'KIMI_CODE_OAUTH_HOST must be a host, an https URL, or an http URL of this machine, without a password',
  );
}

// An issuer that follows RFC 8628.
interface DeviceIssuer {
  readonly clientId: string;
  readonly device: string;
  readonly token: string;
  readonly scope?: string;
}

/** Makes the flow of an issuer that follows RFC 8628. `hostOf`: another host of the issuer that the user has set. */
function deviceFlow(
  { clientId, device, token, scope }: DeviceIssuer,
  hostOf: (context: FlowContext) => string | undefined = ({ issuer }) => issuer,
): SignInFlow {
  const address = (url: string, context: FlowContext) => addressOf(url, { issuer: hostOf(context) });
  return {
    login: async (interaction, context) => {
      const { signal } = interaction;
      const code = await startDeviceLogin(interaction, {
        url: address(device, context),
        fields: { client_id: clientId, ...(scope === undefined ? {} : { scope }) },
      });
      const url = address(token, context);
      const poll = pollTokenAddress({ url, fields: deviceGrant(clientId, code.deviceCode), signal });
      return tokensIn(await pollDevice({ ...code, poll, signal }), { host: new URL(url).host });
    },

    refresh: async ({ refresh = '' }, context) => {
      const fields = { grant_type: 'refresh_token', client_id: clientId, refresh_token: refresh };
      const { signal } = context;
      return (await requestTokens({ url: address(token, context), fields, signal }, refresh)).signIn;
    },
  };
}
