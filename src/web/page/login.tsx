import { useSignal } from '@preact/signals';
import { messageOf } from '../../protocol/errors.ts';
import { logIn } from './server-api.ts';

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
