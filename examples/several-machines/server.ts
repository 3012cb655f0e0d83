import { hostname } from 'node:os'
import process from 'node:process'
import { Agent, createHandler, textOf, Workflow } from 'servable'
import { serve } from 'servable/node'
import { postgresState } from 'servable/postgres'

const pause = () => new Promise(resolve => setTimeout(resolve, 1000))

/** Says one word a second, and which process says it. */
const slow = new Agent({
  name: 'slow',
  async *run(input) {
    yield `${hostname()} says: `
    for (const word of textOf(input).split(' ')) {
      await pause()
      yield `${word} `
    }
  },
})

/** Ten steps of a second each. If its process ends, another one goes on after the last step. */
const steps = new Workflow({
  name: 'steps',
  async *run(_, { step }) {
    for (let at = 1; at <= 10; at++) {
      const where = yield* step(`step ${at}`, async () => {
        await pause()
        return hostname()
      })
      yield `step ${at} was done by ${where}\n`
    }
  },
})

const url = process.env.DATABASE_URL ?? ''
const handler = createHandler({
  agents: { slow },
  workflows: { steps },
  state: postgresState({ url, listenUrl: url }),
  // nginx tells the address of the client.
  trustProxy: 1,
})

const server = await serve(handler, {
  port: Number(process.env.PORT ?? 3000),
  hostname: process.env.HOST ?? '127.0.0.1',
})
console.log(`listening ${server.url}`)

process.once('SIGTERM', async () => {
  await server.close({ graceMs: 8_000 })
  process.exit()
})
