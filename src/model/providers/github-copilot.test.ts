import { expect, it } from 'vitest';
import { Draft, emptyAssistantMessage } from '../draft.ts';
import type { Endpoint } from '../endpoint.ts';
import { scripted, scriptedRequest } from '../scripted/testing/call.ts';
import { withCopilotHeaders } from './github-copilot.ts';

/** The headers that an adapter gets for this key. */
function headersWith(apiKey: string | undefined): Endpoint['headers'] {
  let found: Endpoint['headers'] = {};
  const adapter = withCopilotHeaders(({ headers }) => {
    found = headers;
    return scripted();
  });
  const timeouts = { connectMs: 1, firstByteMs: 1, betweenMs: 1 };
  const draft = new Draft(emptyAssistantMessage(scriptedRequest().model));
  adapter({ baseUrl: '', apiKey, headers: { 'x-own': 'yes' }, timeouts })(scriptedRequest(), draft);
  return found;
}

it('requests to Copilot have a bearer token only if there is a key', () => {
  expect(headersWith('k')).toMatchObject({ authorization: 'Bearer k', 'x-own': 'yes', 'x-initiator': 'agent' });
  expect(headersWith(undefined)).not.toHaveProperty('authorization');
});
