import { denoPath } from './harness.ts'

/** Finds Deno once before the tests. Their processes inherit the result. */
export async function setup(): Promise<void> {
  await denoPath()
}
