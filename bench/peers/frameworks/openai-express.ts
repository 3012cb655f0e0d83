/**
 * The interface of OpenAI by hand: express, the types of the `openai` package, a map of agents. It sends what the SDKs read, and
 * stops the agent of a client that leaves. It keeps nothing, and bounds only the body.
 */

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import express, { type Response } from 'express'
import type {
  ChatCompletion,
  ChatCompletionChunk,
  ChatCompletionCreateParams,
  ChatCompletionMessageParam,
} from 'openai/resources/chat/completions'
import type {
  EasyInputMessage,
  ResponseCreateParams,
  ResponseOutputMessage,
  ResponseStreamEvent,
  Response as SdkResponse,
} from 'openai/resources/responses/responses'
import { echo } from '../echo.ts'

interface Turn {
  readonly role: string
  readonly text: string
}

type Agent = (text: string, signal: AbortSignal, history: readonly Turn[]) => AsyncGenerator<string>

const agents = new Map<string, Agent>([['echo', echo]])
const now = () => Math.floor(Date.now() / 1000)

const app = express()
app.use(express.json({ limit: '1mb' }))

app.post('/v1/chat/completions', async (request, response) => {
  const { model, messages, stream, stream_options } = request.body as ChatCompletionCreateParams
  const agent = agents.get(model)
  if (agent === undefined) return noModel(response, model)
  if (!Array.isArray(messages) || messages.length === 0) return badRequest(response, 'messages')
  const turns = messages.map(turnOf)
  const pieces = agent(turns.at(-1)!.text, leaving(response), turns.slice(0, -1))
  const id = `chatcmpl-${crypto.randomUUID()}`
  const created = now()
  const usage = { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 }
  try {
    if (!stream) {
      let content = ''
      for await (const piece of pieces) content += piece
      const message = { role: 'assistant', content, refusal: null } as const
      const completion: ChatCompletion = {
        id,
        object: 'chat.completion',
        created,
        model,
        choices: [{ index: 0, message, logprobs: null, finish_reason: 'stop' }],
        usage,
      }
      return response.json(completion)
    }
    beginStream(response)
    const say = (choices: ChatCompletionChunk['choices'], rest: Partial<ChatCompletionChunk> = {}) => {
      const chunk: ChatCompletionChunk = {
        id,
        object: 'chat.completion.chunk',
        created,
        model,
        choices,
        ...rest,
      }
      response.write(`data: ${JSON.stringify(chunk)}\n\n`)
    }
    say([{ index: 0, delta: { role: 'assistant', content: '' }, finish_reason: null }])
    for await (const content of pieces) say([{ index: 0, delta: { content }, finish_reason: null }])
    say([{ index: 0, delta: {}, finish_reason: 'stop' }])
    if (stream_options?.include_usage) say([], { usage })
    response.write('data: [DONE]\n\n')
    return response.end()
  } catch (error) {
    return failed(response, error)
  }
})

app.post('/v1/responses', async (request, response) => {
  const body = request.body as ResponseCreateParams
  const agent = agents.get(body.model ?? '')
  if (agent === undefined) return noModel(response, body.model)
  const turns = turnsOf(body.input)
  if (turns.length === 0) return badRequest(response, 'input')
  const pieces = agent(turns.at(-1)!.text, leaving(response), turns.slice(0, -1))
  const begun = begunResponse(body)
  const item: ResponseOutputMessage = {
    type: 'message',
    id: `msg_${crypto.randomUUID().replaceAll('-', '')}`,
    role: 'assistant',
    status: 'in_progress',
    content: [],
  }
  try {
    if (!body.stream) {
      let text = ''
      for await (const piece of pieces) text += piece
      return response.json(completed(begun, item, text))
    }
    beginStream(response)
    let number = 0
    const say = (event: DistributiveOmit<ResponseStreamEvent, 'sequence_number'>) => {
      response.write(
        `event: ${event.type}\ndata: ${JSON.stringify({ ...event, sequence_number: number++ })}\n\n`,
      )
    }
    const place = { item_id: item.id, output_index: 0, content_index: 0 }
    say({ type: 'response.created', response: begun })
    say({ type: 'response.in_progress', response: begun })
    say({ type: 'response.output_item.added', output_index: 0, item })
    say({ type: 'response.content_part.added', ...place, part: partOf('') })
    let text = ''
    for await (const delta of pieces) {
      text += delta
      say({ type: 'response.output_text.delta', ...place, delta, logprobs: [] })
    }
    say({ type: 'response.output_text.done', ...place, text, logprobs: [] })
    say({ type: 'response.content_part.done', ...place, part: partOf(text) })
    say({ type: 'response.output_item.done', output_index: 0, item: itemOf(item, text) })
    say({ type: 'response.completed', response: completed(begun, item, text) })
    return response.end()
  } catch (error) {
    return failed(response, error)
  }
})

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never

