/** Sends what it is asked to, as webhooks, remote agents and tool servers do. Every runtime serves it. */
import { senderTo } from '../../../src/web/outbound.ts'

/** A request to send, and how to read its answer. */
export interface Asked {
  readonly url: string
  readonly method?: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string
  /** What is allowed besides public addresses. Default: loopback addresses. */
  readonly allow?: readonly string[]
  /** What each lookup of a name gives, in turn. */
  readonly lookups?: readonly (readonly string[])[]
  readonly timeoutMs?: number
  /**
   * `cancel` cancels the body unread. `first` reads one piece, waits until the server says `go on`, and reads the rest. `collected`
   * forgets all but the body, and reads it while the memory is cleared. Default: all is read.
   */
  readonly read?: 'cancel' | 'first' | 'collected'
  /** Where to ask whether to go on. */
  readonly goOn?: string
}

/** What became of it. */
export interface Outcome {
  readonly status?: number
  readonly statusText?: string
  readonly headers?: readonly (readonly [string, string])[]
  readonly text?: string
  /** The error of the request, or of its body. */
  readonly error?: { readonly name: string; readonly message: string; readonly code?: string }
  /** How many names were looked up. */
  readonly looked: number
}

/** Sends a request. */
export async function sendAsked(asked: Asked): Promise<Outcome> {
  const { url, method = 'POST', headers = {}, body, allow = ['127.0.0.0/8', '::1/128'], lookups = [] } = asked
  const { timeoutMs = 20_000, read } = asked
  let looked = 0
  const resolve = async () => lookups[looked++] ?? []
  let got = {}
  try {
    const send = await senderTo(new URL(url), { allow, resolve }, 'tool_server_failed')
    const signal = AbortSignal.timeout(timeoutMs)
    const init = { method, headers, signal, ...(body !== undefined && { body }) }
    if (read === 'collected') return { text: await textWhileCollected(await bodyOf(send(init))), looked }
    const response = await send(init)
    const { status, statusText } = response
    got = { status, statusText, headers: [...response.headers] }
    if (read === 'cancel') await response.body?.cancel()
    else got = { ...got, text: await textOf(response, asked) }
    return { ...got, looked }
  } catch (error) {
    const { name, message, code } = error as Error & { code?: string }
    return { ...got, looked, error: { name, message, ...(typeof code === 'string' && { code }) } }
  }
}

async function textOf(response: Response, { read, goOn }: Asked): Promise<string> {
  if (read !== 'first' || response.body === null || goOn === undefined) return response.text()
  const reader = response.body.getReader()
  const decoder = new TextDecoder()
  let text = ''
  for (let item = await reader.read(); !item.done; item = await reader.read()) {
    if (text === '') await (await fetch(goOn)).text()
    text += decoder.decode(item.value, { stream: true })
  }
  return text
}

const bodyOf = async (sent: Promise<Response>) => (await sent).body

async function textWhileCollected(body: ReadableStream<Uint8Array> | null): Promise<string> {
  const text = new Response(body).text()
  // `gc` is there where the runtime was started so.
  const collecting = setInterval(() => (globalThis as { gc?(): void }).gc?.(), 20)
  return text.finally(() => clearInterval(collecting))
}

/** The handler of the service. */
export async function outboundHandler(request: Request): Promise<Response> {
  return Response.json(await sendAsked((await request.json()) as Asked))
}
