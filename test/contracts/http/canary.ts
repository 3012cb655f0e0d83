import { describe, expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { secret } from '../secrets.ts'
import { ask, jsonRequest, post, type Server, toldOn } from './client.ts'
import { misbehavingNames } from './failures.ts'
import type { Host } from './host.ts'

const specific = {
  'x-provider-a-api-key': secret('a'),
  'x-provider-b-api-key': secret('b'),
  'x-provider-c-api-key': secret('c'),
}
const generic = { 'x-api-key': secret('generic') }
const body = { input: 'x', apiKey: secret('body') }

/** With the generic header, and without it, so that the body's key is used too. */
const rounds: readonly Record<string, string>[] = [{ ...specific, ...generic }, specific, {}]

async function pathsOf(server: Server): Promise<string[]> {
  const names: Record<string, string[]> = JSON.parse((await ask(server, '/api/registry')).text)
  return Object.entries(names).flatMap(([kind, list]) =>
    list.filter(isServedQuietly).map(name => `${kind}/${encodeURIComponent(name)}`),
  )
}

/** Whether a path is harmless. Paths that may end a weak server come last. */
function isServedQuietly(name: string): boolean {
  return !/^(iterates-|throws-when-looked-at)/.test(name) && !name.startsWith('made-')
}

/** The text of every answer, with and without masked errors. */
async function answersOf(server: Server, path: string): Promise<string[]> {
  const urls = ['short', 'short-dev'].flatMap(mount => [`${mount}/${path}/run`, `${mount}/${path}/stream`])
  const requests = urls.flatMap(url => rounds.map(headers => ({ url, headers })))
  const answers = requests.map(async ({ url, headers }) => {
    const response = await fetch(`${server().url}/${url}`, jsonRequest(body, headers))
    return [JSON.stringify([...response.headers]), await response.text()]
  })
  return (await Promise.all(answers)).flat()
}

/** Requests each path, a few at once. */
async function askAll(server: Server, paths: readonly string[]): Promise<string[]> {
  const left = [...paths]
  const answers: string[] = []
  const work = async () => {
    for (let path = left.pop(); path !== undefined; path = left.pop()) {
      answers.push(...(await answersOf(server, path)))
    }
  }
  await Promise.all(Array.from({ length: 4 }, work))
  return answers
}

export function canaryCases(server: Server): void {
  describe('provider keys sent to every agent', () => {
    it('are in no answer, event, bus payload or log line, whatever the agent does', async () => {
      const paths = await pathsOf(server)
      for (const name of misbehavingNames) expect(paths).toContain(`agents/${name}`)
      const answers = await askAll(server, paths)
      expect(answers.length).toBeGreaterThan(1000)
      expect(answers.filter(text => text.includes('sk-canary'))).toEqual([])
      expect(answers.some(text => text.includes('refused [redacted]'))).toBe(true)

      const told = JSON.stringify(await toldOn(server))
      expect(told).not.toContain('sk-canary')
      expect(told).toContain('refused [redacted]')

      const last = (await post(server, '/dev/agents/leaks-keys/run', body, generic)).headers.get('x-run-id')
      await eventually(() => expect(server().log()).toContain(last?.slice(0, 8)))
      expect(server().log()).not.toContain('sk-canary')
      expect(server().log()).toContain('refused [redacted]')
    }, 180_000)

    it('are in no refusal', async () => {
      const paths = ['/api/agents/nobody/run', '/api/agents/%zz/run', '/api/agents/echo/walk', '/api/agents']
      for (const path of paths) {
        const answer = await post(server, path, body, { ...specific, ...generic })
        expect(answer.status).toBeGreaterThanOrEqual(400)
        expect(answer.text).not.toContain('sk-canary')
      }
      const answer = await post(server, '/api/agents/echo/run', { ...body, input: 5, userId: [body.apiKey] })
      expect(answer.status).toBe(400)
      expect(answer.text).not.toContain('sk-canary')
    })

    it('leave no rest where one is the beginning of another', async () => {
      const headers = { 'x-provider-a-api-key': 'sk-rest', 'x-api-key': 'sk-rest-of-the-key' }
      const answer = await post(server, '/dev/agents/leaks-keys/run', { input: 'x' }, headers)
      expect(answer.status).toBe(500)
      expect(answer.text).not.toContain('of-the-key')
      const flipped = { 'x-api-key': 'sk-rest', 'x-provider-a-api-key': 'sk-rest-of-the-key' }
      const next = await post(server, '/dev/agents/leaks-keys/run', { input: 'x' }, flipped)
      expect(next.text).not.toContain('of-the-key')
    })
  })
}

/** Runs after all other cases. */
export function logCases(server: Server, { logsLeaving }: Host): void {
  it('holds no key of any request', () => {
    expect(server().log()).not.toMatch(/sk-(test|canary|rest)/)
  })

  it('tells of nothing that went unhandled', () => {
    const log = server().log()
    const ours = logsLeaving ? log.replaceAll('uncaughtException:  Error: aborted', '') : log
    expect(ours).not.toMatch(/unhandled|uncaught|exited with/i)
  })
}
