// An agent that works, asks and goes on. What it does is in the file LINES, a line each; its runs are in the file DATABASE.
import { appendFileSync } from 'node:fs'
import process from 'node:process'
import { setTimeout as pause } from 'node:timers/promises'
import { Agent, createHandler, textOf } from '../../../src/index.ts'
import { serve } from '../../../src/runtimes/node.ts'
import { stateAt } from './state.ts'

const { DATABASE = '', LINES = '', PORT } = process.env

const works = new Agent({
  name: 'works',
  register: false,
  tools: [
    {
      name: 'note',
      async execute({ line }: { line: string }) {
        await pause(Math.random() * 4)
        appendFileSync(LINES, `${line}\n`)
        await pause(Math.random() * 4)
        return line
      },
    },
  ],
  async *run(input, { ask, callTool, step }) {
    const job = textOf(input)
    const done: unknown[] = []
    for (let round = 0; round < 3; round++) {
      done.push(yield* callTool('note', { line: `${job} ${done.length}` }))
      done.push(yield* step('work', () => appendFileSync(LINES, `${job} ${done.length}\n`)))
      yield `${round} `
      if (round < 2) yield* ask('on')
    }
    yield `done ${done.length}`
  },
})

const handler = createHandler({
  agents: { works },
  state: await stateAt(DATABASE),
  runs: { maxRunningPerOwner: 100 },
  logger: false,
})
const server = await serve(handler, { port: Number(PORT) })
console.log(`listening ${server.url}`)
