import { isObject } from '../../../protocol/json.ts';
import type { Dialog } from '../../dialogs.ts';

type Values = Readonly<Record<string, unknown>>;

/** A value that a form accepts. */
export type FormValue = string | number | boolean | string[];

/** A field of a form that a server requests. */
export interface FormField {
  readonly name: string;
  readonly isRequired: boolean;
  readonly default: FormValue | undefined;
  readonly dialog: (title: string) => Dialog;
  /** The value, or why the text is none. */
  readonly parse: (text: string) => { readonly value: FormValue } | { readonly problem: string };
}

interface Choice {
  readonly value: string;
  readonly label: string;
}

// Limits of the texts from a server in a dialog: each part of a title, the whole title, and each option.
const MAX_DIALOG_TEXT = 1000;
const MAX_TITLE = 4000;
const MAX_OPTION = 100;

const MAX_CHOICES = 200;

/** The fields of a requested form, in its order; undefined if the form is not understood. */
export function formFields(schema: unknown): FormField[] | undefined {
  const { properties, required } = isObject(schema) ? schema : {};
  if (!isObject(properties)) return undefined;
  const names = Array.isArray(required) ? required : [];
  const fields = Object.entries(properties).map(([name, property]) =>
    isObject(property) ? fieldFrom(name, property, names.includes(name)) : undefined,
  );
  return fields.every((field) => field !== undefined) ? fields : undefined;
}

function fieldFrom(name: string, property: Values, isRequired: boolean): FormField | undefined {
  const kind = kindOf(property);
  if (!kind) return undefined;
  const { title, description } = property;
  const label = [text(title) || text(name), text(description)].filter(Boolean).join(': ');
  const preset = defaultOf(property);
  const notes = [
    ...(preset === undefined ? [] : [`default: ${text(String(preset))}`]),
    ...(isRequired || preset !== undefined ? [] : ['optional']),
  ];
  const suffix = notes.length > 0 ? ` (${notes.join(', ')})` : '';
  return {
    name,
    isRequired,
    default: preset,
    dialog: (before) => kind.dialog(`${before}${label}${kind.hint}${suffix}`.slice(0, MAX_TITLE)),
    parse: kind.parse,
  };
}

interface FieldKind extends Pick<FormField, 'dialog' | 'parse'> {
  readonly hint: string;
}

function kindOf(property: Values): FieldKind | undefined {
  const choices = choicesOf(property);
  const { items } = property;
  switch (property['type']) {
    case 'boolean':
      return choiceKind([YES, NO], (label) => label === YES.label);
    case 'number':
    case 'integer':
      return { hint: '', dialog: inputDialog, parse: (words) => parseNumber(words, property) };
    case 'array':
      return isObject(items) ? manyKind(choicesOf(items), property) : undefined;
    case 'string':
      if (choices.length > 0) return choiceKind(choices, (label) => valueLabelled(label, choices));
      return { hint: '', dialog: inputDialog, parse: (words) => parseText(words, property) };
    default:
      return undefined;
  }
}

const YES: Choice = { value: 'true', label: 'yes' };
const NO: Choice = { value: 'false', label: 'no' };

const inputDialog = (title: string): Dialog => ({ method: 'input', title });

function choiceKind(choices: readonly Choice[], value: (label: string) => FormValue | undefined): FieldKind {
  const options = choices.map(({ label }) => label);
  return {
    hint: '',
    dialog: (title) => ({ method: 'select', title, options }),
    parse: (label) => {
      const found = options.includes(label) ? value(label) : undefined;
      return found === undefined ? { problem: `${label.slice(0, 100)} is not one of the options` } : { value: found };
    },
  };
}

function manyKind(choices: readonly Choice[], { minItems, maxItems }: Values): FieldKind | undefined {
  if (choices.length === 0) return undefined;
  return {
    hint: ` (any of these, with commas: ${text(choices.map(({ label }) => label).join(', '))})`,
    dialog: inputDialog,
    parse: (words) => {
      const labels = words.split(',').map((word) => word.trim());
      const values = labels.filter(Boolean).map((label) => valueLabelled(label, choices));
      if (values.includes(undefined)) return { problem: 'one of them is not an option' };
      if (values.length < number(minItems, 0)) return { problem: `at least ${minItems} are needed` };
      if (values.length > number(maxItems, MAX_CHOICES)) return { problem: `at most ${maxItems} are possible` };
      return { value: values as string[] };
    },
  };
}

const valueLabelled = (label: string, choices: readonly Choice[]) =>
  choices.find((choice) => choice.label === label || choice.value === label)?.value;

// Plain values, values with parallel names, and values with titles.
function choicesOf({ enum: values, enumNames, oneOf, anyOf }: Values): Choice[] {
  if (Array.isArray(values)) {
    const names = Array.isArray(enumNames) ? enumNames : [];
    return values
      .slice(0, MAX_CHOICES)
      .map((value, index) => ({ value: String(value), label: labelFrom(names[index], String(value)) }));
  }
  const titled = [oneOf, anyOf].find(Array.isArray) ?? [];
  return titled.slice(0, MAX_CHOICES).flatMap((option: unknown) => {
    if (!isObject(option) || typeof option['const'] !== 'string') return [];
    return [{ value: option['const'], label: labelFrom(option['title'], option['const']) }];
  });
}

function defaultOf({ default: preset }: Values): FormValue | undefined {
  if (Array.isArray(preset)) return preset.map(String).slice(0, MAX_CHOICES);
  return ['string', 'number', 'boolean'].includes(typeof preset) ? (preset as FormValue) : undefined;
}

function parseNumber(words: string, { type, minimum, maximum }: Values): { value: number } | { problem: string } {
  const value = words.trim() === '' ? Number.NaN : Number(words);
  if (!Number.isFinite(value)) return { problem: 'a number is needed' };
  if (type === 'integer' && !Number.isSafeInteger(value)) return { problem: 'a whole number is needed' };
  if (value < number(minimum, Number.NEGATIVE_INFINITY)) return { problem: `at least ${minimum} is needed` };
  if (value > number(maximum, Number.POSITIVE_INFINITY)) return { problem: `at most ${maximum} is possible` };
  return { value };
}

const FORMATS: Readonly<Record<string, RegExp>> = {
  email: /^[^\s@]+@[^\s@]+$/,
  uri: /^[a-z][a-z0-9+.-]*:\S+$/i,
  date: /^\d{4}-\d\d-\d\d$/,
  'date-time': /^\d{4}-\d\d-\d\dT\d\d:\d\d/,
};

function parseText(words: string, { minLength, maxLength, format }: Values): { value: string } | { problem: string } {
  if (words.length < number(minLength, 0)) return { problem: `at least ${minLength} characters are needed` };
  if (words.length > number(maxLength, Number.POSITIVE_INFINITY))
    return { problem: `at most ${maxLength} characters are possible` };
  if (FORMATS[String(format)]?.test(words) === false) return { problem: `it is not a valid ${String(format)}` };
  return { value: words };
}

const number = (value: unknown, otherwise: number) => (typeof value === 'number' ? value : otherwise);

const labelFrom = (title: unknown, value: string) => (text(title) || value).slice(0, MAX_OPTION);

const text = (value: unknown) => (typeof value === 'string' ? value.slice(0, MAX_DIALOG_TEXT) : '');
