import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { formatCount } from '../../format.ts';
import { type KeyProvider, listKeyProviders, listSignIns, removeKey, signIn, storeKey } from '../actions/models.ts';
import { providerName } from '../controls/provider-name.ts';
import { Modal } from '../overlay/modal.tsx';
import { useApp, useSession } from '../state/app.ts';
import { useRequest } from '../state/use-request.ts';
import { type KeyChange, KeyOutcome } from './key-outcome.tsx';
import { StoredKey } from './stored-key.tsx';

/** Stores and removes provider keys. A key goes to the server and is kept nowhere in the page. */
export function KeyForm() {
  const app = useApp();
  const session = useSession();
  const { value: known, problem } = useRequest(() => listKeyProviders(session)).value;
  return (
    <Modal
      title="Add a key"
      kind="key"
      onClose={() => {
        app.sheet.value = undefined;
      }}
    >
      {problem !== undefined && (
        <p class="failure" role="alert">
          {problem}
        </p>
      )}
      {known ? <Fields known={known} /> : problem === undefined && <p class="note">Looking…</p>}
    </Modal>
  );
}

function Fields({ known }: { readonly known: readonly KeyProvider[] }) {
  const session = useSession();
  const select = useRef<HTMLSelectElement>(null);
  const key = useRef<HTMLInputElement>(null);
  const all = useSignal(known);
  const chosen = useSignal(known[0]?.id ?? '');
  const work = useSignal<KeyChange['kind'] | undefined>(undefined);
  const rejection = useSignal<string | undefined>(undefined);
  const change = useSignal<KeyChange | undefined>(undefined);
  useEffect(() => select.current?.focus(), []);
  const isBusy = work.value !== undefined;
  const provider = all.value.find(({ id }) => id === chosen.value);

  // Changes the key of the provider and shows the outcome.
  const attempt = async (kind: KeyChange['kind'], act: (provider: string) => Promise<number>) => {
    const id = chosen.value;
    work.value = kind;
    rejection.value = undefined;
    change.value = undefined;
    try {
      change.value = { kind, provider: id, models: await session.track(() => act(id)) };
      all.value = await listKeyProviders(session);
    } catch (error) {
      // When the form was closed, the page shows the error.
      if (select.current) rejection.value = messageOf(error);
      else session.showError(error);
    } finally {
      work.value = undefined;
    }
  };
  const store = async (provider: string) => {
    const models = await storeKey(session, provider, key.current?.value ?? '');
    if (key.current) key.current.value = '';
    return models;
  };
  const remove = async () => {
    await attempt('removed', (provider) => removeKey(session, provider));
    select.current?.focus();
  };
  return (
    <form
      class="key-form"
      autocomplete="off"
      onSubmit={(event) => {
        event.preventDefault();
        void attempt('stored', store);
      }}
    >
      <label for="provider">Provider</label>
      <select
        ref={select}
        id="provider"
        value={chosen.value}
        onChange={(event) => {
          chosen.value = event.currentTarget.value;
        }}
      >
        {all.value.map(({ id, models, configured }) => (
          <option key={id} value={id}>
            {providerName(id)} · {formatCount(models, 'model')}
            {configured ? ' · has a key' : ''}
          </option>
        ))}
      </select>
      <SignInButton provider={chosen.value} />
      {provider && <StoredKey key={provider.id} provider={provider} isBusy={isBusy} onRemove={() => void remove()} />}
      <label for="key">Key</label>
      <input ref={key} type="password" name="key" id="key" required autocomplete="off" spellcheck={false} />
      <p class="note">
        It is stored in <code>auth.json</code> on the server, readable by its user only, and never shown again.
      </p>
      {rejection.value !== undefined && (
        <p class="failure" role="alert">
          <PlainText text={rejection.value} />
        </p>
      )}
      <KeyOutcome change={change.value} />
      <div class="row">
        <button type="submit" class={change.value ? '' : 'main'} disabled={isBusy}>
          {work.value === 'stored' ? 'Storing…' : 'Store the key'}
        </button>
      </div>
    </form>
  );
}

/** Closes the form and signs in, if the provider offers that: its address and dialogs are shown by the page. */
function SignInButton({ provider }: { readonly provider: string }) {
  const app = useApp();
  const session = useSession();
  const { value: signIns = [] } = useRequest(() => listSignIns(session)).value;
  if (!signIns.includes(provider)) return null;
  const name = providerName(provider);
  const start = async () => {
    app.sheet.value = undefined;
    try {
      const models = await signIn(session, provider);
      session.showNotice(`Signed in to ${name}: ${formatCount(models, 'model')} can be chosen.`);
    } catch (error) {
      session.showError(error);
    }
  };
  return (
    <div class="row">
      <button type="button" onClick={() => void start()}>
        Sign in to {name}
      </button>
    </div>
  );
}
