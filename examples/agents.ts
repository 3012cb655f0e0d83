/** The agents of every example. They work offline and do real work. Importing this module registers them. */

export { calculator } from './agents/calculator.ts'
export { caller } from './agents/caller.ts'
export { caterer } from './agents/caterer.ts'
export { desk } from './agents/desk.ts'
export { digest } from './agents/digest.ts'
export { echo } from './agents/echo.ts'
export { summarizer } from './agents/summarizer.ts'
export { tailor } from './agents/tailor.ts'
