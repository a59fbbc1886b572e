import { send } from '../actions/prompting.ts';
import { useApp, useSession } from '../state/app.ts';

/** The box that messages are written in. */
export function Composer() {
  const session = useSession();
  if (!useApp().may('prompt')) return <p class="note">This login may only look.</p>;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    void send(session, { text: String(new FormData(form).get('message')), images: [] }, 'steer');
    form.reset();
  };
  return (
    <form class="composer" onSubmit={submit}>
      <textarea name="message" aria-label="Message" rows={1} />
      <button type="submit" class="main">
        Send
      </button>
    </form>
  );
}
