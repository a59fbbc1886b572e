import { useComputed } from '@preact/signals';
import { PlainText } from '../../../code/plain-text.tsx';
import { oneLine } from '../../../words.ts';
import { inWords } from '../../controls/shortcuts/keyboard.ts';
import { useSession } from '../../state/app.ts';
import { QUESTION_KEYS } from './focus.ts';

/** Tells those who do not see it what is asked, and how to get there. */
export function Asked() {
  const { view } = useSession();
  const title = useComputed(() => view.value.dialogs.at(-1)?.title).value;
  return (
    <p class="hidden-label" role="status">
      {title !== undefined && (
        <>
          An extension asks: <PlainText text={oneLine(title, 200)} /> ({inWords(QUESTION_KEYS)} leads there)
        </>
      )}
    </p>
  );
}
