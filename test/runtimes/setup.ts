import { denoPath } from './harness.ts'

/** Finds Deno once, before the tests; their processes inherit the answer. */
export async function setup(): Promise<void> {
  await denoPath()
}
