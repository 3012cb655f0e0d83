/**
 * Bodies at their bound, made of the smallest wrong items, at every place where a client may put them. What is counted is
 * work: how often anything looks at a value of the body.
 */

import { afterEach, describe, expect, it, vi } from 'vitest'
import { ToolServerManager } from '../../src/adapters/mcp-client/index.ts'
import { callerKeys } from '../../src/features/keys/plugin.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { webhooks } from '../../src/features/webhooks/plugin.ts'
import {
  Agent,
  createHandler,
  openapi as documentOf,
  type HandlerOptions,
  memoryState,
  Registry,
} from '../../src/index.ts'
import { agUi } from '../../src/protocols/ag-ui/plugin.ts'
import { aiSdkUi } from '../../src/protocols/ai-sdk-ui/plugin.ts'
import { anthropic } from '../../src/protocols/anthropic/plugin.ts'
import { langGraph } from '../../src/protocols/langgraph-api/plugin.ts'
import { directTools, mcp, mcpTasks } from '../../src/protocols/mcp/plugin.ts'
import { openai } from '../../src/protocols/openai/plugin.ts'
import { MAX_JSON_VALUES } from '../../src/web/json.ts'
import { eventually } from '../eventually.ts'
import { connect, settled } from '../protocols/event-socket/gateway/wire.ts'

/** As many as the parser takes, with room for what stands around them: an item with a value inside it counts as two. */
const MOST = MAX_JSON_VALUES / 2 - 100

/** More than anybody may look at. */
const MANY = 30_000

/** Looks at a wrong value: its tag, its length, a few of its members, for each schema that it may be meant for. */
const FEW_LOOKS = 20_000

const repeated = (item: string, count: number) => `[${`${item},`.repeat(count - 1)}${item}]`
const LARGEST = repeated('[0]', MOST)
const HOSTILE: readonly [name: string, json: string][] = [
  ...['0', '{}', '[]', '""', 'null', 'true', '[0]'].map(
    item => [`many ${item}`, repeated(item, MANY)] as const,
  ),
  ['as many [0] as the parser takes', LARGEST],
  ['many names', `{${Array.from({ length: MANY }, (_, at) => `"${at.toString(36)}":0`).join()}}`],
].map(([name = '', json = '']) => [name, json])

/** MCP, with a tool of each kind: of text, of a schema, and without an agent. */
const tools = mcp({
  tools: ['echo', { of: 'echo', name: 'shaped', input: { type: 'array' } }],
  directTools: directTools({
    toolkits: [
      {
        name: 'kit',
        tools: [{ name: 'add', parameters: { type: 'object', required: ['a'] }, execute: () => 1 }],
      },
    ],
  }),
  tasks: mcpTasks(),
})

const options: HandlerOptions = {
  production: true,
  logger: false,
  registry: new Registry(),
  agents: { echo: new Agent({ name: 'echo', register: false, run: () => 'hi', corrections: true }) },
  middleware: [
    (_, context, next) => {
      context.identity = { id: 'ada' }
      return next()
    },
  ],
  state: memoryState(),
  limits: { maxBodyBytes: 16_000_000 },
  a2a: { default: 'echo', push: true, maxBodyBytes: 16_000_000 },
  gateway: { limits: { maxPayload: 16_000_000 } },
  admin: { manager: new ToolServerManager({ register: false }), authenticate: () => ({ id: 'ada' }) },
  plugins: [
    sessions(),
    aiSdkUi({ resume: true }),
    agUi(),
    openai({ path: '/openai/v1' }),
    anthropic(),
    langGraph(),
    tools,
    callerKeys({ authenticate: () => ({ id: 'ada' }) }),
    webhooks({ clients: true }),
  ],
}
const handler = createHandler(options)

/** An id that no run has. */
const NO_RUN = '00000000-0000-4000-8000-000000000000'

/** What a page of the AI SDK may send. A chat has any parts, metadata and data: of some it takes what it knows, and looks at few. */
const CHATS = [
  '@',
  '{"id":"c","messages":@}',
  '{"id":"c","messages":[@]}',
  '{"id":@,"trigger":@,"messageId":@,"messages":[{"id":"u","role":"user","parts":[{"type":"text","text":@}]}]}',
  '{"id":"c","messages":[{"id":@,"role":@,"parts":@}]}',
  '{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":@}]}]}',
  '{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"file","url":@,"mediaType":@,"filename":@}]}]}',
  '{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}],"clientTools":@}',
  '{"id":"c","messages":[{"id":"u","role":"user","parts":[{"type":"text","text":"x"}]}],"clientTools":[{"name":@,"parameters":@}]}',
  '{"id":"c","messages":[{"id":"a","role":"assistant","parts":[{"type":"dynamic-tool","toolName":"t","toolCallId":@,"state":@,"approval":@}]}]}',
  '{"id":"c","messages":[{"id":"a","role":"assistant","metadata":@,"parts":[{"type":"tool-t","approval":{"id":@,"approved":@}}]}]}',
]

