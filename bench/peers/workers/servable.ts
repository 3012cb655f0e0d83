import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { worker } from '../../../src/runtimes/cloudflare.ts'
import { echo } from '../echo.ts'

const agent = new Agent({ name: 'echo', run: (input, { signal }) => echo(textOf(input), signal) })

export default { fetch: worker(createHandler({ agents: { echo: agent } })) }
