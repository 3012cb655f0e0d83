/** Tags of tests that a run for some rooms leaves out (`test/run.ts`). */

/** Tests of another runtime than Node, or of another store than memory. */
export const ELSEWHERE = { tags: ['elsewhere'] }

/** Tests that take long: `npm test -- all` runs them. */
export const LONG = { tags: ['long'] }
