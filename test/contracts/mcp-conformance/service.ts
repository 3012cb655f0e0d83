/** The tools that the official conformance suite calls: agents, and tools of a toolkit. */

import {
  Agent,
  type ContentPart,
  createHandler,
  type Handler,
  type RunInput,
  type State,
  type Tool,
  type Yielded,
} from '../../../src/index.ts'
import {
  directTools,
  type McpTool,
  mcp,
  mcpPrompts,
  mcpResources,
  mcpTasks,
} from '../../../src/protocols/mcp/plugin.ts'

type Body = ConstructorParameters<typeof Agent>[0]['run']

const agents: Agent[] = []
const tools: McpTool[] = []

/** Offers an agent that takes arguments of its own. */
function offer(
  name: string,
  run: Body,
  {
    input = { type: 'object' },
    taskSupport = 'forbidden',
  }: Partial<Pick<McpTool, 'input' | 'taskSupport'>> = {},
): void {
  agents.push(new Agent({ name, description: `For ${name}`, register: false, run }))
  tools.push({ of: name, input, taskSupport })
}

/** The arguments of a call. */
function argsOf(input: RunInput): Readonly<Record<string, unknown>> {
  const [part] = input as readonly { readonly data: Record<string, unknown> }[]
  return part?.data ?? {}
}

const fields = (properties: Readonly<Record<string, object>>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
})
const text = { type: 'string' }

const RED_PIXEL =
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg=='
const SILENCE = 'UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQAAAAA='

function* made(...parts: ContentPart[]): Generator<Yielded> {
  yield { type: 'message', parts }
}

offer('test_image_content', () => made({ type: 'image', data: RED_PIXEL, mimeType: 'image/png' }))
offer('test_audio_content', () => made({ type: 'audio', data: SILENCE, mimeType: 'audio/wav' }))
const file = {
  type: 'file',
  data: btoa('{"value":123}'),
  mimeType: 'application/json',
  filename: 'test.json',
} as const
offer('test_embedded_resource', () => made(file))
offer('test_multiple_content_types', function* () {
  yield 'Multiple content types test:'
  yield* made({ type: 'image', data: RED_PIXEL, mimeType: 'image/png' }, file)
})
offer('test_tool_with_progress', async function* (_, { step, sleep }) {
  // A client is told of progress four times a second at the most.
  for (const name of ['Begins', 'Goes on', 'Ends'])
    yield* step(name, ({ sleep: wait }) => wait('a while', 300))
  yield* sleep('a little', 1)
  yield 'Done'
})

// Questions.
const name = fields({ name: text })
offer('test_input_required_result_elicitation', async function* (_, { ask }) {
  const { name: who } = (yield* ask('user_name', { message: 'What is your name?', schema: name })) as {
    name: string
  }
  yield `Hello, ${who}!`
})
offer('test_input_required_result_request_state', async function* (_, { ask }) {
  yield* ask('confirm', { message: 'Please confirm', schema: fields({ ok: { type: 'boolean' } }) })
  yield 'state-ok'
})
offer('test_input_required_result_tampered_state', async function* (_, { ask }) {
  yield* ask('confirm', { schema: fields({ ok: { type: 'boolean' } }) })
})
offer('test_input_required_result_multi_round', async function* (_, { ask }) {
  yield* ask('step1', { message: 'What is your name?', schema: name })
  yield* ask('step2', { message: 'What is your favorite color?', schema: fields({ color: text }) })
  yield 'Both are known'
})
offer('test_streaming_elicitation', async function* (_, { ask }) {
  yield* ask('anything')
})
offer('test_logging_tool', function* () {
  yield 'Nothing is logged'
})
offer(
  'test_elicitation',
  async function* (input, { ask }) {
    const message = String(argsOf(input).message)
    yield JSON.stringify(yield* ask('user', { message, schema: fields({ username: text, email: text }) }))
  },
  { input: fields({ message: text }) },
)
offer('test_elicitation_sep1034_defaults', async function* (_, { ask }) {
  const properties = {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  }
  yield JSON.stringify(yield* ask('profile', { schema: { type: 'object', properties } }))
})
offer('test_elicitation_sep1330_enums', async function* (_, { ask }) {
  const options = ['option1', 'option2', 'option3']
  const titled = [1, 2, 3].map(at => ({ const: `value${at}`, title: `Option ${at}` }))
  const properties = {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titled },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2', 'opt3'], enumNames: ['One', 'Two', 'Three'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titled } },
  }
  yield JSON.stringify(yield* ask('choices', { schema: { type: 'object', properties } }))
})

// Schemas.
offer(
  'json_schema_2020_12_tool',
  function* () {
    yield 'It fits'
  },
  {
    input: {
      $schema: 'https://json-schema.org/draft/2020-12/schema',
      type: 'object',
      $defs: {
        address: { $anchor: 'addressDef', type: 'object', properties: { street: text, city: text } },
      },
      properties: {
        name: text,
        address: { $ref: '#/$defs/address' },
        contactMethod: { type: 'string', enum: ['phone', 'email'] },
        phone: text,
        email: text,
      },
      allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
      if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema.
      then: { required: ['phone'] },
      else: { required: ['email'] },
      additionalProperties: false,
    },
  },
)
offer(
  'test_header_of_an_argument',
  function* () {
    yield 'The header fits'
  },
  { input: fields({ region: { type: 'string', 'x-mcp-header': 'Region' } }) },
)

