/** A model provider with OpenAI's chat completions, which acts as the test says. */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { listening } from '../../listening.ts'

/** One request, as the provider received it. */
export interface Asked {
  readonly authorization: string | undefined
  readonly body: {
    readonly messages: readonly {
      readonly role: string
      readonly content: unknown
      readonly tool_calls?: unknown
    }[]
    readonly tools?: readonly { readonly function: { readonly name: string; readonly parameters: unknown } }[]
    readonly response_format?: unknown
    readonly stream?: boolean
  }
  /** Whether the client left before the end of the answer. */
  hasLeft: boolean
}

/** Answers a request. */
export type Answer = (response: ServerResponse, asked: Asked, request: IncomingMessage) => void

export interface Provider {
  /** The address, with `/v1`. */
  readonly url: string
  readonly asked: Asked[]
  /** The answers for the next requests, in order. The last one repeats. */
  script(...answers: Answer[]): void
  stop(): Promise<void>
}

const chunk = (delta: object, finish_reason: string | null = null) =>
  `data: ${JSON.stringify({ id: 'c', object: 'chat.completion.chunk', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] })}\n\n`

const USAGE = `data: ${JSON.stringify({
  id: 'c',
  object: 'chat.completion.chunk',
  created: 1,
  model: 'm',
  choices: [],
  usage: { prompt_tokens: 7, completion_tokens: 3, total_tokens: 10 },
})}\n\n`

const begin = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' })

/** Answers with text, in pieces. */
export const says =
  (...pieces: string[]): Answer =>
  response => {
    begin(response)
    for (const content of pieces) response.write(chunk({ role: 'assistant', content }))
    response.end(`${chunk({}, 'stop')}${USAGE}data: [DONE]\n\n`)
  }

type Called = [name: string, args: object]

/** Calls tools with these names and arguments. */
export const calls = (...tools: Called[]): Answer => callsAs(() => `call_${crypto.randomUUID()}`, tools)

/** The same, with ids that count from `call_0`. */
export const countedCalls = (...tools: Called[]): Answer => callsAs(index => `call_${index}`, tools)

const callsAs =
  (idOf: (index: number) => string, tools: readonly Called[]): Answer =>
  response => {
    begin(response)
    for (const [index, [name, args]] of tools.entries()) {
      const [head, tail] = [JSON.stringify(args).slice(0, 3), JSON.stringify(args).slice(3)]
      const call = (more: object) => chunk({ tool_calls: [{ index, ...more }] })
      response.write(call({ id: idOf(index), type: 'function', function: { name, arguments: head } }))
      response.write(call({ function: { arguments: tail } }))
    }
    response.end(`${chunk({}, 'tool_calls')}${USAGE}data: [DONE]\n\n`)
  }

/** Refuses with a status and a text. */
export const refuses =
  (status: number, text: string, headers: Record<string, string> = {}): Answer =>
  response =>
    void response
      .writeHead(status, { 'content-type': 'application/json', ...headers })
      .end(JSON.stringify({ error: { message: text, type: 'x', code: 'x' } }))

/**
 * Answers with text and then breaks the connection. It waits until the text can be read, since Bun drops data directly before
 * a break.
 */
export const drops =
  (text: string): Answer =>
  response => {
    begin(response)
    response.write(chunk({ role: 'assistant', content: text }), () =>
      setTimeout(() => response.destroy(), 100),
    )
  }

/** Answers with text and then stays silent. */
export const hangs =
  (text: string): Answer =>
  response => {
    begin(response)
    response.write(chunk({ role: 'assistant', content: text }))
  }

/** Starts the provider. */
export async function startProvider(): Promise<Provider> {
  const asked: Asked[] = []
  let answers: Answer[] = [says('Hello')]
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const each of request) chunks.push(each as Buffer)
    const own: Asked = {
      authorization: request.headers.authorization,
      body: JSON.parse(Buffer.concat(chunks).toString()),
      hasLeft: false,
    }
    asked.push(own)
    response.on('close', () => {
      own.hasLeft = !response.writableEnded
    })
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    answer?.(response, own, request)
  })
  const { url, stop } = await listening(server)
  return {
    url: `${url}/v1`,
    asked,
    script(...next) {
      answers = next
      asked.length = 0
    },
    stop,
  }
}
