import { authorizeInBrowser, newProofKey, randomToken } from './authorization-code.ts';
import type { SignInFlow } from './flow.ts';
import { requestFromIssuer, textField } from './issuer-request.ts';
import { addressOf, issuers } from './issuers.ts';

const { openrouter } = issuers;

/** OpenRouter creates a key that does not expire. It returns no state: the path of the callback cannot be guessed. */
export const openrouterFlow: SignInFlow = {
  login: async (interaction, context) => {
    const { verifier, challenge } = newProofKey();
    const path = `/callback/${randomToken()}`;
    const host = context.env['PI_OAUTH_CALLBACK_HOST'] || '127.0.0.1';
    const authorize = (redirect: string) => {
      const url = new URL(addressOf(openrouter.authorize, context));
      url.search = new URLSearchParams({
        callback_url: redirect,
        code_challenge: challenge,
        code_challenge_method: 'S256',
      }).toString();
      return url.href;
    };
    const { parameters } = await authorizeInBrowser(
      interaction,
      { port: 0, path, redirect: (port) => `http://${host}:${port}${path}`, authorize },
      context,
    );
    const url = addressOf(openrouter.token, context);
    const body = await requestFromIssuer({
      url,
      json: { code: parameters.get('code'), code_verifier: verifier, code_challenge_method: 'S256' },
      signal: interaction.signal,
    });
    return { access: textField(body, 'key', new URL(url).host), refresh: '', expires: Number.MAX_SAFE_INTEGER };
  },
};
