import { useComputed, useSignal } from '@preact/signals';
import type { Model } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { availableModels, chooseModel } from '../../actions/models.ts';
import { useApp, useSession } from '../../state/app.ts';
import { AddKeyButton } from '../add-key-button.tsx';
import { providerName } from '../provider-name.ts';
import { ModelRow } from './model-row.tsx';
import { PickSheet } from './pick-sheet.tsx';

/** The sheet that chooses the model. */
export function ModelsSheet() {
  const session = useSession();
  const { model, modelFallbackMessage } = useComputed(() => session.view.value.state).value;
  const hasReal = useSignal<boolean | undefined>(undefined);
  // The built-in model is a fallback that the user has not chosen.
  const isFallback = isBuiltIn(model) && modelFallbackMessage !== undefined;
  const current = isFallback && hasReal.value ? undefined : model;
  // The current model comes first, then the others of its provider: it is visible without a search.
  const rank = ({ provider, id }: Model) => (provider !== current?.provider ? 2 : id === current.id ? 0 : 1);
  return (
    <PickSheet<Model>
      title="Model"
      label="Models"
      hasSearch
      load={async () => {
        const models = await availableModels(session);
        hasReal.value = !models.every(isBuiltIn);
        return models;
      }}
      order={(one, other) => rank(one) - rank(other)}
      itemOf={(one) => ({
        id: `${one.provider}/${one.id}`,
        group: providerName(one.provider),
        words: `${one.provider}/${one.id} ${providerName(one.provider)} ${one.name} ${one.id}`,
        isCurrent: rank(one) === 0,
        content: <ModelRow model={one} />,
      })}
      choose={(one, options) => chooseModel(session, one, options)}
    >
      <MoreModels reason={isFallback && hasReal.value !== false ? undefined : modelFallbackMessage} />
    </PickSheet>
  );
}

/** Explains the use of the fallback model, and offers to add a key. */
function MoreModels({ reason }: { readonly reason: string | undefined }) {
  const app = useApp();
  if (reason === undefined && !app.may('admin')) return null;
  return (
    <div class="reason">
      <p class="note">
        <PlainText text={reason ?? 'Keys bring models: add one here, or remove one.'} />
      </p>
      <AddKeyButton />
    </div>
  );
}

const isBuiltIn = (model: Model | null | undefined) => model?.provider === 'tau';
