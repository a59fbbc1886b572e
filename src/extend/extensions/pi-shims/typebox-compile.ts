import { Compile } from 'typebox/compile';

export * from 'typebox/compile';
/** By its older name. */
export const TypeCompiler = { Compile };