/** What a client of LangGraph may send to start a run. */
const GRAPH_RUNS = [
  '@',
  '{"assistant_id":@,"input":@}',
  '{"assistant_id":"nobody","input":{"messages":@,"tools":@}}',
  '{"assistant_id":"nobody","input":{"messages":[@]}}',
  '{"assistant_id":"nobody","input":{"messages":[{"type":@,"role":@,"id":@,"content":@}]}}',
  '{"assistant_id":"nobody","input":{"messages":[{"type":"human","content":[@]}]}}',
  '{"assistant_id":"nobody","input":{"messages":[{"type":"human","content":[{"type":@,"image_url":@,"data":@,"url":@,"mime_type":@,"metadata":@}]}]}}',
  '{"assistant_id":"nobody","input":{"messages":[{"type":"ai","content":@,"tool_calls":@},"x"]}}',
  '{"assistant_id":"nobody","input":{"messages":["x",{"type":"tool","tool_call_id":@,"content":@}]}}',
  '{"assistant_id":"nobody","command":@,"config":@,"context":@,"metadata":@}',
  '{"assistant_id":"nobody","input":"x","command":{"resume":@,"update":@,"goto":@},"config":{"configurable":@}}',
  '{"assistant_id":"nobody","input":"x","stream_mode":@,"checkpoint":@,"checkpoint_id":@,"multitask_strategy":@,"if_not_exists":@}',
  '{"assistant_id":"nobody","input":"x","interrupt_before":@,"after_seconds":@,"webhook":@,"on_disconnect":@,"on_completion":@}',
]

/** A body of AG-UI. */
const inputOf = (message: string) => `{"threadId":"t","runId":"r","messages":[${message}]}`

/** A body of Chat Completions, and one of Responses. */
const completionOf = (message: string) => `{"model":"echo","messages":[${message}]}`
const messagesOf = completionOf
const responseOf = (item: string) => `{"model":"echo","input":[${item}]}`

