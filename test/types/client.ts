/** Types of a handler's agents in the client: compiled, and never run. */
import * as v from 'valibot'
import { ModelAgent } from '../../src/adapters/model-agent/index.ts'
import { type Client, createClient, type RunEvent, type RunResult } from '../../src/client/index.ts'
import {
  Agent,
  createHandler,
  type Handler,
  type HandlerOptions,
  type ServableAgent,
  textOf,
} from '../../src/index.ts'

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

const baseUrl = 'http://127.0.0.1:8787/api'
const echo = new Agent({ name: 'echo', register: false, run: input => textOf(input) })

const output = v.object({ celsius: v.number() })
const guess = new ModelAgent({ name: 'guess', model: 'openai/gpt-5', output, register: false })
const measure = new Agent({
  name: 'measure',
  output,
  run: () => ({ structured: { celsius: 7 } }),
  register: false,
})

const handler = createHandler({
  agents: {
    echo,
    guess,
    measure,
    weather: {
      output: v.object({ celsius: v.number() }),
      run: (input, options) => Promise.reject([textOf(input), options?.signal?.aborted]),
    },
  },
  production: true,
})
const client = createClient<typeof handler>({ baseUrl })

// Names are known if agents are given by name.
client.agent('echo')
client.agent('weather')
// @ts-expect-error: no agent has this name
client.agent('nobody')
// @ts-expect-error: a name is text
client.agent(7)
// No teams were given, so the registry may have any.
client.team('anything')

// Structured output has the type of its schema. Without a schema it is any object.
const weather = await client.agent('weather').run('Oslo')
same<typeof weather.structured, { celsius: number } | null>(true)
const said = await client.agent('echo').stream('x').result()
same<typeof said, RunResult>(true)

// The same for the classes: an agent of your own, and a model-backed one.
const guessed = await client.agent('guess').run('Oslo')
same<typeof guessed.structured, { celsius: number } | null>(true)
const measured = await client.agent('measure').stream('Oslo').result()
same<typeof measured.structured, { celsius: number } | null>(true)

// Names in a list are known too.
const list = createHandler({ serve: [guess, measure, echo] })
const ofList = createClient<typeof list>({ baseUrl })
const fromList = await ofList.agent('guess').run('Oslo')
same<typeof fromList.structured, { celsius: number } | null>(true)
// @ts-expect-error: no agent of the list has this name
ofList.agent('nobody')
const someAgent: ServableAgent = echo
const mixed = createHandler({ serve: [guess, someAgent] })
createClient<typeof mixed>({ baseUrl }).agent('anything')
const anyAgents: Agent[] = [guess, measure, echo]
const unknowing = createHandler({ serve: anyAgents })
createClient<typeof unknowing>({ baseUrl }).agent('anything')

// A plain stream has no result. Every stream gives events.
for await (const event of client.agent('echo').stream('x', { follow: false }))
  same<typeof event, RunEvent>(true)
// @ts-expect-error: a plain run has no record to read it from
client.agent('echo').stream('x', { follow: false }).result
// @ts-expect-error: a plain run has no key
client.agent('echo').run('x', { follow: false, idempotencyKey: 'k' })
// @ts-expect-error: teams take no corrections
client.team('desk').corrections

// Without a handler, or if its options were made elsewhere, every name is allowed.
createClient({ baseUrl }).agent('anything')
const options: HandlerOptions = {}
const open = createHandler(options)
createClient<typeof open>({ baseUrl }).agent('anything')
createClient<Handler>({ baseUrl }).agent('anything')
const listed = createHandler({ serve: [echo] })
createClient<typeof listed>({ baseUrl }).workflow('anything')

// A typed client or handler is assignable to an untyped one.
const anyClient: Client = createClient({ baseUrl })
const anyHandler: Handler = handler
const own: Handler = request => Promise.resolve(new Response(request.url))

export { anyClient, anyHandler, own }

// Options are still checked.
// @ts-expect-error: there is no such option
createHandler({ agents: { echo }, nothing: 1 })
// @ts-expect-error: a port is no agent
createHandler({ agents: { echo: 8787 } })
// @ts-expect-error: `baseUrl` must be given
createClient({})
