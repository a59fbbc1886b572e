import { secretsSet } from '../../model/secret-variables.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';
import type { Choice } from '../../session/model-choice.ts';
import { fine, problem, warning } from './finding.ts';

/** The model that a prompt would be put to. */
export function modelFinding({ model, notice }: Pick<Choice, 'model' | 'notice'>): Finding {
  if (!model) return problem('model', `${sentence(notice ?? 'No model is selected')} ${ADVICE}`);
  const name = `${model.provider}/${model.id}`;
  return notice === undefined ? fine('model', name) : warning('model', `${name}. ${sentence(notice)} ${ADVICE}`);
}

/** Which keys there are, by name: their values are nobody's business. */
export function keysFinding(env: Readonly<Record<string, string | undefined>>): Finding {
  const names = secretsSet(env);
  if (names.length === 0) return fine('keys', 'None in the environment; the built-in models need none');
  return fine('keys', `In the environment: ${names.join(', ')}`);
}

const ADVICE = 'Choose one with set_model, --model, or defaultProvider and defaultModel in settings.json';

const sentence = (text: string) => (text.endsWith('.') ? text : `${text}.`);
