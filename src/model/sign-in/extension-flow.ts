import type { NewSignIn } from '../../store/credentials.ts';
import { isHttpUrl } from '../../store/http-syntax.ts';
import type { LoginCallbacks, SignIn } from '../registry/provider-config.ts';
import { untilAbort } from '../until-abort.ts';
import { LoginCancelled, type LoginInteraction, type SignInFlow } from './flow.ts';

/** The flow of a provider that an extension has registered. */
export const extensionFlow = (provider: string, signIn: SignIn): SignInFlow => ({
  login: async (interaction) => {
    if (typeof signIn.login !== 'function') throw new Error(`The extension offers no login for ${provider}`);
    // The code of an extension may ignore the signal.
    const login = signIn.login(callbacksOf(interaction));
    return (await untilAbort(login, interaction.signal, () => new LoginCancelled())) as NewSignIn;
  },
  refresh: (credential, { signal }) => signIn.refreshToken(credential, signal) as Promise<Partial<NewSignIn>>,
});

function callbacksOf(interaction: LoginInteraction): LoginCallbacks {
  const { signal, notify } = interaction;
  const prompt = async (...args: Parameters<LoginInteraction['prompt']>) => {
    const text = await interaction.prompt(...args);
    if (text === undefined) throw new LoginCancelled();
    return text;
  };
  return {
    signal,
    onAuth: ({ url, instructions }) => {
      checkUrl(url);
      notify({ type: 'auth_url', url, ...(typeof instructions === 'string' ? { instructions } : {}) });
    },
    onDeviceCode: ({ userCode, verificationUri }) => {
      checkUrl(verificationUri);
      notify({ type: 'device_code', userCode: String(userCode), verificationUri });
    },
    onProgress: (message) => notify({ type: 'progress', message: String(message) }),
    onPrompt: ({ message, placeholder }) =>
      prompt({ type: 'text', message, signal, ...(placeholder === undefined ? {} : { placeholder }) }),
    onManualCodeInput: () =>
      prompt({ type: 'manual_code', message: 'Paste the address of the last page, or the code that it shows', signal }),
    onSelect: ({ message, options }) => interaction.prompt({ type: 'select', message, options, signal }),
  };
}

/** Clients open these addresses. */
function checkUrl(url: string): void {
  if (typeof url !== 'string' || !isHttpUrl(url))
    throw new Error('The address of a login must be an http or https URL');
}
