import { createHash } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { post } from '../http/client.ts'
import { filesIn } from '../run-host/folder.ts'
import { secretHeaders } from '../secrets.ts'
import {
  as,
  callOf,
  type Fields,
  fetchCall,
  list,
  openSend,
  own,
  type Server,
  send,
  subscribeCall,
  TONGUES,
  tongues,
} from './client.ts'

const digest = (text: string | undefined) =>
  createHash('sha256')
    .update(text ?? '')
    .digest('hex')

const secrets = secretHeaders()

/** Agents whose errors contain every key that they got, and some normal agents. */
const AGENTS = ['leaks-keys', 'leaks-keys-agent', 'loud', 'keyed', 'clerk', 'says']

export function keyCases(server: Server): void {
  it.each(tongues)('the keys of a request reach its agent as they do on HTTP: %s', async (_, tongue) => {
    const some: Fields[] = [
      secrets,
      { 'x-provider-a-api-key': secrets['x-provider-a-api-key']! },
      { 'x-provider-b-api-key': secrets['x-provider-b-api-key']! },
      { 'x-api-key': secrets['x-api-key']! },
      {},
    ]
    for (const headers of some) {
      const { text } = await post(server, '/api/agents/keyed/run', { input: 'x' }, headers)
      const { structured } = JSON.parse(text)
      const { task } = await send(server, tongue, { agent: 'keyed', headers })
      const [artifact] = task?.artifacts ?? []
      expect(artifact?.parts).toEqual([tongue.dialect.data(structured)])
      const key = headers['x-provider-a-api-key'] ?? headers['x-api-key']
      expect(structured.apiKey).toBe(key === undefined ? null : digest(key))
    }
  })
}

/** Every kind of answer about a task, from its first message on. */
async function answersAbout(server: Server, agent: string, headers: Fields): Promise<string[]> {
  const texts: string[] = []
  const owner = as(own('owner'))
  for (const [, tongue] of tongues) {
    const options = { headers: { ...headers, ...owner } }
    const heard = await send(server, tongue, { agent, ...options })
    const stream = await openSend(server, tongue, { agent, ...options })
    texts.push(heard.text, JSON.stringify([...heard.headers]), JSON.stringify(await stream.rest()))
    const id = heard.task?.id ?? 'none'
    for (const call of [
      callOf(tongue, 'get', { id }, options),
      callOf(tongue, 'cancel', { id }, options),
      callOf(tongue, 'get', { id: 'none' }, options),
    ]) {
      texts.push(await (await fetchCall(server, call)).text())
    }
    if (heard.task !== undefined && agent !== 'clerk') {
      const again = subscribeCall(tongue, id, { ...options, lastEventId: '0' })
      texts.push(await (await fetchCall(server, again)).text())
    }
  }
  texts.push(
    JSON.stringify(await list(server, TONGUES.rest1, { includeArtifacts: true }, { headers: owner })),
  )
  return texts
}

/** These cases run alone, since they read everything that the server has written. */
export function canaryCases(server: Server): void {
  describe('a key', () => {
    it('is in no answer, no log and no file', async () => {
      const texts = (await Promise.all(AGENTS.map(agent => answersAbout(server, agent, secrets)))).flat()
      const canaries = Object.values(secrets).map(text => text.replace(/^(Bearer |session=)/, ''))
      for (const canary of canaries) {
        for (const text of texts) expect(text).not.toContain(canary)
        expect(server().log()).not.toContain(canary)
      }
      const { folder } = server()
      if (folder === undefined) return
      const files = await filesIn(folder)
      expect(files.size).toBeGreaterThan(0)
      const whole = Buffer.concat([...files.values()])
      expect(whole.includes('Oslo') || whole.includes('hello')).toBe(true)
      for (const canary of canaries) expect(whole.includes(canary)).toBe(false)
    })
  })
}
