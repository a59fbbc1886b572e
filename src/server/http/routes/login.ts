import { tooManyAttempts } from '../admission/request-guard.ts';
import { readJsonBody } from '../read-json.ts';
import { HttpRefusal, sendJson, sendRefusal } from '../responses.ts';
import type { HttpExchange, Route } from '../route.ts';
import { describeGrant } from './read-only.ts';

/** `POST /api/login`: exchanges a one-time code or a token for a cookie. */
export const login: Route = { methods: ['POST'], handle: logIn };

async function logIn({ request, response, admission, services }: HttpExchange): Promise<void> {
  const { address, isSecure } = admission;
  const { throttle, logins, authority, log, audit } = services;
  const { code, token } = await readJsonBody(request);
  if ((typeof code === 'string') === (typeof token === 'string')) {
    throw new HttpRefusal(400, 'bad_request', 'The body must have a code or a token');
  }
  const grant = typeof code === 'string' ? await logins.redeem(code) : authority.grantOf(String(token));
  if (!grant) {
    const waitMs = throttle.waitMs(address);
    if (waitMs > 0) return sendRefusal(response, tooManyAttempts(waitMs));
    throttle.failed(address);
    log.event('warn', 'refused login', { address });
    audit.record({ action: 'login', address, outcome: 'permission_denied' });
    throw new HttpRefusal(401, 'unauthorized', 'This code or token is not valid, or no longer');
  }
  const { setCookie } = await logins.login(grant, { isSecure });
  log.event('info', 'logged in', { address, grant: grant.id });
  audit.record({ action: 'login', grant, address, outcome: 'ok' });
  response.setHeader('Set-Cookie', setCookie);
  sendJson(response, describeGrant(grant));
}

/** `POST /api/logout`: ends the login of the cookie, also an expired one. */
export const logout: Route = {
  methods: ['POST'],
  handle: async ({ request, response, admission, services }) => {
    const { grant, address, isSecure } = admission;
    const { setCookie } = await services.logins.logout(request.headers.cookie ?? '', { isSecure });
    if (grant) services.audit.record({ action: 'logout', grant, address, outcome: 'ok' });
    response.setHeader('Set-Cookie', setCookie);
    sendJson(response, {});
  },
};
