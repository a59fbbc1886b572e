import { useComputed, useSignal } from '@preact/signals';
import { messageOf } from '../../../../protocol/errors.ts';
import { formatTokens } from '../../../format.ts';
import { compact } from '../../actions/compaction.ts';
import { useSession } from '../../state/app.ts';

/** Compacts the context, with optional instructions. */
export function CompactForm() {
  const session = useSession();
  const isCompacting = useComputed(() => session.view.value.compacting).value;
  const outcome = useSignal<{ readonly text: string; readonly isBad: boolean } | undefined>(undefined);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget as HTMLFormElement;
    outcome.value = undefined;
    const instructions = String(new FormData(form).get('instructions'));
    session
      .track(() => compact(session, instructions))
      .then(
        ({ tokensBefore }) => {
          outcome.value = { text: `Done: ${formatTokens(tokensBefore)} tokens became a summary.`, isBad: false };
          form.reset();
        },
        (error: unknown) => {
          // When the form was closed, the page shows the error.
          if (form.isConnected) outcome.value = { text: messageOf(error), isBad: true };
          else session.showError(error);
        },
      );
  };
  return (
    <form class="compact" onSubmit={submit}>
      <label for="instructions">What the summary should heed</label>
      <input type="text" name="instructions" id="instructions" placeholder="optional" autocomplete="off" />
      <button type="submit" disabled={isCompacting}>
        {isCompacting ? 'Compacting…' : 'Compact now'}
      </button>
      <p class={outcome.value?.isBad ? 'failure' : 'note'} role="status">
        {outcome.value?.text}
      </p>
    </form>
  );
}
