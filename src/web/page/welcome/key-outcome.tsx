import { formatCount } from '../../format.ts';
import { providerName } from '../controls/provider-name.ts';
import { useApp } from '../state/app.ts';

/** The outcome of a change of a key. */
export interface KeyChange {
  readonly kind: 'stored' | 'removed';
  readonly provider: string;
  /** Usable models of the provider after the change. */
  readonly models: number;
}

/** Shows the outcome of a key change, with a link to the models. */
export function KeyOutcome({ change }: { readonly change: KeyChange | undefined }) {
  const app = useApp();
  return (
    <div role="status">
      {change && (
        <div class="stored">
          <p>{outcomeText(change)}</p>
          {(change.kind === 'removed' || change.models > 0) && (
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

function outcomeText({ kind, provider, models }: KeyChange): string {
  const name = providerName(provider);
  const some = `${formatCount(models, 'model')} of ${name}`;
  if (kind === 'stored' && models === 0) return `The key is stored, but no model of ${name} can be used.`;
  if (kind === 'stored') return `The key is stored: ${some} can be chosen. The first answer shows whether it is valid.`;
  if (models === 0) return `The key is removed: no model of ${name} can be used any more.`;
  return `The key is removed. There is another one on the server, with which ${some} can be chosen.`;
}
