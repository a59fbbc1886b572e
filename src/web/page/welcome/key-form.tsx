import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { messageOf } from '../../../protocol/errors.ts';
import { PlainText } from '../../code/plain-text.tsx';
import { counted } from '../../words.ts';
import { type Provider, providers, storeKey } from '../actions/models.ts';
import { providerName } from '../controls/provider-name.ts';
import { Modal } from '../overlay/modal.tsx';
import { useAnswer } from '../state/answer.ts';
import { useApp, useSession } from '../state/app.ts';

/** Takes the key of a provider. It goes to the server and is kept nowhere in the page. */
export function KeyForm() {
  const app = useApp();
  const session = useSession();
  const { value: known, problem } = useAnswer(() => providers(session)).value;
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

function Fields({ known }: { readonly known: readonly Provider[] }) {
  const session = useSession();
  const select = useRef<HTMLSelectElement>(null);
  const key = useRef<HTMLInputElement>(null);
  const isBusy = useSignal(false);
  const refusal = useSignal<string | undefined>(undefined);
  const stored = useSignal<{ readonly provider: string; readonly models: number } | undefined>(undefined);
  useEffect(() => select.current?.focus(), []);
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const fields = new FormData(event.currentTarget as HTMLFormElement);
    const provider = String(fields.get('provider'));
    isBusy.value = true;
    refusal.value = undefined;
    stored.value = undefined;
    storeKey(session, provider, String(fields.get('key')).trim())
      .then(
        (models) => {
          stored.value = { provider, models };
          if (key.current) key.current.value = '';
        },
        (error: unknown) => {
          refusal.value = messageOf(error);
        },
      )
      .finally(() => {
        isBusy.value = false;
      });
  };
  return (
    <form class="key-form" autocomplete="off" onSubmit={submit}>
      <label for="provider">Provider</label>
      <select ref={select} name="provider" id="provider">
        {known.map(({ id, models, configured }) => (
          <option key={id} value={id}>
            {providerName(id)} · {counted(models, 'model')}
            {configured ? ' · has a key' : ''}
          </option>
        ))}
      </select>
      <label for="key">Key</label>
      <input ref={key} type="password" name="key" id="key" required autocomplete="off" spellcheck={false} />
      <p class="note">
        It is stored in <code>auth.json</code> on the server, readable by its user only, and shown to nobody again.
      </p>
      {refusal.value !== undefined && (
        <p class="failure" role="alert">
          <PlainText text={refusal.value} />
        </p>
      )}
      <Outcome stored={stored.value} />
      <div class="row">
        <button type="submit" class={stored.value ? '' : 'main'} disabled={isBusy.value}>
          {isBusy.value ? 'Storing…' : 'Store the key'}
        </button>
      </div>
    </form>
  );
}

function Outcome({ stored }: { readonly stored: { readonly provider: string; readonly models: number } | undefined }) {
  const app = useApp();
  return (
    <div role="status">
      {stored && (
        <div class="stored">
          <p>
            {stored.models === 0
              ? `The key is stored, but no model of ${providerName(stored.provider)} can be used.`
              : `The key is stored: ${counted(stored.models, 'model')} of ${providerName(stored.provider)} can be chosen. Whether it is right the first answer will say.`}
          </p>
          {stored.models > 0 && (
            <button
              type="button"
              class="main"
              onClick={() => {
                app.sheet.value = 'models';
              }}
            >
              Choose one
            </button>
          )}
        </div>
      )}
    </div>
  );
}
