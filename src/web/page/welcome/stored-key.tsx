import { useSignal } from '@preact/signals';
import type { KeyProvider } from '../actions/models.ts';
import { providerName } from '../controls/provider-name.ts';

interface StoredKeyProps {
  readonly provider: KeyProvider;
  readonly isBusy: boolean;
  readonly onRemove: () => void;
}

/** Shows whether a provider has a key. A stored one can be removed after a confirmation. */
export function StoredKey({ provider: { id, configured, stored }, isBusy, onRemove }: StoredKeyProps) {
  const isConfirming = useSignal(false);
  const name = providerName(id);
  if (!stored && !configured) return null;
  if (!stored)
    return (
      <p class="note">
        {name} has a key from the environment, <code>models.json</code> or a sign-in of the server: it can only be
        removed there. One that is stored here takes its place.
      </p>
    );
  return (
    <div class="reason">
      <p>
        {isConfirming.value
          ? `Remove the key of ${name}? Sessions with its models need another one.`
          : `A key of ${name} is stored.`}
      </p>
      {isConfirming.value && (
        <button type="button" class="dangerous" disabled={isBusy} onClick={onRemove}>
          Remove
        </button>
      )}
      {/* The button keeps its position, so that a double click removes nothing. */}
      <button type="button" onClick={() => (isConfirming.value = !isConfirming.value)}>
        {isConfirming.value ? 'Keep it' : 'Remove the key'}
      </button>
    </div>
  );
}
