import { useSignal } from '@preact/signals';
import { messageOf } from '../../protocol/errors.ts';
import { currentLogin, type LoginInfo, logIn, ServerRefusal } from './server-api.ts';

/** Asks for a token and reloads the page after the login. `reason` is the error to show first. */
export function LoginForm({ reason }: { readonly reason: string | undefined }) {
  const problem = useSignal(reason);
  const isBusy = useSignal(false);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const token = String(new FormData(event.currentTarget as HTMLFormElement).get('token')).trim();
    isBusy.value = true;
    logIn({ token }).then(
      () => location.reload(),
      (error: unknown) => {
        isBusy.value = false;
        problem.value = messageOf(error);
      },
    );
  };
  return (
    <form class="solo login" onSubmit={submit}>
      <h1>tau</h1>
      {problem.value !== undefined && (
        <p class="failure" role="alert">
          {problem.value}
        </p>
      )}
      <label for="token">Token</label>
      <div class="row">
        <input type="password" name="token" id="token" required autocomplete="current-password" />
        <button type="submit" class="main" disabled={isBusy.value}>
          Log in
        </button>
      </div>
      <p class="note">
        The owner of this server creates one with <code>tau token create --name browser --scope view,prompt,bash</code>.
      </p>
      <p class="note">
        The link that <code>tau serve</code> prints lets one browser in.
      </p>
    </form>
  );
}

const CODE_PREFIX = '#code=';

/** Logs in with the code of a login link. A code that is used up does not end an existing login. */
export async function authenticate(): Promise<LoginInfo | { readonly refusal: string | undefined }> {
  // Following a login link on this page only changes the hash, which loads nothing.
  addEventListener('hashchange', () => location.hash.startsWith(CODE_PREFIX) && location.reload());
  const code = location.hash.startsWith(CODE_PREFIX) ? location.hash.slice(CODE_PREFIX.length) : undefined;
  if (code !== undefined) history.replaceState(null, '', location.pathname + location.search);
  let refusal: string | undefined;
  try {
    if (code !== undefined) return await logIn({ code });
  } catch (error) {
    if (!(error instanceof ServerRefusal)) throw error;
    refusal = error.status === 401 ? 'This login link was used already, or is too old.' : error.message;
  }
  return (await currentLogin()) ?? { refusal };
}
