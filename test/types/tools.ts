/** A tool's arguments have the type of its schema: compiled, and never run. */
import * as v from 'valibot'
import { z } from 'zod'
import { ModelAgent } from '../../src/adapters/model-agent/index.ts'
import {
  Agent,
  type ServableAgent,
  type Tool,
  type ToolContext,
  type Toolkit,
  tool,
} from '../../src/index.ts'

/** Compiles only if both types are the same. */
type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false
const same = <A, B>(_: Same<A, B>): void => {}

/** A schema of any library with Standard Schema, as types only. */
declare const standard: {
  readonly '~standard': {
    readonly types?: { readonly input: string; readonly output: { readonly at: Date } }
  }
}

const city = v.object({ city: v.string() })
const plain: Tool = { name: 'plain', execute: () => 1 }
const typed: Tool<number, string> = { name: 'typed', execute: count => `${count}` }

const agent = new Agent({
  name: 'a',
  register: false,
  run: () => '',
  tools: [
    { name: 'valibot', parameters: city, execute: args => void same<typeof args, { city: string }>(true) },
    {
      name: 'zod',
      parameters: z.object({ count: z.coerce.number() }),
      async execute(args, context) {
        same<typeof args, { count: number }>(true)
        same<typeof context, ToolContext>(true)
        return args.count + 1
      },
    },
    { name: 'any library', parameters: standard, execute: args => void same<typeof args.at, Date>(true) },
    {
      name: 'JSON Schema',
      parameters: { type: 'object' },
      execute: args => void same<typeof args, unknown>(true),
    },
    { name: 'no schema', execute: args => void same<typeof args, unknown>(true) },
    plain,
    typed,
  ],
})

new ModelAgent({
  name: 'm',
  model: 'openai/gpt-5',
  register: false,
  tools: [
    { name: 'valibot', parameters: city, execute: args => void same<typeof args, { city: string }>(true) },
    // @ts-expect-error: the schema has no such field
    { name: 'wrong', parameters: city, execute: ({ town }) => town },
  ],
})
new ModelAgent({ name: 'm', model: 'openai/gpt-5', register: false, tools: async () => [plain] })

const forecast = tool({ name: 'forecast', parameters: city, execute: args => args.city.length })
same<typeof forecast, Tool<{ city: string }, number>>(true)
const kit: Toolkit = { name: 'weather', tools: [forecast, plain] }
const library: Readonly<Record<string, Tool>> = { forecast }
new Agent({
  name: 'b',
  register: false,
  tools: kit.tools ?? [],
  async *run(_, context) {
    const length = yield* context.callTool(forecast, { city: 'Oslo' })
    same<typeof length, number>(true)
    // @ts-expect-error: the tool needs a city
    yield* context.callTool(forecast, { town: 'Oslo' })
  },
})
new Agent({
  name: 'c',
  register: false,
  run: () => '',
  // @ts-expect-error: the schema has no such field
  tools: [{ name: 'wrong', parameters: city, execute: ({ town }) => town }],
})

const anyAgent: Agent = agent
const servable: ServableAgent = agent

export { anyAgent, library, servable }