/** Where a hostile value stands: each `@` in turn is where it may stand in a body. `POST` where no other method is named. */
const HTTP: readonly [path: string, bodies: readonly string[]][] = [
  [
    '/api/agents/echo/run',
    [
      '@',
      '{"input":@}',
      '{"input":[@]}',
      '{"input":[{"type":@}]}',
      '{"input":[{"type":"file","data":"aGk=","mimeType":@}]}',
      '{"input":"x","sessionId":@,"messageId":@,"replaces":@,"userId":@,"apiKey":@,"background":@,"webhook":@}',
      '{"input":"x","background":true,"webhook":{"url":@}}',
      '{"input":"x","history":@,"clientTools":@,"memory":@}',
      '{"input":"x","history":[@]}',
      '{"input":"x","history":[{"role":@,"content":@}]}',
      '{"input":"x","history":[{"role":"assistant","content":@,"toolCalls":@}]}',
      '{"input":"x","history":[{"role":"tool","toolCallId":@,"toolName":@,"result":@}]}',
      '{"input":"x","clientTools":[{"name":@,"description":@,"parameters":@}]}',
    ],
  ],
  ['/api/agents/echo/stream', ['{"input":@}']],
  ...['/api/agents/echo/chat', '/api/chat'].map((path): [string, string[]] => [path, CHATS]),
  ['/api/admin/tools/none/call', ['@', '{"args":@}']],
  ['/api/agents/echo/corrections', ['@', '{"originalValue":1,"correctedValue":2,"tags":@,"field":@}']],
  [
    `/api/runs/${NO_RUN}/answers`,
    [
      '@',
      '{"answers":@}',
      '{"answers":[@]}',
      '{"answers":[{"id":@,"decision":@,"digest":@}]}',
      '{"answers":[{"id":"a","decision":"approve","reason":@,"args":@}]}',
      '{"answers":[{"id":"a","value":1}],"apiKey":@,"background":@}',
    ],
  ],
  [`/api/runs/${NO_RUN}/resume`, ['[@]', '{"apiKey":@}', '{"background":@}']],
  [`/api/runs/${NO_RUN}/retry`, ['[@]', '{"apiKey":@}', '{"background":@}']],
  [
    '/api/webhooks',
    ['@', '{"url":@}', '{"url":"https://h.example/","events":@,"agents":@,"contents":@,"secret":@}'],
  ],
  ['PATCH /api/webhooks/none', ['@', '{"url":@,"events":@,"agents":@,"enabled":@}']],
  ['/api/webhooks/none/secret', ['@', '{"secret":@}']],
  ['/api/sessions', ['@', '{"name":@}', '{"name":"echo","kind":@,"title":@}']],
  [
    `/api/runs/${NO_RUN}/feedback`,
    ['@', '{"score":@}', '{"text":@,"correction":@}', '{"score":1,"sessionId":@,"kind":@,"name":@}'],
  ],
  [
    '/api/agents/echo/ag-ui',
    [
      '@',
      '{"threadId":@,"runId":@,"protocolVersion":@,"messages":@}',
      inputOf('{"id":@,"role":@}'),
      inputOf('{"id":"1","role":"user","content":@}'),
      inputOf('{"id":"1","role":"user","content":[{"type":@}]}'),
      inputOf('{"id":"1","role":"user","content":[{"type":"image","source":@}]}'),
      inputOf('{"id":"1","role":"user","content":[{"type":"binary","mimeType":@,"data":@,"url":@}]}'),
      inputOf('{"id":"1","role":"assistant","content":@,"toolCalls":@}'),
      inputOf('{"id":"1","role":"assistant","toolCalls":[{"id":@,"function":@}]}'),
      inputOf('{"id":"1","role":"tool","toolCallId":@,"content":@,"error":@}'),
      '{"threadId":"t","runId":"r","messages":[],"tools":@,"context":@,"resume":@}',
      '{"threadId":"t","runId":"r","messages":[],"tools":[{"name":@,"description":@}],"context":[{"description":@,"value":@}]}',
      '{"threadId":"t","runId":"r","messages":[],"resume":[{"interruptId":@,"status":@}]}',
    ],
  ],
  [
    '/openai/v1/chat/completions',
    [
      '@',
      '{"model":"echo","messages":@}',
      // Of what it ignores it looks at nothing.
      '{"model":"echo","messages":[],"tools":@,"logit_bias":@}',
      completionOf('@'),
      completionOf('{"role":"user","content":@}'),
      completionOf('{"role":"user","content":[{"type":"image_url","image_url":@}]}'),
      completionOf('{"role":"user","content":[{"type":"input_audio","input_audio":{"data":0,"format":@}}]}'),
      completionOf('{"role":"assistant","tool_calls":@}'),
      completionOf('{"role":"assistant","tool_calls":[{"id":@,"function":@}]}'),
      '{"model":"echo","messages":[{"role":"user","content":"x"}],"tools":[{"type":"function","function":@}]}',
    ],
  ],
  [
    '/openai/v1/responses',
    [
      '{"model":@,"input":@}',
      '{"model":"echo","input":"x","conversation":@}',
      '{"model":"echo","input":[],"metadata":@,"reasoning":@}',
      responseOf('@'),
      responseOf('{"type":"function_call_output","call_id":"c","output":@}'),
      responseOf('{"type":"item_reference","id":@}'),
      responseOf('{"type":"mcp_approval_response","approval_request_id":@,"reason":@}'),
    ],
  ],
  ['/openai/v1/responses/none/cancel', ['@']],
  [
    '/anthropic/v1/messages',
    [
      '@',
      '{"model":@,"messages":@}',
      // Of what it ignores it looks at nothing.
      '{"model":"echo","messages":[],"system":@,"tools":@,"tool_choice":@,"thinking":@,"thread":@,"metadata":@}',
      messagesOf('@'),
      messagesOf('{"role":@,"content":@}'),
      messagesOf('{"role":"user","content":[{"type":@}]}'),
      messagesOf('{"role":"user","content":[{"type":"image","source":@}]}'),
      messagesOf('{"role":"user","content":[{"type":"document","source":{"type":"base64","data":@}}]}'),
      messagesOf('{"role":"user","content":[{"type":"document","source":{"type":"content","content":@}}]}'),
      messagesOf('{"role":"user","content":[{"type":"tool_result","tool_use_id":@,"content":@}]}'),
      messagesOf('{"role":"assistant","content":[{"type":"tool_use","id":@,"name":@}]}'),
      '{"model":"echo","messages":[{"role":"user","content":"x"}],"tools":[{"name":@,"description":@,"input_schema":@}]}',
    ],
  ],
  ['/anthropic/v1/messages/count_tokens', ['@', '{"model":@,"messages":@,"tools":@}']],
  ...['/langgraph/runs/wait', '/langgraph/runs/stream', `/langgraph/threads/${NO_RUN}/runs/wait`].map(
    (path): [string, string[]] => [path, GRAPH_RUNS],
  ),
  ['/langgraph/runs/batch', ['@', '[@]', '[{"assistant_id":@,"input":@}]']],
  ['/langgraph/runs/cancel', ['@', '{"thread_id":@,"run_ids":@,"status":@}']],
  ['/langgraph/assistants/search', ['{"graph_id":@,"name":@,"metadata":@,"limit":@,"offset":@}']],
  [
    '/langgraph/threads',
    [
      '{"thread_id":@}',
      '{"thread_id":"x","metadata":@,"if_exists":@,"supersteps":@}',
      '{"thread_id":"x","metadata":{"graph_id":@}}',
    ],
  ],
  [
    '/langgraph/threads/search',
    [
      '{"metadata":@,"ids":@,"values":@,"status":@,"sort_by":@,"sort_order":@,"select":@,"limit":@,"offset":@}',
    ],
  ],
  [`PATCH /langgraph/threads/${NO_RUN}`, ['@', '{"metadata":@}']],
  [`/langgraph/threads/${NO_RUN}/state`, ['@', '{"values":@,"as_node":@,"checkpoint":@,"checkpoint_id":@}']],
  [`/langgraph/threads/${NO_RUN}/history`, ['@', '{"limit":@,"before":@,"metadata":@}']],
  [
    '/api/keys',
    [
      '@',
      '{"owner":@,"name":@,"scopes":@,"expiresAt":@,"rate":@}',
      '{"owner":"a","name":"b","scopes":[@]}',
      '{"owner":"a","name":"b","scopes":["run"],"rate":{"max":@,"windowMs":@}}',
    ],
  ],
  ['PATCH /api/keys/none', ['@', '{"name":@,"scopes":@,"expiresAt":@,"rate":@}']],
  ['/api/keys/none/rotate', ['@', '{"graceMs":@}']],
  ['PATCH /api/agents/echo/sessions/none', ['@', '{"title":@}']],
  ['/api/agents/echo/sessions/none/fork', ['@', '{"runId":@}', '{"runId":"x","title":@}']],
  [
    '/api/admin/mcp',
    [
      '@',
      '{"name":"a","transport":"http","url":"https://h.example/","headers":@}',
      '{"name":"a","transport":"stdio","command":"c","args":@,"env":@}',
      '{"name":@,"transport":@,"url":@}',
    ],
  ],
  [
    '/v1/message:send',
    ['@', '{"message":@}', '{"message":{"messageId":"1","role":"ROLE_USER","content":@}}'],
  ],
  ['/message:send', ['{"message":{"messageId":"1","role":"ROLE_USER","parts":@}}']],
  ['/message:stream', ['{"message":{"messageId":"1","role":"ROLE_USER","parts":@}}']],
  ['/tasks/none/pushNotificationConfigs', ['{"url":@,"token":@,"authentication":@}']],
]

