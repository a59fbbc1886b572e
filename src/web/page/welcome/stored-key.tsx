import { useSignal } from '@preact/signals';
import type { KeyProvider } from '../actions/models.ts';
import { providerName } from '../controls/provider-name.ts';

interface StoredKeyProps {
  readonly provider: KeyProvider;
  readonly isBusy: boolean;
  readonly onRemove: () => void;
}

/** Says whether a provider has a key. One that is stored can be removed, which is asked once. */
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
    <div class="why">
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
      {/* The same button, in the same place: the second of two clicks removes nothing. */}
      <button type="button" onClick={() => (isConfirming.value = !isConfirming.value)}>
        {isConfirming.value ? 'Keep it' : 'Remove the key'}
      </button>
    </div>
  );
}
