/** Which tests are left out where only some rooms are looked at (`test/run.ts`). */

/** What holds elsewhere too: on another runtime, or over another store, than Node and memory. */
export const ELSEWHERE = { tags: ['elsewhere'] }

/** What takes long by itself. */
export const LONG = { tags: ['long'] }
