/** What the page about traces shows does what it says. */
import { rm } from 'node:fs/promises'
import { createServer, type IncomingHttpHeaders } from 'node:http'
import { join } from 'node:path'
import { buffer } from 'node:stream/consumers'
import { build } from 'esbuild'
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { resourceInProtobuf, spansInProtobuf } from '../contracts/otel/protobuf.ts'
import { type Receiver, spansIn, startReceiver } from '../contracts/otel/receiver.ts'
import { eventually } from '../eventually.ts'
import { listening } from '../listening.ts'
import { fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const snippets = snippetsIn(fencesOf(['traces.md']))

let folder: string
let receiver: Receiver
beforeAll(async () => {
  folder = await writeSnippets(snippets)
  receiver = await startReceiver()
  process.env.OTEL_EXPORTER_OTLP_ENDPOINT = receiver.url
})
afterAll(async () => {
  await rm(folder, { recursive: true, force: true })
  await receiver.stop()
})

afterEach(() => vi.unstubAllEnvs())

/** What came to a service of traces. */
interface Sent {
  readonly path: string | undefined
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
}

/** A service of traces with one address, one type of content and one secret. It answers as Langfuse and Phoenix do, and keeps what it takes. */
async function startService(path: string, type: string, authorization: string) {
  const taken: Sent[] = []
  const server = createServer(async (request, response) => {
    const { url, headers } = request
    const body = await buffer(request)
    const status =
      url !== path
        ? 404
        : headers.authorization !== authorization
          ? 401
          : headers['content-type'] !== type
            ? 415
            : 200
    if (status === 200) taken.push({ path: url, headers, body })
    response.writeHead(status, { 'content-type': type }).end(type === 'application/json' ? '{}' : '')
  })
  return { ...(await listening(server)), taken }
}

/** Runs the agent `echo` of a snippet, and sends its traces. */
async function runAndFlush(file: string): Promise<void> {
  const { handler, traces } = await load<{ handler: Handler; traces: Flushed }>(folder, file)
  const response = await handler(
    new Request('http://127.0.0.1/api/agents/echo/run', jsonRequest({ input: 'hi' })),
  )
  expect(await response.json()).toMatchObject({ text: 'hi' })
  await traces.forceFlush()
}

interface Flushed {
  forceFlush(): Promise<void>
}

describe('the page about traces', () => {
  it('shows a service that sends traces and metrics', async () => {
    const { handler, traces, metrics } = await load<{
      handler: Handler
      traces: Flushed
      metrics: Flushed
    }>(folder, 'traces.ts')
    const response = await handler(
      new Request('http://127.0.0.1/api/agents/echo/run', jsonRequest({ input: 'hi' })),
    )
    expect(await response.json()).toMatchObject({ text: 'hi' })
    await Promise.all([traces.forceFlush(), metrics.forceFlush()])
    await eventually(() => {
      expect(receiver.spans.map(({ name }) => name)).toContain('invoke_agent echo')
      expect(receiver.counted.map(({ name }) => name)).toContain('gen_ai.invocation.duration')
    })
  })

  it('shows a service that sends traces to Langfuse', async () => {
    const basic = `Basic ${btoa('pk-lf-1:sk-lf-2')}`
    const langfuse = await startService('/api/public/otel/v1/traces', 'application/json', basic)
    vi.stubEnv('LANGFUSE_BASE_URL', langfuse.url)
    vi.stubEnv('LANGFUSE_PUBLIC_KEY', 'pk-lf-1')
    vi.stubEnv('LANGFUSE_SECRET_KEY', 'sk-lf-2')
    try {
      await runAndFlush('langfuse.ts')
      const [{ headers, body }] = await eventually(() => {
        expect(langfuse.taken).toHaveLength(1)
        return langfuse.taken as [Sent]
      })
      expect(headers['x-langfuse-ingestion-version']).toBe('4')
      const [span] = spansIn(JSON.parse(body.toString()))
      expect(span).toMatchObject({ name: 'invoke_agent echo', attributes: { 'gen_ai.agent.name': 'echo' } })
      expect(span?.attributes['gen_ai.output.messages']).toContain('"content":"hi"')
    } finally {
      await langfuse.stop()
    }
  })

  it('shows a service that sends traces to Phoenix, which takes no JSON', async () => {
    const phoenix = await startService('/v1/traces', 'application/x-protobuf', 'Bearer key-of-phoenix')
    vi.stubEnv('PHOENIX_COLLECTOR_ENDPOINT', phoenix.url)
    vi.stubEnv('PHOENIX_API_KEY', 'key-of-phoenix')
    try {
      await runAndFlush('phoenix.ts')
      const [{ body }] = await eventually(() => {
        expect(phoenix.taken).toHaveLength(1)
        return phoenix.taken as [Sent]
      })
      expect(resourceInProtobuf(body)).toMatchObject({ 'openinference.project.name': 'my-agents' })
      const [span] = spansInProtobuf(body)
      expect(span).toMatchObject({ name: 'invoke_agent echo', attributes: { 'gen_ai.agent.name': 'echo' } })
      expect(span?.attributes['gen_ai.output.messages']).toContain('"content":"hi"')
    } finally {
      await phoenix.stop()
    }
  })

  it('shows an agent with spans of its own, which answers', async () => {
    const { handler } = await load<{ handler: Handler }>(folder, 'traces-own-span.ts')
    const response = await handler(
      new Request('http://127.0.0.1/api/agents/reader/run', jsonRequest({ input: 'hi' })),
    )
    expect(await response.json()).toMatchObject({ text: 'hi' })
  })

  it('shows a Worker, which can be bundled', async () => {
    const { errors } = await build({
      entryPoints: [join(folder, 'traces-worker.ts')],
      bundle: true,
      write: false,
      format: 'esm',
      conditions: ['workerd', 'worker'],
      external: ['cloudflare:*', 'node:*'],
      logLevel: 'silent',
    })
    expect(errors).toEqual([])
  })
})
