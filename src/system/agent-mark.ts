import { MARK } from './process-table.ts';

let mark: string | undefined;

/** What marks everything this process starts. Inside another agent's command it extends that command's mark. */
export const agentMark = (): string => {
  mark ??= newMark(process.env[MARK]);
  return mark;
};

const newMark = (outer: string | undefined) =>
  `${outer ? `${outer}/` : ''}${process.pid.toString(36)}-${Math.random().toString(36).slice(2)}`;
