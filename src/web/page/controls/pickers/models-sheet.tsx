import { useComputed } from '@preact/signals';
import type { Model } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { availableModels, chooseModel } from '../../actions/models.ts';
import { useApp, useSession } from '../../state/app.ts';
import { AddKeyButton } from '../add-key-button.tsx';
import { providerName } from '../provider-name.ts';
import { ModelRow } from './model-row.tsx';
import { PickSheet } from './pick-sheet.tsx';

/** Chooses who answers from now on. */
export function ModelsSheet() {
  const session = useSession();
  const current = useComputed(() => session.view.value.state.model).value ?? undefined;
  // The one in use comes first, then the others of its provider: it is seen without a search.
  const rank = ({ provider, id }: Model) => (provider !== current?.provider ? 2 : id === current.id ? 0 : 1);
  return (
    <PickSheet<Model>
      title="Model"
      label="Models"
      hasSearch
      ask={() => availableModels(session)}
      order={(one, other) => rank(one) - rank(other)}
      itemOf={(model) => ({
        id: `${model.provider}/${model.id}`,
        group: providerName(model.provider),
        words: `${model.provider} ${providerName(model.provider)} ${model.name} ${model.id}`,
        isCurrent: rank(model) === 0,
        content: <ModelRow model={model} />,
      })}
      choose={(model, reach) => chooseModel(session, model, reach)}
    >
      <MoreModels />
    </PickSheet>
  );
}

/** Why no real model is used, where that is so; and how to come by more models. */
function MoreModels() {
  const app = useApp();
  const session = useSession();
  const reason = useComputed(() => session.view.value.state.modelFallbackMessage).value;
  if (reason === undefined && !app.may('admin')) return null;
  return (
    <div class="why">
      <p class="note">
        <PlainText text={reason ?? 'A key of another provider brings its models.'} />
      </p>
      <AddKeyButton />
    </div>
  );
}
