import { isObject } from '../../protocol/json.ts';
import { deviceGrant, pollDevice, pollTokenAddress, startDeviceLogin } from './device-code.ts';
import { type FlowContext, LoginCancelled, type LoginInteraction, type SignInFlow } from './flow.ts';
import { IssuerError, requestFromIssuer, textField } from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';

const github = issuers['github-copilot'];

const NO_CLIENT =
  'tau has no application of its own at GitHub. Register one with device flow, and put its id into models.json: ' +
  '{"providers": {"github-copilot": {"signIn": {"clientId": "…"}}}}; or set COPILOT_GITHUB_TOKEN';

/** GitHub's own token is used at the API of Copilot; it does not expire. */
export const githubCopilotFlow: SignInFlow = {
  login: async (interaction, context) => {
    const { clientId } = context;
    const { signal } = interaction;
    if (clientId === undefined) throw new IssuerError(NO_CLIENT);
    const enterpriseUrl = await enterpriseDomain(interaction);
    const address = (url: string) => addressOf(enterpriseUrl ? atDomain(url, enterpriseUrl) : url, context);
    const code = await startDeviceLogin(interaction, {
      url: address(github.device),
      fields: { client_id: clientId, scope: github.scope },
    });
    const url = address(github.token);
    const poll = pollTokenAddress({ url, fields: deviceGrant(clientId, code.deviceCode), signal });
    const token = textField(await pollDevice({ ...code, poll, signal }), 'access_token', new URL(url).host);
    return {
      access: token,
      refresh: token,
      expires: Number.MAX_SAFE_INTEGER,
      ...(enterpriseUrl ? { enterpriseUrl } : {}),
      availableModelIds: await availableModels(token, address(github.models), { ...context, signal }),
    };
  },
};

/** The domain of GitHub Enterprise; undefined for github.com. */
async function enterpriseDomain({ prompt, signal }: LoginInteraction): Promise<string | undefined> {
  const options = [
    { id: 'github.com', label: 'GitHub.com' },
    { id: 'enterprise', label: 'GitHub Enterprise' },
  ];
  const choice = await prompt({ type: 'select', message: 'Where is your account?', options, signal });
  if (choice === undefined) throw new LoginCancelled();
  if (choice === 'github.com') return undefined;
  const message = 'Domain of GitHub Enterprise';
  const text = await prompt({ type: 'text', message, placeholder: 'company.ghe.com', signal });
  if (text === undefined) throw new LoginCancelled();
  const domain = text
    .trim()
    .replace(/^https?:\/\//, '')
    .replace(/\/.*$/, '');
  if (!/^[\w-]+(?:\.[\w-]+)+$/.test(domain)) throw new IssuerError(`${JSON.stringify(domain)} is no domain`);
  return domain;
}

const atDomain = (url: string, domain: string) =>
  url
    .replace('https://api.githubcopilot.com', `https://copilot-api.${domain}`)
    .replace('https://github.com', `https://${domain}`);

/** The models that the account may use. Empty, which means all, if the list cannot be loaded: the token is valid. */
async function availableModels(
  token: string,
  url: string,
  { signal }: FlowContext & { readonly signal: AbortSignal },
): Promise<string[]> {
  const headers = { authorization: `Bearer ${token}` };
  const { data } = await requestFromIssuer({ url, headers, signal }).catch(() => {
    signal.throwIfAborted();
    return { data: [] };
  });
  return (Array.isArray(data) ? data : []).flatMap((model: unknown) => {
    if (!isObject(model) || typeof model['id'] !== 'string' || model['model_picker_enabled'] === false) return [];
    const { policy } = model;
    return isObject(policy) && policy['state'] !== 'enabled' ? [] : model['id'];
  });
}
