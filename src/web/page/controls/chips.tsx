import { useComputed } from '@preact/signals';
import type { ComponentChildren } from 'preact';
import { PlainText } from '../../code/plain-text.tsx';
import { Icon } from '../icons.tsx';
import { type Sheet, useApp, useSession } from '../state/app.ts';

/** The model of the session. */
export function ModelChip() {
  const session = useSession();
  const model = useComputed(() => session.view.value.state.model).value;
  if (model === undefined) return null;
  const name = model?.name ?? 'No model';
  return (
    <Chip label={`Model: ${name}`} opens="models">
      <span class="chip-name">
        <PlainText text={name} />
      </span>
    </Chip>
  );
}

/** The thinking level, for models that have one. */
export function ThinkingChip() {
  const session = useSession();
  const level = useComputed(() => {
    const { model, thinkingLevel } = session.view.value.state;
    return model?.reasoning ? thinkingLevel : undefined;
  }).value;
  if (level === undefined) return null;
  return (
    <Chip label={`Thinking: ${level}`} opens="thinking">
      <Icon name="thought" />
      {level}
    </Chip>
  );
}

interface ChipProps {
  readonly label: string;
  // An additional class.
  readonly kind?: string | undefined;
  readonly opens: Sheet;
  readonly children: ComponentChildren;
}

/** A setting; with the scope `prompt`, a button that opens its sheet. */
export function Chip({ label, kind = '', opens, children }: ChipProps) {
  const app = useApp();
  if (!app.may('prompt'))
    return (
      <span class={`chip ${kind}`} title={label}>
        {children}
      </span>
    );
  return (
    <button
      type="button"
      class={`chip ${kind}`}
      aria-label={label}
      aria-haspopup="dialog"
      title={label}
      onClick={() => {
        app.sheet.value = opens;
      }}
    >
      {children}
    </button>
  );
}
