import type { Dialogs } from '../../extend/dialogs.ts';
import { receivesUiRequest } from '../../fanout/ui-routing.ts';
import { LoginCancelled, type LoginEvent, type LoginInteraction, type LoginPrompt } from '../../model/sign-in/flow.ts';
import { messageOf, Refusal } from '../../protocol/errors.ts';
import type { Agent } from '../agent.ts';
import type { ClientConnection } from '../client-connection.ts';

// The longest login.
const LOGIN_TIMEOUT_MS = 600_000;

// The address or the code of a sign-in would let other users of a server complete it.
const PRIVATE = { scope: 'admin' } as const;

interface LoginOptions {
  readonly providerId: string;
  readonly connection: ClientConnection;
  readonly signal: AbortSignal;
}

/** Signs in to a provider through the dialogs of a client. Ends with the client's input, an abort or a time limit. */
export async function logInThroughDialogs(agent: Agent, { providerId, connection, signal }: LoginOptions) {
  const { registry } = agent;
  const { ui } = connection.capabilities;
  const canShow = (method: string) =>
    receivesUiRequest({ ui, canAnswerDialogs: !connection.inputClosed, receivesTitles: false }, method);
  if (agent.mode !== 'rpc' || !canShow('input') || !canShow('open_url'))
    throw new Refusal('not_supported', 'A login needs a client that shows the UI methods input and open_url');
  await registry.load({ anyway: true });
  const { dialogs } = await agent.addons.ensureLoaded();
  const interaction = dialogInteraction(
    dialogs,
    AbortSignal.any([signal, connection.ended, AbortSignal.timeout(LOGIN_TIMEOUT_MS)]),
  );
  try {
    await registry.auth?.logIn(providerId, interaction);
  } catch (error) {
    if (error instanceof Refusal) throw error;
    if (interaction.signal.aborted || error instanceof LoginCancelled)
      throw new Refusal('login_failed', new LoginCancelled().message);
    throw new Refusal('login_failed', messageOf(error));
  }
  await agent.onCredentialsChanged();
}

/** Shows prompts as dialogs and messages as notices. */
function dialogInteraction(dialogs: Dialogs, signal: AbortSignal): LoginInteraction {
  return {
    signal,
    prompt: (prompt) => showPrompt(dialogs, prompt, signal),
    notify: (event) => dialogs.notify({ ...noticeOf(event), ...PRIVATE }),
  };
}

async function showPrompt(dialogs: Dialogs, prompt: LoginPrompt, signal: AbortSignal): Promise<string | undefined> {
  const options = {
    timeout: LOGIN_TIMEOUT_MS,
    opener: 'command' as const,
    signal: prompt.signal ? AbortSignal.any([prompt.signal, signal]) : signal,
  };
  const { message: title } = prompt;
  if (prompt.type === 'secret')
    throw new Refusal('not_supported', 'A secret is not requested in a dialog: use set_credential');
  if (prompt.type === 'select') {
    const labels = prompt.options.map(({ label }) => label);
    const response = await dialogs.open({ method: 'select', title, options: labels, ...PRIVATE }, options);
    return prompt.options.find(({ label }) => label === response?.value)?.id;
  }
  const { placeholder } = prompt;
  const response = await dialogs.open(
    { method: 'input', title, ...(placeholder === undefined ? {} : { placeholder }), ...PRIVATE },
    options,
  );
  return response && (response.value ?? '');
}

function noticeOf(event: LoginEvent): Parameters<Dialogs['notify']>[0] {
  switch (event.type) {
    case 'auth_url': {
      const { url, instructions } = event;
      return { method: 'open_url', url, ...(instructions === undefined ? {} : { instructions }) };
    }
    case 'device_code':
      return { method: 'open_url', url: event.verificationUri, instructions: `Enter the code ${event.userCode}` };
    default:
      return { method: 'notify', message: event.message, notifyType: 'info' };
  }
}
