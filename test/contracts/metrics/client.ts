/** Makes runs over every transport, and counts them. */
import { io, type Socket } from 'socket.io-client'
import { expect, onTestFinished } from 'vitest'
import type { MetricsJson } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { jsonRequest } from '../http/client.ts'
import type { Deployment } from '../runs/client.ts'

export type Server = () => Deployment

/** The intended end of a run. */
export type Fate = 'answer' | 'tool' | 'fail' | 'cancel'

/** The client's own count. */
export interface Count {
  runs: number
  errors: number
  cancels: number
  tools: number
  /** Runs that reported tokens. */
  used: number
}

export const newCount = (): Count => ({ runs: 0, errors: 0, cancels: 0, tools: 0, used: 0 })

const inputs: Record<Fate, string> = { answer: 'hello', tool: 'tool', fail: 'fail', cancel: 'wait' }

/** Makes a run over a transport, with this end. */
export type Transport = (fate: Fate) => Promise<void>

/** Each transport by its name. */
export async function transports(
  server: Server,
  agent = 'worker',
  socketBy: 'websocket' | 'polling' = 'websocket',
): Promise<Record<string, Transport>> {
  const { url } = server()
  const path = `${url}/api/agents/${encodeURIComponent(agent)}`
  // A service on a busy machine may refuse a run whose state it could not reach in time. Such a run did not begin.
  const post = async (body: object, route: string, signal?: AbortSignal) => {
    for (;;) {
      const response = await fetch(path + route, { ...jsonRequest(body), signal: signal ?? null })
      if (response.status !== 503) return response
      await response.text()
    }
  }
  const socket: Socket = io(`${url}/service`, { transports: [socketBy], forceNew: true })
  onTestFinished(() => void socket.disconnect())
  const ends = new Map<string, (event: string) => void>()
  socket.on('agent.done', ({ runId }) => ends.get(runId)?.('agent.done'))
  socket.on('agent.error', ({ runId }) => ends.get(runId)?.('agent.error'))
  await new Promise<void>(resolve => socket.once('connect', resolve))

  const rpc = async (method: string, params: object) => {
    const body = { jsonrpc: '2.0', id: 1, method, params }
    const { result, error } = await (
      await fetch(`${url}/agents/${encodeURIComponent(agent)}`, jsonRequest(body))
    ).json()
    if (error !== undefined) throw new Error(JSON.stringify(error))
    return result
  }
  return {
    async json(fate) {
      if (fate !== 'cancel') return void (await (await post({ input: inputs[fate] }, '/run')).text())
      const started = await post({ input: 'wait', background: true }, '/stream')
      const id = started.headers.get('x-run-id')
      await fetch(`${url}/api/runs/${id}/cancel`, { method: 'POST' })
      await started.text()
    },
    async stream(fate) {
      const leaving = new AbortController()
      const response = await post({ input: inputs[fate] }, '/stream', leaving.signal)
      if (fate !== 'cancel') return void (await response.text())
      await response.body?.getReader().read()
      leaving.abort()
    },
    async a2a(fate) {
      const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user' }
      const parts = [{ kind: 'text', text: inputs[fate] }]
      const configuration = { blocking: fate !== 'cancel' }
      const task = await rpc('message/send', { message: { ...message, parts }, configuration })
      if (fate === 'cancel') await rpc('tasks/cancel', { id: task.id })
    },
    async socket(fate) {
      const ended = Promise.withResolvers<string>()
      const ask = () => socket.emitWithAck('agent.run', { name: agent, input: inputs[fate] })
      let answer = await ask()
      while (answer.code === 'state_unavailable') answer = await ask()
      const { runId, ...refused } = answer
      if (runId === undefined) throw new Error(JSON.stringify(refused))
      ends.set(runId, ended.resolve)
      if (fate === 'cancel') await socket.emitWithAck('run.cancel', { runId })
      // A short run may end before its id is known here.
      await Promise.race([ended.promise, new Promise(resolve => setTimeout(resolve, 0))])
      ends.delete(runId)
    },
  }
}

/** Adds a run to the count. */
export function note(count: Count, fate: Fate): void {
  count.runs++
  if (fate === 'fail') count.errors++
  else if (fate === 'cancel') count.cancels++
  else count.used++
  if (fate === 'tool') count.tools++
}

export async function readJson(server: Server): Promise<MetricsJson> {
  return (await fetch(`${server().url}/api/metrics/json`)).json()
}

/** Waits until the metrics equal the client's count. */
export async function expectCounted(server: Server, agent: string, count: Count): Promise<void> {
  await eventually(async () => {
    expect((await readJson(server)).byAgent[agent]).toMatchObject({
      runs: count.runs,
      errors: count.errors,
      cancels: count.cancels,
      toolCallCount: count.tools,
      totalTokens: count.used * 42,
      activeRuns: 0,
    })
  })
}
