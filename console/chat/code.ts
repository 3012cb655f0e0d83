/**
 * A run as code to copy. Tokens and keys are never in it: they are variables of the shell or of the environment.
 *
 * @module
 */

import type { ContentPart, Kind, RunInput } from '../../src/agents/contract.ts'
import type { PageCredential } from '../../src/http/security/page-credentials.ts'

/** The run that is shown as code. */
export interface Shown {
  /** The address of the service with its prefix. */
  readonly base: string
  readonly kind: Kind
  readonly name: string
  readonly input: RunInput
  readonly sessionId?: string | undefined
  readonly userId?: string | undefined
  /** The credential that the service needs. */
  readonly ask?: PageCredential | undefined
  /** Whether the run has a key of a model provider. */
  readonly hasKey: boolean
}

/** The longest data of a file that is shown. */
const MAX_DATA = 200

/** Characters that are invisible, or that change the order of others. */
const INVISIBLE = /[\p{Cc}\p{Cf}\u2028\u2029]/gu

/** A value as JSON on one line, which is valid JavaScript too. */
function json(value: unknown): string {
  return JSON.stringify(value).replace(INVISIBLE, each =>
    Array.from({ length: each.length }, (_, index) => {
      return `\\u${each.charCodeAt(index).toString(16).padStart(4, '0')}`
    }).join(''),
  )
}

/** A text as one word of a shell. */
export function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** The body of the request. */
function bodyOf({ input, sessionId, userId }: Shown): object {
  return { input: shortened(input), sessionId, userId }
}

/** The input with a note in place of the data of large files. */
function shortened(input: RunInput): RunInput {
  return typeof input === 'string' ? input : input.map(withoutData)
}

function withoutData(part: ContentPart): ContentPart {
  if (part.type === 'text' || part.type === 'data' || part.data.length <= MAX_DATA) return part
  return { ...part, data: `<${part.data.length} characters of base64>` }
}

/** The text of an input, for clients that send only text. */
function textIn(input: RunInput): string {
  if (typeof input === 'string') return input
  return input.flatMap(part => (part.type === 'text' ? [part.text] : [])).join('\n')
}

/** `curl` in a shell. */
export function curl(run: Shown): string {
  const { base, kind, name, ask, hasKey } = run
  const lines = [
    `curl -N ${quoted(`${base}/${kind}s/${encodeURIComponent(name)}/stream`)}`,
    `-H ${quoted('content-type: application/json')}`,
    // The shell expands the variable, so only these are in double quotes.
    ...(ask ? [`-H ${quoted(`${ask.header}: ${ask.prefix}`)}"$TOKEN"`] : []),
    ...(hasKey ? [`-H ${quoted('x-api-key: ')}"$KEY"`] : []),
    `-d ${quoted(json(bodyOf(run)))}`,
  ]
  return lines.join(' \\\n  ')
}

/** The client of this library. */
export function clientCode(run: Shown): string {
  const { base, kind, name, input, sessionId, userId, ask, hasKey } = run
  const headers = ask
    ? [`  headers: { ${json(ask.header)}: ${ask.prefix ? `${json(ask.prefix)} + ` : ''}process.env.TOKEN },`]
    : []
  const key = hasKey ? ['  apiKey: process.env.KEY,'] : []
  const options = { sessionId, userId }
  return [
    "import { createClient } from 'servable/client'",
    '',
    'const client = createClient({',
    `  baseUrl: ${json(base)},`,
    ...headers,
    ...key,
    '})',
    `const events = client.${kind}(${json(name)}).stream(${json(shortened(input))}, ${json(options)})`,
    'for await (const event of events) {',
    "  if (event.type === 'text') process.stdout.write(event.text)",
    '}',
  ].join('\n')
}

/** `useChat` of the AI SDK, in a React component. */
export function useChatCode({ base, kind, name, input, ask }: Shown): string {
  const api = `${base}/${kind}s/${encodeURIComponent(name)}/chat`
  const headers = ask
    ? `, headers: { ${json(ask.header)}: ${ask.prefix ? `${json(ask.prefix)} + ` : ''}token }`
    : ''
  return [
    "import { useChat } from '@ai-sdk/react'",
    "import { DefaultChatTransport } from 'ai'",
    '',
    `const transport = new DefaultChatTransport({ api: ${json(api)}${headers} })`,
    'const { messages, sendMessage } = useChat({ transport })',
    `sendMessage({ text: ${json(textIn(input))} })`,
  ].join('\n')
}

/** The SDK of OpenAI. */
export function openaiCode({ base, name, input }: Shown): string {
  return [
    "import OpenAI from 'openai'",
    '',
    `const openai = new OpenAI({ baseURL: ${json(new URL('/v1', base).href)}, apiKey: process.env.TOKEN ?? 'none' })`,
    'const completion = await openai.chat.completions.create({',
    `  model: ${json(name)},`,
    `  messages: [{ role: 'user', content: ${json(textIn(input))} }],`,
    '})',
    'console.log(completion.choices[0].message.content)',
  ].join('\n')
}
