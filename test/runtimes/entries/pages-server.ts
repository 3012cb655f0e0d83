// A service whose runs go on elsewhere where their process dies, over each protocol of a page. Its state is at DATABASE.
import process from 'node:process'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { Agent, createHandler, type Handler, textOf } from '../../../src/index.ts'
import { agUi } from '../../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../../src/protocols/ai-sdk-ui/plugin.ts'
import { openai } from '../../../src/protocols/openai/plugin.ts'
import type { RunningServer } from '../../../src/runtimes/server.ts'
import { sleep } from '../../contracts/fixture/record.ts'
import { identify } from '../../contracts/identify.ts'
import { stateAt } from './state.ts'

const state = await stateAt(process.env.DATABASE)

/** The gates that tests have opened. */
const gates = new Set<string>()

/** Says 0, waits for the gate in its input, and says the other numbers up to 59 one after the other. */
const numbers = new Agent({
  name: 'numbers',
  register: false,
  resume: true,
  async *run(input, { signal }) {
    for (let number = 0; number < 60 && !signal.aborted; number++) {
      yield `${number} `
      do await sleep(10)
      while (!gates.has(textOf(input)) && !signal.aborted)
    }
  },
})

export const handler: Handler = createHandler({
  production: true,
  serve: [numbers],
  registry: false,
  state,
  middleware: [identify],
  plugins: [agUi(), aiSdkUi({ resume: true }), openai(), sessions()],
  // `/probe/open` opens a gate.
  fallback(request) {
    const { pathname, searchParams } = new URL(request.url)
    if (pathname !== '/probe/open') return new Response('', { status: 404 })
    gates.add(searchParams.get('gate') ?? '')
    return new Response()
  },
})

/** Prints the server's address and the process id. */
export function tell(server: RunningServer): void {
  console.log(`pid ${process.pid}, listening ${server.url}`)
}
