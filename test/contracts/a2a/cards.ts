import { describe, expect, it } from 'vitest'
import { askAs, NO_HOSTS } from '../http/hosts.ts'
import { agents } from './agents.ts'
import type { Fields, Json, Server } from './client.ts'
import { PUBLIC_URL } from './service.ts'

const PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json']
const OLD_ONLY = [
  'url',
  'preferredTransport',
  'additionalInterfaces',
  'protocolVersion',
  'supportsAuthenticatedExtendedCard',
]

interface Shown {
  readonly status: number
  readonly headers: Headers
  readonly card: Json
}

export async function cardAt(server: Server, path: string, headers: Fields = {}): Promise<Shown> {
  const response = await fetch(`${server().url}${path}`, { headers })
  const text = await response.text()
  return { status: response.status, headers: response.headers, card: text === '' ? {} : JSON.parse(text) }
}

function expectV1(card: Json, url: string): void {
  expect(card.supportedInterfaces).toEqual(
    ['1.0', '0.3'].flatMap(protocolVersion =>
      ['JSONRPC', 'HTTP+JSON'].map(protocolBinding => ({ url, protocolBinding, protocolVersion })),
    ),
  )
  expect(card.capabilities).toEqual({ streaming: true, pushNotifications: false, extendedAgentCard: false })
  expect(card.securitySchemes).toMatchObject({ bearer: { httpAuthSecurityScheme: { scheme: 'bearer' } } })
}

function expectV03(card: Json, url: string): void {
  expect(card).toMatchObject({ url, preferredTransport: 'JSONRPC', protocolVersion: '0.3.0' })
  expect(card.additionalInterfaces).toEqual(['JSONRPC', 'HTTP+JSON'].map(transport => ({ url, transport })))
  expect(card.securitySchemes).toMatchObject({ bearer: { type: 'http', scheme: 'bearer' } })
}

export function cardCases(server: Server): void {
  describe.each(PATHS)('the card at %s', path => {
    it('is read by every generation when nobody says which', async () => {
      for (const headers of [{}, { 'a2a-version': '' }]) {
        const { status, headers: fields, card } = await cardAt(server, path, headers)
        expect([status, fields.get('content-type')]).toEqual([200, 'application/json'])
        expectV1(card, server().url)
        expectV03({ ...card }, server().url)
        expect(card).toMatchObject({
          name: 'contract',
          version: '2.3.4',
          provider: { organization: 'Example', url: 'https://example.com' },
        })
        const skills = card.skills as Json[]
        expect(skills.map(({ id }) => id).sort()).toEqual(
          [...Object.keys(agents), 'team/desk', 'workflow/pipeline'].sort(),
        )
      }
    })

    it('is of 1.0 alone for who says so', async () => {
      for (const version of ['1.0', '1.0.1']) {
        const { card } = await cardAt(server, path, { 'a2a-version': version })
        expectV1(card, server().url)
        for (const name of OLD_ONLY) expect(card).not.toHaveProperty(name)
      }
    })

    it('is of 0.3 alone for who says so', async () => {
      const { card } = await cardAt(server, path, { 'a2a-version': '0.3' })
      expectV03(card, server().url)
      expect(card).not.toHaveProperty('supportedInterfaces')
    })

    it('is refused to who speaks another version', async () => {
      expect((await cardAt(server, path, { 'a2a-version': '2.0' })).status).toBe(400)
    })

    it('may be kept, and is not sent again to who has it', async () => {
      const { headers } = await cardAt(server, path)
      const etag = headers.get('etag') ?? ''
      const modified = headers.get('last-modified') ?? ''
      expect(etag).toMatch(/^"[\da-f]+"$/)
      expect(new Date(modified).toUTCString()).toBe(modified)
      expect(headers.get('cache-control')).toMatch(/^private, max-age=\d+$/)
      // A server around the handler may add names of its own to `vary`.
      expect(headers.get('vary')).toMatch(/(^|, )A2A-Version, Host(, Accept-Encoding)?$/)
      const known: Fields[] = [
        { 'if-none-match': etag },
        { 'if-none-match': `"x", W/${etag}` },
        { 'if-none-match': '*' },
        { 'if-modified-since': modified },
      ]
      for (const fields of known) {
        const again = await cardAt(server, path, fields)
        expect([again.status, again.card, again.headers.get('etag')]).toEqual([304, {}, etag])
      }
      const unknown: Fields[] = [
        { 'if-none-match': '"x"' },
        { 'if-none-match': '"x"', 'if-modified-since': modified },
        { 'if-modified-since': 'Thu, 01 Jan 1970 00:00:00 GMT' },
        { 'if-modified-since': 'x' },
        { 'if-none-match': etag, 'a2a-version': '1.0' },
      ]
      for (const fields of unknown) expect((await cardAt(server, path, fields)).status).toBe(200)
    })

    it('states the address that the deployment has', async () => {
      const { headers, card } = await cardAt(server, `/public${path}`)
      expectV1(card, `${PUBLIC_URL}/public`)
      expectV03(card, `${PUBLIC_URL}/public`)
      expect(headers.get('cache-control')).toMatch(/^public, max-age=\d+$/)
      expect(headers.get('vary')).toMatch(/(^|, )A2A-Version(, Accept-Encoding)?$/)
    })

    it('is strict by default where an option says so', async () => {
      const { card } = await cardAt(server, `/strict${path}`)
      expectV1(card, `${server().url}/strict`)
      for (const name of OLD_ONLY) expect(card).not.toHaveProperty(name)
      const old = await cardAt(server, `/strict${path}`, { 'a2a-version': '0.3' })
      expectV03(old.card, `${server().url}/strict`)
    })

    it('of one agent is of that agent alone, with its address', async () => {
      for (const base of ['', '/strict']) {
        const { card } = await cardAt(server, `${base}/agents/clerk${path}`, { 'a2a-version': '1.0' })
        expectV1(card, `${server().url}${base}/agents/clerk`)
        expect(card.name).toBe('clerk')
        expect((card.skills as Json[]).map(({ id }) => id)).toEqual(['clerk'])
      }
      expect((await cardAt(server, `/agents/nobody${path}`)).status).toBe(404)
    })

    it('is read with HEAD, and by everyone where others are refused', async () => {
      const response = await fetch(`${server().url}${path}`, { method: 'HEAD' })
      expect([response.status, await response.text()]).toEqual([200, ''])
      expect((await fetch(`${server().url}${path}`)).headers.get('x-middleware')).toBe('card')
    })
  })

  it('states no address that is none, and every other one as the client has asked for it', async () => {
    for (const host of NO_HOSTS) {
      const { status, text } = await askAs(server, host, PATHS[0]!)
      // A server before the handler may have replaced the host.
      if (status === 200) expect(URL.canParse(JSON.parse(text).url), host).toBe(true)
      else expect(status, host).toBe(400)
    }
    for (const host of ['agents.example', 'agents.example.:8080', '[::1]:3000']) {
      const { text } = await askAs(server, host, PATHS[0]!)
      expect(JSON.parse(text).url).toBe(`http://${host}`)
    }
  })

  it('is named after the only agent, or after nobody', async () => {
    expect((await cardAt(server, '/one/.well-known/agent-card.json')).card.skills).toHaveLength(1)
    expect((await cardAt(server, '/unnamed/.well-known/agent-card.json')).card.name).toBe('servable')
  })
}