function turnOf({ role, content }: ChatCompletionMessageParam | EasyInputMessage): Turn {
  if (typeof content === 'string') return { role, text: content }
  const parts = (content ?? []) as readonly { text?: string }[]
  return { role, text: parts.map(part => part.text ?? '').join('') }
}

function turnsOf(input: ResponseCreateParams['input']): Turn[] {
  if (typeof input === 'string') return [{ role: 'user', text: input }]
  return (input ?? []).filter(item => 'role' in item).map(item => turnOf(item as EasyInputMessage))
}

/** A signal for the agent, which fires when the client leaves. */
function leaving(response: Response): AbortSignal {
  const controller = new AbortController()
  response.on('close', () => controller.abort())
  return controller.signal
}

function beginStream(response: Response): void {
  response.set({ 'content-type': 'text/event-stream', 'cache-control': 'no-cache', connection: 'keep-alive' })
  response.flushHeaders()
}

function begunResponse(body: ResponseCreateParams): SdkResponse {
  return {
    id: `resp_${crypto.randomUUID().replaceAll('-', '')}`,
    object: 'response',
    access_programs: null,
    created_at: now(),
    status: 'in_progress',
    background: false,
    error: null,
    incomplete_details: null,
    instructions: body.instructions ?? null,
    max_output_tokens: body.max_output_tokens ?? null,
    metadata: body.metadata ?? {},
    model: body.model!,
    output: [],
    // The SDK fills it.
    output_text: '',
    parallel_tool_calls: true,
    previous_response_id: body.previous_response_id ?? null,
    reasoning: { effort: null, summary: null },
    service_tier: 'default',
    temperature: body.temperature ?? 1,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_p: body.top_p ?? 1,
    truncation: 'disabled',
  }
}

function partOf(text: string) {
  return { type: 'output_text' as const, text, annotations: [], logprobs: [] }
}

function itemOf(item: ResponseOutputMessage, text: string): ResponseOutputMessage {
  return { ...item, status: 'completed', content: [partOf(text)] }
}

function completed(begun: SdkResponse, item: ResponseOutputMessage, text: string): SdkResponse {
  return {
    ...begun,
    status: 'completed',
    completed_at: now(),
    output: [itemOf(item, text)],
    usage: {
      input_tokens: 0,
      input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 },
      output_tokens: 0,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: 0,
    },
  }
}

function refuse(response: Response, status: number, message: string, param: string, code: string | null) {
  response.status(status).json({ error: { message, type: 'invalid_request_error', param, code } })
}

function noModel(response: Response, model: unknown) {
  refuse(response, 404, `The model '${model}' does not exist`, 'model', 'model_not_found')
}

function badRequest(response: Response, param: string) {
  refuse(response, 400, `'${param}' is missing`, param, null)
}

function failed(response: Response, error: unknown) {
  const told = { error: { message: String(error), type: 'server_error', param: null, code: null } }
  if (!response.headersSent) response.status(500).json(told)
  else response.end(`data: ${JSON.stringify(told)}\n\n`)
}

const server = createServer(app)
server.listen(0, '127.0.0.1', () => {
  console.log(`listening http://127.0.0.1:${(server.address() as AddressInfo).port}`)
})