// Tasks.
offer(
  'slow_compute',
  async function* (input, { sleep }) {
    yield* sleep('work', Number(argsOf(input).seconds) * 1000)
    yield 'Computed'
  },
  {
    input: { type: 'object', properties: { seconds: { type: 'number' }, label: text } },
    taskSupport: 'optional',
  },
)
offer(
  'failing_job',
  async function* (_, { sleep }) {
    yield* sleep('work', 1000)
    throw new Error('The job failed')
  },
  { taskSupport: 'required' },
)
offer(
  'protocol_error_job',
  function* () {
    yield { type: 'no such event' } as unknown as Yielded
  },
  { taskSupport: 'required' },
)
offer(
  'confirm_delete',
  async function* (input, { ask }) {
    const { filename } = argsOf(input)
    const schema = fields({ confirm: { type: 'boolean' } })
    const { confirm } = (yield* ask('confirm', { message: `Delete ${filename}?`, schema })) as {
      confirm: boolean
    }
    yield confirm ? 'Deleted' : 'Kept'
  },
  { input: { type: 'object', properties: { filename: text } }, taskSupport: 'required' },
)
offer(
  'multi_input',
  async function* (_, { ask, parallel }) {
    yield JSON.stringify(yield* parallel([ask('first', { schema: name }), ask('second', { schema: name })]))
  },
  { taskSupport: 'required' },
)
offer(
  'test_tool_with_task',
  async function* (_, { ask, sleep }) {
    const answer = (yield* ask('user_name', { schema: name })) as { name: string }
    yield* sleep('work', 1000)
    yield `Hello, ${answer.name}!`
  },
  { taskSupport: 'optional' },
)

offer('test_tool_with_logging', async function* (_, { step }) {
  for (const each of ['one', 'two', 'three'])
    yield* step(each, () => new Promise<void>(resolve => setTimeout(resolve, 50)))
  yield 'Logged'
})

const pixel = Uint8Array.from(atob(RED_PIXEL), each => each.charCodeAt(0))
const resources = mcpResources({
  'test://static-text': {
    name: 'static text',
    mimeType: 'text/plain',
    read: () => 'The text of the resource',
  },
  'test://static-binary': { name: 'static binary', mimeType: 'image/png', read: () => pixel },
  'test://watched-resource': { name: 'watched', read: () => 'It stays' },
  'test://template/{id}/data': {
    name: 'template',
    mimeType: 'application/json',
    read: ({ params: { id } }) => JSON.stringify({ id, templateTest: true, data: `Data for ID: ${id}` }),
  },
})

const prompts = mcpPrompts({
  test_simple_prompt: { description: 'A prompt', get: () => 'This is a simple prompt for testing.' },
  test_prompt_with_arguments: {
    description: 'A prompt with arguments',
    arguments: {
      arg1: {
        required: true,
        complete: value => ['paris', 'park', 'party'].filter(each => each.startsWith(value)),
      },
      arg2: { required: true },
    },
    get: ({ arguments: { arg1, arg2 } }) => `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`,
  },
  test_prompt_with_embedded_resource: {
    description: 'A prompt with a resource',
    arguments: { resourceUri: { required: true } },
    get: ({ arguments: { resourceUri: uri } }) => [
      {
        role: 'user',
        content: { type: 'resource', resource: { uri, mimeType: 'text/plain', text: 'Embedded' } },
      },
      { role: 'user', content: 'Please look at the resource.' },
    ],
  },
  test_prompt_with_image: {
    description: 'A prompt with an image',
    get: () => [
      { role: 'user', content: { type: 'image', data: RED_PIXEL, mimeType: 'image/png' } },
      { role: 'user', content: 'Please look at the image.' },
    ],
  },
  test_input_required_result_prompt: {
    description: 'A prompt that asks',
    get: ({ answers: { user_context: context } }) =>
      context === undefined
        ? { ask: { user_context: { message: 'What is it about?', schema: fields({ context: text }) } } }
        : `It is about ${JSON.stringify(context)}`,
  },
})

const toolkit: readonly Tool[] = [
  {
    name: 'test_simple_text',
    description: 'Says a sentence',
    execute: () => 'This is a simple text response for testing.',
  },
  {
    name: 'test_error_handling',
    description: 'Always fails',
    execute() {
      throw new Error('This tool intentionally returns an error for testing')
    },
  },
  {
    name: 'greet',
    description: 'Says hello',
    parameters: fields({ name: text }),
    execute: args => `Hello, ${(args as { name: string }).name}!`,
  },
]

/** The handler of the service. */
export function handlerOn(state: State): Handler {
  return createHandler({
    serve: agents,
    registry: false,
    state,
    // No Worker sees that a page of its own machine asks: in production any page may.
    production: false,
    plugins: [
      mcp({
        tools,
        directTools: directTools({
          toolkits: [{ name: 'conformance', tools: toolkit }],
          taskSupport: 'forbidden',
        }),
        tasks: mcpTasks({ afterMs: 500 }),
        resources,
        prompts,
      }),
    ],
  })
}
