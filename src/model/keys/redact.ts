/** Shorter values say nothing by themselves, and would be found in every other word. */
const MIN_LENGTH = 6;

/** Takes out of a text what a server was given in confidence: whole values, and what follows the scheme in a header. */
export function redact(text: string, values: Iterable<string>): string {
  const secrets = [...values]
    .flatMap((value) => [value, value.slice(value.indexOf(' ') + 1)])
    .filter((value) => value.trim().length >= MIN_LENGTH)
    .sort((a, b) => b.length - a.length);
  return secrets.reduce((redacted, secret) => redacted.replaceAll(secret, '…'), text);
}
