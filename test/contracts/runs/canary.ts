import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { filesIn } from '../run-host/folder.ts'
import { secret, secretHeaders } from '../secrets.ts'
import { accept, as, ask, ended, type Fields, own, post, type Server } from './client.ts'

const secrets = secretHeaders()
const body = { input: 'x', apiKey: secret('body') }

/** Agents whose errors contain every key that they got, and normal agents. */
const servables = [
  'agents/leaks-keys',
  'agents/leaks-keys-agent',
  'agents/loud',
  'teams/doomed',
  'agents/told',
]

/** Runs with every key: without an identity, with an idempotency key, and as an owner. Reads each run in every way. */
async function answersOf(server: Server, servable: string): Promise<string[]> {
  const owner = as(own('owner'))
  const requests: [viewer: Fields, headers: Fields][] = [
    [{}, secrets],
    [{}, { ...secrets, 'idempotency-key': secret('key') }],
    [owner, { ...secrets, ...owner }],
  ]
  const texts: string[] = []
  for (const [viewer, headers] of requests) {
    const { id } = await accept(server, servable, body, headers)
    await ended(server, id, viewer)
    const paths = [`/api/runs/${id}`, `/api/runs/${id}/stream`, '/open/runs']
    for (const path of paths) texts.push((await ask(server, path, { headers: viewer })).text)
    const background = { ...body, background: true }
    texts.push((await post(server, `/api/${servable}/run`, background, { ...secrets, ...viewer })).text)
  }
  return texts
}

export function canaryCases(server: Server): void {
  describe('provider keys and credentials of stored runs', () => {
    it.each(servables)('are in no answer about %s', async servable => {
      for (const answer of await answersOf(server, servable)) expect(answer).not.toContain('sk-canary')
      await eventually(() => expect(server().log()).toContain('refused [redacted]'))
      expect(server().log()).not.toContain('sk-canary')
    })

    it('are in no stored file', async () => {
      const { folder } = server()
      const { id } = await accept(server, 'agents/loud', { ...body, sessionId: 'stored-for-all' }, secrets)
      await ended(server, id)
      if (folder === undefined) return
      const files = await filesIn(folder)
      const holding = (text: string) =>
        [...files].filter(([, bytes]) => bytes.includes(text)).map(([path]) => path)
      expect(holding('stored-for-all')).not.toEqual([])
      expect(holding('sk-canary')).toEqual([])
    })
  })
}

/** Runs after all other cases. */
export function runLogCases(server: Server): void {
  it('has where a stored run failed, and in which request, once', async () => {
    const requestId = own('request')
    const headers = { 'x-request-id': requestId, 'idempotency-key': own('key') }
    await post(server, '/api/agents/leaks-keys/run', body, headers)
    const lines = () =>
      server()
        .log()
        .split('\n')
        .filter(line => line.includes(requestId) && line.includes('run.failed'))
    await eventually(() => expect(lines().length).toBe(1))
    expect(lines()[0]).toMatch(/"stack":"Error: [^"]*\\n {4}at /)
  })

  it('holds no key, no id that is enough to read a run, and nothing that went unhandled', async () => {
    const log = server().log()
    expect(log).not.toMatch(/sk-(test|canary)/)
    expect(log).not.toMatch(/unhandled|uncaught|exited with/i)
    const told = log.split('\n').flatMap(line => [...line.matchAll(/"runId":"([^"]+)"/g)])
    expect(told.length).toBeGreaterThan(0)
    const whole = new Set(told.flatMap(([, runId = '']) => (runId.length === 8 ? [] : [runId])))
    for (const id of whole) expect((await ask(server, `/api/runs/${id}`)).status).toBe(404)
  })
}
