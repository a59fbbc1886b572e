import type { ModelRegistry } from '../../model/registry/registry.ts';
import { secretsSet } from '../../model/keys/secret-variables.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { ModelChoice } from '../../session/model-choice.ts';
import { fine, problem, warning } from './finding.ts';

/** The model that a prompt would be put to, the providers that can be used, and what is wrong with the files about them. */
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

/** Where the key of each provider comes from, not what it is: no command is run for it. */
function providerFindings({ keyLocations: keyPlaces, keyProblems: obstacles }: ModelRegistry): readonly Finding[] {
  const usable = [...keyPlaces].map(([provider, place]) => `${provider} (${place ?? 'needs no key'})`);
  return [
    fine(
      'providers',
      usable.length > 0 ? `Usable: ${usable.join(', ')}` : 'None has a key; the built-in models need none',
    ),
    ...obstacles.map((text) => warning('providers', text)),
  ];
}

function fileFindings({ problems }: ModelRegistry): readonly Finding[] {
  if (problems.length === 0) return [fine('model files', 'Nothing wrong with them')];
  return problems.map((text) => warning('model files', `${text}. Mend the file`));
}

/** Which keys there are, by name: their values are nobody's business. */
export function keysFinding(env: Readonly<Record<string, string | undefined>>): Finding {
  const names = secretsSet(env);
  if (names.length === 0) return fine('keys', 'None in the environment; the built-in models need none');
  return fine('keys', `In the environment: ${names.join(', ')}`);
}

const MODEL_ADVICE = 'Choose one with set_model, --model, or defaultProvider and defaultModel in settings.json';

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);