const message = (rest: string) => `{"message":{"messageId":"1",${rest}}}`
const RPC: readonly [method: string, params: readonly string[]][] = [
  [
    'SendMessage',
    [
      '@',
      '{"message":@}',
      message('"role":"ROLE_USER","parts":@'),
      message('"role":"ROLE_USER","parts":[@]'),
      message('"role":"ROLE_USER","parts":[{"text":@}]'),
      message('"role":@,"parts":[{"text":"x"}],"extensions":@,"referenceTaskIds":@'),
      message('"role":"ROLE_USER","parts":[{"text":"x"}],"extensions":@'),
      '{"message":{"messageId":"1","role":"ROLE_USER","parts":[{"text":"x"}]},"configuration":{"acceptedOutputModes":@}}',
    ],
  ],
  [
    'message/send',
    [
      message('"role":"user","parts":@'),
      message('"role":"user","parts":[{"kind":"file","file":@}]'),
      '{"message":{"messageId":"1","role":"user","parts":[{"kind":"text","text":"x"}]},"configuration":{"pushNotificationConfig":{"url":"https://h.example/","authentication":{"schemes":@}}}}',
    ],
  ],
  // Any object is taken for a query: what it does not know is ignored.
  ['ListTasks', ['{"contextId":@,"status":@,"pageSize":@,"pageToken":@}']],
  ['tasks/pushNotificationConfig/set', ['{"taskId":@,"pushNotificationConfig":@}']],
  ...['GetTask', 'tasks/get', 'tasks/cancel', 'CreateTaskPushNotificationConfig'].map(
    method => [method, ['@', '{"id":@,"contextId":@,"pageSize":@,"url":@}']] as const,
  ),
].map(([method, params]) => [method as string, params as readonly string[]])

