import { Agent, createHandler, type Handler, textOf } from '../../src/index.ts'
import { echo } from './echo.ts'

/** As the README says it, with an agent that is served by name. */
new Agent({
  name: 'echo',
  run: (input, { signal }) => echo(textOf(input), signal),
})

export const handler: Handler = createHandler()
