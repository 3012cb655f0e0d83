/** What the page about traces shows does what it says. */
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Handler } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { type Receiver, startReceiver } from '../contracts/otel/receiver.ts'
import { eventually } from '../eventually.ts'
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
      expect(receiver.counted.map(({ name }) => name)).toContain('gen_ai.client.operation.duration')
    })
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
