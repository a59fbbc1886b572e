import { useSignal } from '@preact/signals';
import type { Provider } from '../actions/models.ts';
import { providerName } from '../controls/provider-name.ts';

interface StoredKeyProps {
  readonly provider: Provider;
  readonly isBusy: boolean;
  readonly onRemove: () => void;
}

/** Says whether a provider has a key. One that is stored can be removed, which is asked once. */
export function StoredKey({ provider: { id, configured, stored }, isBusy, onRemove }: StoredKeyProps) {
  const isAsked = useSignal(false);
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
        {isAsked.value
          ? `Remove the key of ${name}? Sessions with its models need another one.`
          : `A key of ${name} is stored.`}
      </p>
      {isAsked.value && (
        <button type="button" class="dangerous" disabled={isBusy} onClick={onRemove}>
          Remove
        </button>
      )}
      {/* The same button, in the same place: the second of two clicks removes nothing. */}
      <button type="button" onClick={() => (isAsked.value = !isAsked.value)}>
        {isAsked.value ? 'Keep it' : 'Remove the key'}
      </button>
    </div>
  );
}
