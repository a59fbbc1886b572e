import { useComputed } from '@preact/signals';
import type { UiWidget } from '../../../client/view/extension-ui.ts';
import { useSession } from '../state/app.ts';
import { ClippedText } from './clipped-text.tsx';

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
