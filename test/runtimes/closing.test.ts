/**
 * Servers that are told to end by SIGTERM: runs end first, within a bound.
 *
 * @module-tag long
 */
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { clientOf, ended, start, stock, textOf } from '../contracts/gateway/client.ts'
import { jsonRequest, messagesOf, run } from '../contracts/http/client.ts'
import { newFolder, onDisk } from '../contracts/run-host/folder.ts'
import { eventually } from '../eventually.ts'
import { type Runtime, startBun, startDeno, startNode } from './harness.ts'

type Start = (env: Record<string, string>) => Promise<Runtime>

const ENTRY = 'test/runtimes/entries/closing-server.ts'

const RUNTIMES: readonly [name: string, start: Start][] = [
  ['Node', env => startNode(ENTRY, { env })],
  ['Bun', env => startBun(ENTRY, { env })],
  [
    'Deno',
    env =>
      startDeno(ENTRY, {
        env,
        allow: [`--allow-read=${env.FOLDER}`, `--allow-write=${env.FOLDER}`],
        names: ['DATABASE', 'GRACE_MS'],
      }),
  ],
]

/** Longer than any of these tests takes. */
const LONG = '60000'
/** Enough to see that the server still waits. */
const SHORT = '1500'

describe.each(RUNTIMES)('servable on %s that is told to end', (name, startRuntime) => {
  const open = async (env: Record<string, string>) => {
    const runtime = await startRuntime({ FOLDER: '.', ...env })
    onTestFinished(() => runtime.stop())
    const tell = () => process.kill(Number(/pid (\d+)/.exec(runtime.log())?.[1]), 'SIGTERM')
    // That it has exited may be known before all that it wrote is read.
    const closed = () =>
      eventually(() => {
        expect(runtime.log()).toContain('closed\n')
        expect(runtime.log()).toContain('exited with code 0')
      })
    return { server: () => runtime, tell, closed }
  }

  const stream = async (server: () => Runtime, agent: string) => {
    const response = await fetch(`${server().url}/api/agents/${agent}/stream`, jsonRequest({ input: 'x' }))
    const messages = messagesOf(response)
    return { first: (await messages.next()).value?.event, messages }
  }

  const rest = async (messages: AsyncGenerator<{ event: object }>) => {
    const events: object[] = []
    for await (const { event } of messages) events.push(event)
    return events
  }

  it('lets a run end, whose client gets all of it', async () => {
    const { server, tell, closed } = await open({ GRACE_MS: LONG })
    const { first, messages } = await stream(server, 'outlives')
    expect(first).toEqual({ type: 'text', text: 'before ' })
    const answer = run(server, '/api/agents/outlives/run')
    await eventually(() => expect(server().log()).toMatch(/begins[\s\S]*begins/))
    tell()
    expect(await rest(messages)).toEqual([
      { type: 'text', text: 'after' },
      { type: 'finish', finishReason: 'stop' },
    ])
    expect((await answer).text).toBe('before after')
    await closed()
  })

  it('refuses connections meanwhile, and cancels a run that takes longer', async () => {
    const { server, tell, closed } = await open({ GRACE_MS: SHORT })
    const { messages } = await stream(server, 'never')
    let isOver = false
    const events = rest(messages).finally(() => {
      isOver = true
    })
    tell()
    const refused = () => fetch(`${server().url}/api/health`, { headers: { connection: 'close' } })
    await eventually(() => expect(refused()).rejects.toThrow('fetch failed'))
    expect(isOver).toBe(false)
    expect(await events).toEqual([{ type: 'finish', finishReason: 'cancelled' }])
    await closed()
  })

  // Deno closes every WebSocket as soon as it stops listening.
  if (name !== 'Deno')
    it('lets a run over a socket end', async () => {
      const { server, tell, closed } = await open({ GRACE_MS: LONG })
      const socket = stock(() => ({ ...server(), folder: undefined }), { transports: ['websocket'] })
      const client = clientOf(socket)
      const runId = await start(client, 'agent.run', { name: 'outlives', input: 'x' })
      tell()
      expect(textOf(await ended(client, runId))).toBe('before after')
      await closed()
    })

  it('keeps how runs ended that nobody waited for', async () => {
    const folder = await newFolder(onDisk())
    onTestFinished(() => folder.remove())
    const env = { FOLDER: folder.path, DATABASE: join(folder.path, 'runs.db'), GRACE_MS: SHORT }
    const { server, tell, closed } = await open(env)
    const begin = async (agent: string) => {
      const request = jsonRequest({ input: 'x' }, { prefer: 'respond-async' })
      const answer = await fetch(`${server().url}/api/agents/${agent}/run`, request)
      return answer.headers.get('location')
    }
    const [outlives, never] = [await begin('outlives'), await begin('never')]
    tell()
    await closed()
    expect(await readdir(folder.path)).toEqual(['runs.db'])
    const next = await open(env)
    const read = async (path: string | null) => (await fetch(`${next.server().url}${path}`)).json()
    expect(await read(outlives)).toMatchObject({ status: 'completed', result: { text: 'before after' } })
    expect(await read(never)).toMatchObject({ status: 'cancelled' })
  })

  it('leaves nothing beside its database, of two processes the last one to end', async () => {
    const folder = await newFolder(onDisk())
    onTestFinished(() => folder.remove())
    const env = { FOLDER: folder.path, DATABASE: join(folder.path, 'runs.db'), GRACE_MS: SHORT }
    const [one, two] = [await open(env), await open(env)]
    const kinds = async () => (await readdir(folder.path)).map(name => name.replace(/^.*[-.]/, '')).toSorted()
    expect(await kinds()).toEqual(['db', 'lock', 'lock', 'shm', 'wal'])
    one.tell()
    await one.closed()
    expect(await kinds()).toEqual(['db', 'lock', 'shm', 'wal'])
    two.tell()
    await two.closed()
    expect(await kinds()).toEqual(['db'])
  })
})
