import { Agent, createHandler, type Handler, textOf } from '../../src/index.ts'
import { echo } from './echo.ts'

/** Set up as in the README, with an agent that is served by name. */
new Agent({
  name: 'echo',
  run: (input, { signal }) => echo(textOf(input), signal),
})

export const handler: Handler = createHandler()
