import { TAG_VARIABLE } from './process-table.ts';

let tag: string | undefined;

/** Returns the tag of this process. Inside a command of another agent it extends the tag of that command. */
export const processTag = (): string => {
  tag ??= newTag(process.env[TAG_VARIABLE]);
  return tag;
};

const newTag = (outer: string | undefined) =>
  `${outer ? `${outer}/` : ''}${process.pid.toString(36)}-${Math.random().toString(36).slice(2)}`;

/** Whether the parent started this process with a tag of its own: then its guardian kills this process after it. */
export const isGuardedByParent = (): boolean =>
  process.env[TAG_VARIABLE]
    ?.split('/')
    .at(-1)
    ?.startsWith(`${process.ppid.toString(36)}-`) ?? false;
