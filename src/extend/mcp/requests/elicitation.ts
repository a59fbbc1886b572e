import type { ElicitResult } from '@modelcontextprotocol/client';
import { isObject } from '../../../protocol/json.ts';
import type { Dialog, Dialogs } from '../../dialogs.ts';
import { type FormField, type FormValue, formFields } from './form-field.ts';
import type { ElicitParams } from './server-requests.ts';

// Limits of the message of a server and of its form.
const MAX_ELICITATION_TEXT = 4000;
const MAX_FORM_FIELDS = 30;

// Invalid values of one field before the form is cancelled.
const MAX_FIELD_ATTEMPTS = 3;

/** The dialogs of one request: the name of its server and what ends them. */
export interface ElicitationDialogs {
  readonly server: string;
  readonly dialogs: Pick<Dialogs, 'open'>;
  readonly signal: AbortSignal;
}

type Open = (dialog: Dialog) => ReturnType<Dialogs['open']>;

/** Shows the request of a server for input as dialogs, each with the name of the server. */
export async function elicit(
  params: ElicitParams,
  { server, dialogs, signal }: ElicitationDialogs,
): Promise<ElicitResult> {
  const open: Open = (dialog) => dialogs.open(dialog, { signal });
  const message = String(params.message ?? '').slice(0, MAX_ELICITATION_TEXT);
  return params.mode === 'url'
    ? visitPage({ server, message, url: params.url }, open)
    : fillForm({ server, message, form: params.requestedSchema }, open);
}

async function visitPage(request: { server: string; message: string; url: string }, open: Open): Promise<ElicitResult> {
  const { server, message, url } = request;
  if (!/^https?:\/\//i.test(url) || url.length > MAX_ELICITATION_TEXT) return { action: 'cancel' };
  const response = await open({
    method: 'confirm',
    title: `MCP server ${server}: open a page?`,
    message: `${message}\n\nOpen this address in a browser yourself, then confirm: ${url}\n(host: ${hostOf(url)})`,
  });
  if (!response) return { action: 'cancel' };
  return { action: response.confirmed === true ? 'accept' : 'decline' };
}

function hostOf(url: string): string {
  try {
    return new URL(url).host;
  } catch {
    return 'invalid';
  }
}

async function fillForm(
  request: { server: string; message: string; form: unknown },
  open: Open,
): Promise<ElicitResult> {
  const { server, message, form } = request;
  const fields = formFields(form);
  if (!fields || fields.length > MAX_FORM_FIELDS) return { action: 'cancel' };
  const names = fields.map(({ name }) => name.slice(0, 100)).join(', ');
  const consent = await open({
    method: 'confirm',
    title: `The MCP server ${server} requests input`,
    message: names === '' ? message : `${message}\n\nFields: ${names}`,
  });
  if (!consent) return { action: 'cancel' };
  if (consent.confirmed !== true) return { action: 'decline' };
  const content: Record<string, FormValue> = {};
  for (const field of fields) {
    const filled = await fillField(field, server, open);
    if (filled === 'cancelled') return { action: 'cancel' };
    if (filled !== undefined) content[field.name] = filled;
  }
  return { action: 'accept', content };
}

/** The value of a field; undefined if it is left out. */
async function fillField(field: FormField, server: string, open: Open): Promise<FormValue | undefined | 'cancelled'> {
  let problem = '';
  for (let attempt = 0; attempt < MAX_FIELD_ATTEMPTS; attempt++) {
    const response = await open(field.dialog(`MCP server ${server}: ${problem}`));
    if (!isObject(response)) return 'cancelled';
    const value = typeof response.value === 'string' ? response.value : '';
    if (value === '' && (field.default !== undefined || !field.isRequired)) return field.default;
    const parsed = field.parse(value);
    if ('value' in parsed) return parsed.value;
    problem = `${parsed.problem}. `;
  }
  return 'cancelled';
}
