/**
 * Calls of a tool over MCP: our plugin beside `createMcpHandler` of the official package, both as fetch handlers in one process, with
 * the same agent behind them. `node bench/mcp.ts` measures them alone.
 */

import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import * as z from 'zod'
import { Agent, createHandler, textOf } from '../src/index.ts'
import { mcp } from '../src/protocols/mcp/plugin.ts'
import { type Comparison, compare } from './measure.ts'
import { echo, INPUT } from './peers/echo.ts'

type Handler = (request: Request) => Promise<Response>

/** So many calls are made for one figure. */
const CALLS = 1000

const DESCRIPTION = 'Says the input back, word by word'

new Agent({
  name: 'echo',
  description: DESCRIPTION,
  run: (input, { signal }) => echo(textOf(input), signal),
})

const servable: Handler = createHandler({
  plugins: [mcp({ tools: ['echo'] })],
})

const inputSchema = z.object({ input: z.string() })

/** As the package is meant to be used: a server for each request, from a function. It tells progress once, as ours does in so short a time. */
const sdk: Handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bench', version: '1.0.0' })
  server.registerTool('echo', { description: DESCRIPTION, inputSchema }, async ({ input }, { mcpReq }) => {
    const progressToken = mcpReq._meta?.progressToken
    let text = ''
    for await (const piece of echo(input, mcpReq.signal)) {
      if (text === '' && progressToken !== undefined)
        await mcpReq.notify({
          method: 'notifications/progress',
          params: { progressToken, progress: 1, message: piece },
        })
      text += piece
    }
    return { content: [{ type: 'text', text }] }
  })
  return server
}).fetch

/** A call, as the bytes that a client sends. */
interface Call {
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  /** What its answer has. */
  readonly mark: string
}

const ACCEPT = {
  accept: 'application/json, text/event-stream',
  'content-type': 'application/json',
}

const META = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {},
}

function call(
  input: string,
  headers: Readonly<Record<string, string>>,
  { meta, mark = '{' }: { readonly meta?: object; readonly mark?: string } = {},
): Call {
  const params = { name: 'echo', arguments: { input }, _meta: meta }
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 1,
    method: 'tools/call',
    params,
  })
  const length = { 'content-length': String(Buffer.byteLength(body)) }
  return { headers: { ...ACCEPT, ...headers, ...length }, body, mark }
}

const MODERN = {
  'mcp-protocol-version': '2026-07-28',
  'mcp-method': 'tools/call',
  'mcp-name': 'echo',
}

const json = (input: string) => call(input, MODERN, { meta: META })
const streamed = (input: string) =>
  call(input, MODERN, {
    meta: { ...META, progressToken: 'token' },
    mark: 'notifications/progress',
  })
const legacy = (input: string) => call(input, { 'mcp-protocol-version': '2025-11-25' })

/** Microseconds of CPU that a call takes, until its answer was read. */
const calling =
  (handler: Handler, { mark, ...init }: Call) =>
  async () => {
    const startedAt = process.cpuUsage()
    for (let count = 0; count < CALLS; count++) {
      const answer = await handler(new Request('http://127.0.0.1/mcp', { method: 'POST', ...init }))
      const text = await answer.text()
      if (count === 0 && !(text.includes(mark) && text.includes('"result":')))
        throw new Error(`${answer.status} ${text}`)
    }
    const { user, system } = process.cpuUsage(startedAt)
    return (user + system) / CALLS
  }

/** Measures calls beside those of the official package. */
export async function besideSdk(): Promise<string> {
  const calls = ['50 pieces', 'one piece'].flatMap(length => {
    const input = length === 'one piece' ? 'word' : INPUT
    return [
      { what: `2026-07-28, JSON, ${length}`, sent: json(input) },
      {
        what: `2026-07-28, \`progressToken\`, ${length}`,
        sent: streamed(input),
      },
      { what: `2025-11-25, ${length}`, sent: legacy(input) },
    ]
  })
  for (const { sent } of calls) for (const handler of [servable, sdk]) await calling(handler, sent)()
  const rows: Comparison[] = []
  // Times of theirs over times of ours are calls of ours over calls of theirs.
  for (const { what, sent } of calls)
    rows.push(
      await compare(what, 'µs', {
        measured: calling(sdk, sent),
        reference: calling(servable, sent),
      }),
    )
  return [
    '| what | times the SDK | spread | servable | SDK |',
    '|---|---|---|---|---|',
    ...rows.map(({ name, ratio, spread: [least, most], measured, reference }) => {
      const cells = [name, ratio.toFixed(2), `${least.toFixed(2)}-${most.toFixed(2)}`]
      return `| ${[...cells, (1e6 / reference).toFixed(0), (1e6 / measured).toFixed(0)].join(' | ')} |`
    }),
  ].join('\n')
}

if (process.argv[1] === import.meta.filename) console.log(await besideSdk())
