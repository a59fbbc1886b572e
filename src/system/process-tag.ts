import { TAG_VARIABLE } from './process-table.ts';

let tag: string | undefined;

/** What marks everything this process starts. Inside another agent's command it extends that command's mark. */
export const processTag = (): string => {
  tag ??= newTag(process.env[TAG_VARIABLE]);
  return tag;
};

const newTag = (outer: string | undefined) =>
  `${outer ? `${outer}/` : ''}${process.pid.toString(36)}-${Math.random().toString(36).slice(2)}`;
