import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';

/** Leads to the form for keys; nothing for those who may not store any. */
export function AddKeyButton({ kind = '' }: { readonly kind?: string | undefined }) {
  const app = useApp();
  if (!app.may('admin')) return null;
  return (
    <button
      type="button"
      class={`add-key ${kind}`}
      onClick={() => {
        app.sheet.value = 'credentials';
      }}
    >
      <Icon name="key" />
      Add a key
    </button>
  );
}
