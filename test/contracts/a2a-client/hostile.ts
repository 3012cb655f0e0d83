/** A server that answers slowly, endlessly or with too much. The first word of a message says how. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import type { Server } from '../http/client.ts'
import { OVERCODED, overcode } from '../overcoded.ts'
import { ask } from './kinds.ts'
import { HOSTILE } from './service.ts'

/** What it can do, by the word, with the code of the run that asks for it. */
const DOINGS: Readonly<Record<string, string>> = {
  endless: 'invalid_agent_response',
  huge: 'invalid_agent_response',
  silent: 'provider_failed',
  dribble: 'invalid_agent_response',
  cuts: 'provider_failed',
  hangs: 'provider_failed',
}

/** Answers below `/hostile`. */
export async function hostile(
  path: string,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  if (path.startsWith('hostile/.well-known/')) {
    const url = `http://${request.headers.host}/hostile/rpc`
    const supportedInterfaces = [{ url, protocolBinding: 'JSONRPC', protocolVersion: '1.0' }]
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify({ name: 'x', capabilities: { streaming: true }, supportedInterfaces }))
    return
  }
  if (path !== 'hostile/rpc') return void response.writeHead(404).end()
  const { id, method, params } = JSON.parse(await text(request))
  const what = params.message?.parts[0].text ?? ''
  const told = (result: object) => `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
  const task = { id: 't', contextId: 'c', status: { state: 'TASK_STATE_WORKING' } }
  // What is asked later is never answered.
  if (method !== 'SendStreamingMessage' || what === 'hangs') return
  const overcoded = OVERCODED.find(how => what === how)
  if (overcoded !== undefined) return void overcode(response, overcoded, 'text/event-stream')
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  if (what !== 'silent' && what !== 'dribble') response.write(told({ task }))
  const artifact = { artifactId: 'a', parts: [{ text: 'x'.repeat(1000) }] }
  const update = told({ artifactUpdate: { taskId: 't', contextId: 'c', artifact, append: true } })
  if (what === 'cuts') response.destroy()
  if (what === 'huge') response.end(`data: ${'x'.repeat(5_000_000)}`)
  if (what === 'endless') {
    const more = () => {
      while (!response.destroyed && response.write(update));
      if (!response.destroyed) response.once('drain', more)
    }
    more()
  }
  if (what === 'dribble') {
    const timer = setInterval(() => response.write(': still here\n'.repeat(200)), 5)
    response.once('close', () => clearInterval(timer))
  }
}

/** Each of them ends the run in time. */
export function hostileCases(server: Server): void {
  it.each(OVERCODED)('a hostile service, which the server outlives: %s', async what => {
    const { code } = await ask(server, HOSTILE, { input: what })
    // Where the runtime undoes codings, the service counts as lost.
    expect(['invalid_agent_response', 'provider_failed']).toContain(code)
    // What ends the process comes with the end of the connection, or with the time limit.
    expect(await ask(server, HOSTILE, { input: 'silent' })).toMatchObject({ code: 'provider_failed' })
  })

  it.concurrent.each(Object.entries(DOINGS))('a hostile service: %s', async (what, code) => {
    expect(await ask(server, HOSTILE, { input: what })).toMatchObject({ code })
  })
}