/** What a client of MCP says that it can do. */
const META = '"io.modelcontextprotocol/protocolVersion":"2026-07-28"'
const CAN = '"io.modelcontextprotocol/clientCapabilities":{"extensions":{"io.modelcontextprotocol/tasks":{}}}'
/** The headers that repeat it. */
const TOLD = {
  ...{ 'mcp-protocol-version': '2026-07-28', 'mcp-name': 'echo' },
  accept: 'application/json, text/event-stream',
}
const MCP: readonly [method: string, params: readonly string[]][] = [
  [
    'tools/call',
    [
      '@',
      '{"name":@,"arguments":@}',
      '{"name":"echo","arguments":@}',
      '{"name":"echo","arguments":{"input":@}}',
      '{"name":"echo","arguments":{"input":"x","sessionId":@}}',
      '{"name":"shaped","arguments":@}',
      '{"name":"add","arguments":{"b":@}}',
      '{"name":"echo","arguments":{"input":"x"},"requestState":@}',
      '{"name":"echo","arguments":{"input":"x"},"requestState":"x","inputResponses":@}',
      `{"name":"echo","arguments":{"input":"x"},"_meta":{${META},${CAN},"progressToken":@}}`,
      `{"name":"echo","arguments":{"input":"x"},"_meta":{${META},"io.modelcontextprotocol/clientCapabilities":@}}`,
      `{"name":"echo","arguments":{"input":"x"},"_meta":{"io.modelcontextprotocol/protocolVersion":@,${CAN}}}`,
    ],
  ],
  ['tools/list', ['@', '{"cursor":@}']],
  [
    'initialize',
    ['@', '{"protocolVersion":@,"capabilities":@,"clientInfo":@}', '{"capabilities":{"elicitation":@}}'],
  ],
  ['tasks/get', [`{"taskId":@,"_meta":{${META},${CAN}}}`]],
  ['tasks/update', [`{"taskId":"echo","inputResponses":@,"_meta":{${META},${CAN}}}`]],
].map(([method, params]) => [method as string, params as readonly string[]])

const EVENTS = [
  '{"event":"agent.run","data":@}',
  '{"event":"agent.run","data":{"name":"echo","input":@}}',
  '{"event":"agent.run","data":{"name":@,"input":"x"}}',
  '{"event":"agent.run","data":{"name":"echo","input":"x","history":@,"clientTools":@}}',
  '{"event":"agent.run","data":{"name":"echo","input":"x","history":[{"role":"user","content":@}]}}',
  '{"event":"run.answers","data":@}',
  '{"event":"run.answers","data":{"runId":@,"answers":@}}',
  '{"event":"run.answers","data":{"runId":"x","answers":[@]}}',
  '{"event":"run.answers","data":{"runId":"x","answers":[{"id":"a","value":@}]}}',
  '{"event":"connect","data":@}',
  '{"event":"connect","data":{"apiKey":@}}',
]

/** Bodies with one hostile value each: at each `@` in turn, `0` at the others. */
function* placed(template: string, hostile: string): Generator<string> {
  const pieces = template.split('@')
  for (let at = 1; at < pieces.length; at++) {
    yield pieces.slice(0, at).join('0') + hostile + pieces.slice(at).join('0')
  }
}

/** Of the largest value the first body alone: what is looked at elsewhere is told by many of the same. */
function bodiesOf(templates: readonly string[], hostile: string): string[] {
  const all = templates.flatMap(template => [...placed(template, hostile)])
  return hostile === LARGEST ? all.slice(0, 1) : all
}

