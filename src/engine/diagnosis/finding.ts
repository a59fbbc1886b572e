import { messageOf } from '../../protocol/errors.ts';
import type { Finding } from '../../protocol/generated/vocabulary.ts';

// A check that takes longer is abandoned: a network folder may never answer.
const CHECK_LIMIT_MS = 2000;

/** A diagnostic check. An error it throws becomes its finding. */
export type Check = () => Found | Promise<Found>;

type Found = Finding | readonly Finding[];

export const fine = (check: string, message: string): Finding => ({ check, status: 'ok', message });
export const warning = (check: string, message: string): Finding => ({ check, status: 'warning', message });
export const problem = (check: string, message: string): Finding => ({ check, status: 'error', message });

/** Runs all checks concurrently and returns their findings in order. Never rejects, and gives up at the limit. */
export async function runChecks(checks: Readonly<Record<string, Check>>, limitMs = CHECK_LIMIT_MS): Promise<Finding[]> {
  const found = Object.entries(checks).map(([name, check]) => withTimeLimit({ name, check, limitMs }));
  return (await Promise.all(found)).flat();
}

interface LimitedCheck {
  readonly name: string;
  readonly check: Check;
  readonly limitMs: number;
}

async function withTimeLimit({ name, check, limitMs }: LimitedCheck): Promise<Found> {
  let timer: NodeJS.Timeout | undefined;
  const timeout = new Promise<Finding>((resolve) => {
    const message = `No answer within ${limitMs / 1000} seconds: see whether a disk or a network folder hangs`;
    timer = setTimeout(() => resolve(warning(name, message)), limitMs);
  });
  const checked = (async () => check())().catch((error: unknown) => problem(name, messageOf(error)));
  const found = await Promise.race([checked, timeout]);
  clearTimeout(timer);
  return found;
}
