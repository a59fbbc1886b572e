import { sendJson } from '../responses.ts';
import type { Route } from '../route.ts';

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
