import { Icon } from '../icons.tsx';
import { useApp } from '../state/app.ts';

/** Opens the key form; renders nothing for logins that may not store keys. */
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
