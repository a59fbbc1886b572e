import { useComputed } from '@preact/signals';
import type { UiWidget } from '../../../client/view/extension-ui.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { useSession } from '../state/app.ts';

interface WidgetsProps {
  readonly placement: UiWidget['placement'];
}

/** Lines of extensions above or below the composer. */
export function Widgets({ placement }: WidgetsProps) {
  const { view } = useSession();
  const widgets = useComputed(() => view.value.widgets).value.filter((widget) => widget.placement === placement);
  return (
    <>
      {widgets.map(({ key, lines }) => (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable area must be reachable by keyboard
        <section key={key} class="widget" aria-label={key} tabIndex={0}>
          <ClippedText text={lines.join('\n')} />
        </section>
      ))}
    </>
  );
}

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

const MAX_CLIPPED_CHARACTERS = 4000;

/** Clips long text of extensions and notices. */
export const ClippedText = ({ text }: { readonly text: string }) => (
  <PlainText text={text.length > MAX_CLIPPED_CHARACTERS ? `${text.slice(0, MAX_CLIPPED_CHARACTERS)}…` : text} />
);
