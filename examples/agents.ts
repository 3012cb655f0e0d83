/** The agents that every example serves: offline, and all real work. They register themselves when they are made. */

export { calculator } from './agents/calculator.ts'
export { caller } from './agents/caller.ts'
export { desk } from './agents/desk.ts'
export { digest } from './agents/digest.ts'
export { echo } from './agents/echo.ts'
export { summarizer } from './agents/summarizer.ts'
