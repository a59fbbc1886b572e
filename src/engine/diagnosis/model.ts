import { secretsSet } from '../../model/keys/secret-variables.ts';
import type { ModelRegistry } from '../../model/registry/registry.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { ModelChoice } from '../../session/model-choice.ts';
import { fine, problem, warning } from './finding.ts';

/** Checks the selected model, the usable providers and the model files. */
export async function modelFindings(registry: ModelRegistry, choice: () => Chosen): Promise<readonly Finding[]> {
  await registry.load();
  return [modelFinding(choice()), ...providerFindings(registry), ...fileFindings(registry)];
}

type Chosen = Pick<ModelChoice, 'model' | 'notice'>;

function modelFinding({ model, notice }: Chosen): Finding {
  if (!model) return problem('model', `${sentence(notice ?? 'No model is selected')} ${MODEL_ADVICE}`);
  const name = `${model.provider}/${model.id}`;
  return notice === undefined ? fine('model', name) : warning('model', `${name}. ${sentence(notice)} ${MODEL_ADVICE}`);
}

/** Names the source of each provider's key, never the key; runs no key command. */
function providerFindings({ auth }: ModelRegistry): readonly Finding[] {
  const locations = [...(auth?.keyLocations() ?? [])];
  const usable = locations.map(([provider, location]) => `${provider} (${location ?? 'needs no key'})`);
  return [
    fine(
      'providers',
      usable.length > 0 ? `Usable: ${usable.join(', ')}` : 'None has a key; the built-in models need none',
    ),
    ...(auth?.keyProblems ?? []).map((text) => warning('providers', text)),
  ];
}

function fileFindings({ problems }: ModelRegistry): readonly Finding[] {
  if (problems.length === 0) return [fine('model files', 'Nothing wrong with them')];
  return problems.map((text) => warning('model files', `${text}. Mend the file`));
}

/** Names the keys in the environment, never their values. */
export function keysFinding(env: Readonly<Record<string, string | undefined>>): Finding {
  const names = secretsSet(env);
  if (names.length === 0) return fine('keys', 'None in the environment; the built-in models need none');
  return fine('keys', `In the environment: ${names.join(', ')}`);
}

const MODEL_ADVICE = 'Choose one with set_model, --model, or defaultProvider and defaultModel in settings.json';

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);
