import { createHandler, type Handler, memoryState } from '../../../src/index.ts'
import { conformance } from '../../contracts/mcp/conformance.ts'

const { serve, plugin } = conformance()

export const handler: Handler = createHandler({
  serve,
  registry: false,
  state: memoryState(),
  plugins: [plugin],
})