/** Counts looks at what `JSON.parse` gives, at whatever depth. */
function countLooks(): { looks: number } {
  const count = { looks: 0 }
  const parse = JSON.parse
  const watched = (value: unknown): unknown => {
    if (typeof value !== 'object' || value === null) return value
    return new Proxy(value, {
      get(target, name) {
        count.looks++
        return watched(Reflect.get(target, name))
      },
      has(target, name) {
        count.looks++
        return Reflect.has(target, name)
      },
    })
  }
  vi.spyOn(JSON, 'parse').mockImplementation((text, reviver) => watched(parse(text, reviver)))
  return count
}

/** How many issues an error names: one where it is the text that a page shows. */
function issuesIn({ headers }: Response, text: string): number {
  return headers.get('x-error-code') === null ? (JSON.parse(text).issues?.length ?? 0) : 1
}

/** Of JSON-RPC 2.0, section 5.1: an invalid request, invalid params. */
const REFUSALS = [-32600, -32602]

afterEach(() => void vi.restoreAllMocks())

const init = (body: string) => ({ method: 'POST', body, headers: { 'content-type': 'application/json' } })

describe.each(HOSTILE)('a body of %s', (_, hostile) => {
  it.each(HTTP)('is refused at %s for next to no work', async (place, templates) => {
    const [path = '', method = 'POST'] = place.split(' ').reverse()
    for (const body of bodiesOf(templates, hostile)) {
      const count = countLooks()
      const response = await handler(new Request(`http://127.0.0.1${path}`, { ...init(body), method }))
      vi.restoreAllMocks()
      const text = await response.text()
      expect([400, 404, 413]).toContain(response.status)
      expect(text.length).toBeLessThan(3000)
      expect(issuesIn(response, text)).toBeLessThanOrEqual(5)
      expect(count.looks).toBeLessThan(FEW_LOOKS)
    }
  })

  it.each(RPC)('is refused by %s of A2A for next to no work', async (method, templates) => {
    for (const params of bodiesOf(templates, hostile)) {
      const count = countLooks()
      const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
      const response = await handler(new Request('http://127.0.0.1/', init(body)))
      vi.restoreAllMocks()
      const text = await response.text()
      expect(text.length).toBeLessThan(3000)
      expect(REFUSALS).toContain(JSON.parse(text).error.code)
      expect(count.looks).toBeLessThan(FEW_LOOKS)
    }
  })

  it.each(MCP)('is refused by %s of MCP for next to no work', async (method, templates) => {
    for (const params of bodiesOf(templates, hostile)) {
      const count = countLooks()
      const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
      const { headers, ...rest } = init(body)
      const told = params.includes(META) && { ...TOLD, 'mcp-method': method }
      const request = new Request('http://127.0.0.1/mcp', { ...rest, headers: { ...headers, ...told } })
      const response = await handler(request)
      vi.restoreAllMocks()
      const text = await response.text()
      expect(text.length).toBeLessThan(3000)
      const { error, result } = JSON.parse(/^data: (.*)$/m.exec(text)?.[1] ?? text)
      if (error) expect([...REFUSALS, -32020]).toContain(error.code)
      // What it does not need it does not look at.
      else expect(result).toBeDefined()
      expect(count.looks).toBeLessThan(FEW_LOOKS)
    }
  })

  it('is refused as a frame of a socket for next to no work', async () => {
    for (const frame of bodiesOf(EVENTS, hostile)) {
      const wire = await connect(handler)
      const count = countLooks()
      wire.says(frame)
      await settled()
      await eventually(() => expect(wire.got.length + (wire.closed ?? 0)).toBeGreaterThan(0))
      vi.restoreAllMocks()
      expect(wire.got.join().length).toBeLessThan(3000)
      expect(count.looks).toBeLessThan(FEW_LOOKS)
      wire.close()
    }
  })
})

it('stands at every operation of the document that takes JSON', () => {
  const { paths } = documentOf(options, { enabled: true })
  const taking = Object.entries(paths).filter(([, item]) =>
    Object.values(item).some(operation => JSON.stringify(operation).includes('"requestBody"')),
  )
  // Teams and workflows take what agents take, and an agent's own A2A endpoint what the common one takes.
  const generic = (path: string) =>
    path
      .replace(/\{[^}]*\}/g, '*')
      .replace(/\/(teams|workflows)\//, '/agents/')
      .replace(/^\/agents\/\*\/?/, '/')
  const swept = ['/', ...HTTP.map(([path]) => path.replace(/^\w+ /, '').replace(/echo|none|[\d-]{36}/g, '*'))]
  const missing = taking.map(([path]) => generic(path)).filter(path => !swept.includes(path))
  expect([...new Set(missing)]).toEqual([])
})
