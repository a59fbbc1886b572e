import type { ParentAgent } from '../../engine/addons/detect.ts';

/** Pi's SDK for the extensions of an agent: agents that they create end with it. */
export async function extensionSdk(parent: ParentAgent): Promise<object> {
  const { sdkFor } = await import('./sdk-names.ts');
  return sdkFor(parent);
}
