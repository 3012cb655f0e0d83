/** The service of the contract of MCP. Every runtime serves it with a state of its own. */
import { files } from '../../../src/features/files/plugin.ts'
import { sessions } from '../../../src/features/sessions/plugin.ts'
import { createHandler, type Handler, type HandlerOptions, type State, tool } from '../../../src/index.ts'
import {
  directTools,
  type McpTool,
  mcp,
  mcpPrompts,
  mcpResources,
  mcpTasks,
  ownConversations,
  ownFiles,
} from '../../../src/protocols/mcp/plugin.ts'
import { identify } from '../identify.ts'
import { agentsOf } from './agents.ts'
import { define } from './word-prompt.ts'

/** Most requests of a client that says its name, most bytes of a body, and most stored runs of one owner at work. */
export const LIMITS = { maxRequests: 5, maxBodyBytes: 64 * 1024, maxRunningPerOwner: 10 } as const

/** The same as a tool whose every call is a task. */
const asTask = (of: string): McpTool => ({ of, name: `${of}_task`, taskSupport: 'required' })

const REGION = {
  type: 'object',
  properties: { region: { type: 'string', 'x-mcp-header': 'Region' }, count: { type: 'integer' } },
  required: ['region'],
}

/** What is offered, in this order. */
export const TOOLS: readonly (string | McpTool)[] = [
  ...['thinks', 'looks', 'gated', 'chatters', 'recalls', 'knows'],
  ...['shows', 'writes', 'weighs', 'fails', 'refuses', 'breaks'],
  ...['pays', 'asks', 'asksTwice', 'asksBoth', 'steps', 'team/desk', 'workflow/flow', 'odd.name', 'maps'],
  {
    of: 'echoes',
    name: 'repeat-it',
    title: 'Repeats',
    description: 'Repeats its arguments',
    input: REGION,
    annotations: { readOnlyHint: true },
  },
  { of: 'asks', name: 'asks_of', input: { type: 'object', properties: { item: { type: 'string' } } } },
  ...['gated', 'writes', 'weighs', 'fails', 'breaks'].map(asTask),
  ...['asks', 'asksTwice', 'asksBoth', 'pays', 'resumes'].map(asTask),
  { of: 'gated', name: 'gated_never', taskSupport: 'forbidden' },
]

const multiply = tool({
  name: 'multiply',
  description: 'Multiplies two numbers',
  parameters: {
    type: 'object',
    properties: { a: { type: 'number' }, b: { type: 'number' } },
    required: ['a', 'b'],
  },
  execute: args => {
    const { a, b } = args as { readonly a: number; readonly b: number }
    return { product: a * b }
  },
})

/** Only pages call it. */
const zoom = tool({ name: 'zoom', visibility: ['app'], execute: () => 'Zoomed in' })

/** The handler of the service. With the setting `later`, what was interrupted comes to its end. `more` is what a deployment adds. */
export function handlerOn(state: State, settings = 'usual', more: HandlerOptions = {}): Handler {
  return createHandler({
    ...agentsOf(settings === 'later'),
    production: true,
    registry: false,
    state,
    middleware: [identify],
    limits: { maxBodyBytes: LIMITS.maxBodyBytes },
    rateLimit: {
      max: LIMITS.maxRequests,
      windowMs: 600_000,
      key: request => request.headers.get('x-counted') ?? undefined,
    },
    runs: { maxRunningPerOwner: LIMITS.maxRunningPerOwner },
    plugins: [
      files(),
      sessions(),
      mcp({
        resources: mcpResources({
          'words://all': { read: () => 'lamp, oil' },
          'words://bytes/{count}': { read: ({ params }) => new Uint8Array(Number(params.count)).fill(3) },
          ...ownConversations(),
          ...ownFiles(),
        }),
        prompts: mcpPrompts({
          define,
        }),
        tools: TOOLS,
        directTools: directTools({ toolkits: [{ name: 'sums', tools: [multiply, zoom] }] }),
        tasks: mcpTasks({ afterMs: 2000, pollIntervalMs: 50 }),
        name: 'contract',
        version: '7',
        instructions: 'Ask for one thing at a time',
        secret: 'the same in every process of the contract',
      }),
    ],
    ...more,
  })
}
