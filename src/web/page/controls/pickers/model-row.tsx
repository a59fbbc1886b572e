import type { Model } from '../../../../protocol/generated/vocabulary.ts';
import { PlainText } from '../../../code/plain-text.tsx';
import { formatTokens } from '../../../format.ts';
import { Icon, type IconName } from '../../icons.tsx';

/** A model in the picker: name, abilities, context window and price. */
export const ModelRow = ({ model }: { readonly model: Model }) => (
  <span class="model-row">
    <span class="model-name">
      <PlainText text={model.name} />
    </span>
    {model.id !== model.name && (
      <span class="model-id">
        <PlainText text={model.id} />
      </span>
    )}
    <span class="model-facts">
      {model.input.includes('image') && <Ability icon="image" name="takes images" />}
      {model.reasoning && <Ability icon="thought" name="thinks" />}
      <span class="window" title="Context window">
        {formatTokens(model.contextWindow)}
      </span>
      <Price model={model} />
    </span>
  </span>
);

const Ability = ({ icon, name }: { readonly icon: IconName; readonly name: string }) => (
  <span class="ability" title={name}>
    <Icon name={icon} />
    <span class="hidden-label">{name}</span>
  </span>
);

function Price({ model: { cost } }: { readonly model: Model }) {
  // Local servers and the built-in model are free.
  if (cost.input === 0 && cost.output === 0) return null;
  return (
    <span class="price" title="Dollars per million tokens, in and out">
      {amount(cost.input)} / {amount(cost.output)}
    </span>
  );
}

const amount = (dollars: number) => `$${Number.isInteger(dollars) ? dollars : dollars.toFixed(2)}`;
