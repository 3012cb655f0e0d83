/** A run that is cancelled before the service has answered its message, and so before it knows its task. */
import { describe, expect, it } from 'vitest'
import { RETIRED } from '../../../src/base/abort.ts'
import { eventually } from '../../eventually.ts'
import { eventsOf, noting, remote, service } from './service.ts'

/** A service whose answer to a message comes once the test lets it, as over a network: a request that was given up rejects. */
function slow() {
  const stopped = Promise.withResolvers<void>()
  const answering = Promise.withResolvers<void>()
  const sent = Promise.withResolvers<void>()
  const served = service((_, { signal }) => {
    signal.addEventListener('abort', () => stopped.resolve())
    return new Promise(() => {})
  })
  const { fetch: ask, methods } = noting(served)
  let signalOfMessage: AbortSignal | null | undefined
  const fetch: typeof ask = async (url, init) => {
    const isMessage = String(init?.body).includes('Message')
    const { signal, ...rest } = init ?? {}
    const response = await ask(url, isMessage ? rest : init)
    if (!isMessage) return response
    signalOfMessage = signal
    sent.resolve()
    const leaving = new Promise<never>((_, reject) =>
      signal?.addEventListener('abort', () => reject(signal.reason)),
    )
    await Promise.race([answering.promise, leaving])
    return response
  }
  return { fetch, methods, stopped, answering, sent, isGivenUp: () => signalOfMessage?.aborted }
}

/** A service without a list of tasks, as in A2A 0.3. */
const listless =
  (fetch: ReturnType<typeof slow>['fetch']): typeof fetch =>
  async (url, init) => {
    const body = String(init?.body)
    if (!body.includes('ListTasks')) return fetch(url, init)
    const error = { code: -32_601, message: 'no such method' }
    return Response.json({ jsonrpc: '2.0', id: JSON.parse(body).id, error })
  }

/** Starts a run, and leaves it once the service has the message. */
async function leave(
  { sent }: ReturnType<typeof slow>,
  options: Parameters<typeof remote>[0],
  reason?: unknown,
): Promise<void> {
  const leaving = new AbortController()
  const run = eventsOf(remote(options), 'hi', { signal: leaving.signal }).catch(() => {})
  await sent.promise
  leaving.abort(reason)
  await run
}

describe('a run that is cancelled before its message was answered', () => {
  it('cancels the task that the answer names, of a service that cannot list its tasks', async () => {
    const served = slow()
    const left = leave(served, { fetch: listless(served.fetch), cancelTimeoutMs: 30_000 })
    await served.sent.promise
    served.answering.resolve()
    await served.stopped.promise
    await left
    expect(served.methods().at(-1)).toBe('CancelTask')
  })

  it('looks for the task of a service that does not answer', async () => {
    const served = slow()
    await leave(served, { fetch: served.fetch, cancelTimeoutMs: 1000 })
    await served.stopped.promise
    expect(served.methods().slice(-2)).toEqual(['ListTasks', 'CancelTask'])
  })

  it('gives the request up in time where nothing is answered', async () => {
    const served = slow()
    await leave(served, { fetch: listless(served.fetch), cancelTimeoutMs: 20 })
    await eventually(() => expect(served.isGivenUp()).toBe(true))
    expect(served.methods()).not.toContain('CancelTask')
  })

  it('gives the request up at once, and cancels nothing, where another worker goes on', async () => {
    const served = slow()
    await leave(served, { fetch: served.fetch, cancelTimeoutMs: 60_000 }, new Error(RETIRED))
    await eventually(() => expect(served.isGivenUp()).toBe(true))
    served.answering.resolve()
    expect(served.methods()).not.toContain('CancelTask')
  })

  it('sends nothing where the credentials were not there yet', async () => {
    const { fetch: ask, methods } = noting(service(() => 'x'))
    const fetch: typeof ask = async (url, init) => {
      init?.signal?.throwIfAborted()
      return ask(url, init)
    }
    const asked = Promise.withResolvers<void>()
    const given = Promise.withResolvers<HeadersInit>()
    const headers = ({ method }: { readonly method: string }) => {
      if (method !== 'POST') return {}
      asked.resolve()
      return given.promise
    }
    const leaving = new AbortController()
    const run = eventsOf(remote({ fetch, headers, cancelTimeoutMs: 50 }), 'hi', { signal: leaving.signal })
    run.catch(() => {})
    await asked.promise
    leaving.abort()
    given.resolve({})
    await expect(run).rejects.toThrow()
    expect(methods()).not.toContain('SendStreamingMessage')
  })

  it('sends no second message to a service that then says that it has no streams', async () => {
    const served = slow()
    const { fetch, methods } = noting(service(() => 'x'))
    const refusing: typeof fetch = async (url, init) => {
      const body = String(init?.body)
      if (!body.includes('SendStreamingMessage')) return fetch(url, init)
      served.sent.resolve()
      await served.answering.promise
      const error = { code: -32_601, message: 'no such method' }
      return Response.json({ jsonrpc: '2.0', id: JSON.parse(body).id, error })
    }
    const left = leave(served, { fetch: refusing, cancelTimeoutMs: 30_000 })
    await served.sent.promise
    served.answering.resolve()
    await left
    expect(methods()).not.toContain('SendMessage')
  })
})
