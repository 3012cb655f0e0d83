// Its workflow ends the process by `kill -9`. Since `EPOCH` its clock is fast, so that nobody has to wait for long.
import process from 'node:process'
import { createHandler, Workflow } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { stateAt } from './state.ts'

const { DATABASE, PORT, EPOCH } = process.env
const now = Date.now
Date.now = () => now() + (now() - Number(EPOCH)) * 100
const dies = new Workflow({
  name: 'dies',
  register: false,
  async *run(_, { step }) {
    yield* step('one', () => 'done')
    yield* step('two', () => process.kill(process.pid, 'SIGKILL'))
  },
})
const handler = createHandler({ workflows: { dies }, state: await stateAt(DATABASE), logger: false })
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
