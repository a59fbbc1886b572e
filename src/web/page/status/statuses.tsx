import { useComputed } from '@preact/signals';
import { useSession } from '../state/app.ts';
import { ClippedText } from './clipped-text.tsx';

/** The status texts of extensions in one line. */
export function Statuses() {
  const { view } = useSession();
  const statuses = useComputed(() => view.value.statuses).value;
  if (statuses.length === 0) return null;
  return (
    <ul class="statuses" aria-label="Status of extensions">
      {statuses.map(({ key, text }) => (
        <li key={key}>
          <ClippedText text={text} />
        </li>
      ))}
    </ul>
  );
}
