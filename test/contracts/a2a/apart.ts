/** Extensions, tenants, and teams and workflows as skills. */
import { describe, expect, it } from 'vitest'
import { CITATIONS } from './agents.ts'
import { cardAt } from './cards.ts'
import {
  as,
  type CallOptions,
  callOf,
  cancel,
  expectError,
  get,
  getTask,
  hear,
  type Json,
  list,
  messageOf,
  openSend,
  own,
  type Server,
  send,
  sendCall,
  sendForTask,
  subscribeCall,
  TONGUES,
  type Tongue,
  type Tongues,
  tongues,
} from './client.ts'
import { REQUIRED } from './service.ts'

const v1 = { 'a2a-version': '1.0' }
const v03 = { 'a2a-version': '0.3' }

export function extensionCases(server: Server): void {
  it('are on the card of each generation, and on none without them', async () => {
    const declared = [
      { uri: CITATIONS, description: 'Sources of what is said', params: { styles: ['short'] } },
      { uri: 'urn:example:other:v1' },
    ]
    for (const headers of [v1, v03, {}]) {
      const { card } = await cardAt(server, '/apart/.well-known/agent-card.json', headers)
      expect((card.capabilities as Json).extensions).toEqual(declared)
      const plain = await cardAt(server, '/.well-known/agent-card.json', headers)
      expect(plain.card.capabilities).not.toHaveProperty('extensions')
    }
    const { card } = await cardAt(server, '/required/.well-known/agent-card.json', v1)
    expect((card.capabilities as Json).extensions).toContainEqual({ uri: REQUIRED, required: true })
  })

  describe.each(tongues)('of a request: %s', (_, tongue) => {
    it.each(['a2a-extensions', 'x-a2a-extensions'])(
      'are told in %s: those that are declared',
      async header => {
        const headers = { [header]: `urn:nobody:v1 , ${CITATIONS}` }
        const heard = await send(server, tongue, { base: '/apart', headers })
        expect(heard.headers.get(header)).toBe(CITATIONS)
        const stream = sendCall(tongue, { base: '/apart', headers }, 'stream')
        const response = await fetch(`${server().url}${stream.path}`, stream.init)
        expect(response.headers.get(header)).toBe(CITATIONS)
        await response.text()
      },
    )

    it('are not told where none is active', async () => {
      for (const headers of [{}, { 'a2a-extensions': 'urn:nobody:v1' }, { 'a2a-extensions': ',,' }]) {
        const heard = await send(server, tongue, { base: '/apart', headers })
        expect(heard.headers.has('a2a-extensions')).toBe(false)
      }
    })

    it('must be named where one is required, to send and to stream', async () => {
      const base = '/required'
      const headers = { 'a2a-extensions': REQUIRED }
      for (const operation of ['send', 'stream'] as const) {
        for (const wrong of [{}, { 'a2a-extensions': CITATIONS }]) {
          const heard = await hear(server, tongue, sendCall(tongue, { base, headers: wrong }, operation))
          expect(expectError(tongue, heard, 'extensionRequired').message).toContain(REQUIRED)
        }
      }
      const { id } = await sendForTask(server, tongue, { base, headers })
      expect((await getTask(server, tongue, id, { base })).state).toBe('completed')
    })
  })
}

/** The tongues that reach a tenant below a base path: all. */
export function tenantCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('a tenant: %s', (_, tongue) => {
    const base = '/apart'
    const inside = (tenant: string, user: string): CallOptions => ({ base, tenant, headers: as(user) })

    it('keeps its tasks from other tenants, and from none, of the same user', async () => {
      const user = own('all')
      const contextId = own('context')
      const acme = inside('acme', user)
      const { id } = await sendForTask(server, tongue, { agent: 'clerk', contextId, ...acme })
      const others: readonly CallOptions[] = [inside('zeta', user), { base, headers: as(user) }]
      for (const other of others) {
        for (const heard of [
          await get(server, tongue, id, other),
          await cancel(server, tongue, id, other),
          await hear(server, tongue, subscribeCall(tongue, id, other)),
          await hear(server, tongue, subscribeCall(tongue, id, { ...other, lastEventId: '0' })),
          await send(server, tongue, { taskId: id, text: 'Oslo', ...other }),
          await hear(server, tongue, sendCall(tongue, { taskId: id, ...other }, 'stream')),
        ]) {
          expectError(tongue, heard, 'taskNotFound')
        }
        const { tasks, totalSize } = await list(server, TONGUES.rest1, { contextId }, other)
        expect([tasks, totalSize]).toEqual([[], 0])
      }
      const page = await list(server, TONGUES.rest1, {}, acme)
      expect(page).toMatchObject({ tasks: [{ id }], totalSize: 1 })
      expect((await sendForTask(server, tongue, { taskId: id, text: 'Oslo', ...acme })).state).toBe(
        'completed',
      )
    })

    it('gives its agent a conversation of its own, and its name', async () => {
      const user = own('acme')
      const sending = { agent: 'knows', ...inside('acme', user) }
      const { artifacts } = await sendForTask(server, tongue, sending)
      const data = artifacts[0]?.parts[0]?.data as Json
      expect(data.data ?? data).toMatchObject({ tenant: 'acme', sessionId: 'tenant:acme/' })
    })

    it('is refused to who may not use it, to strangers, and where nobody can say', async () => {
      for (const options of [
        inside('zeta', own('acme')),
        { base, tenant: 'acme' },
        inside('nowhere', own('acme')),
        inside('broken', own('acme')),
      ]) {
        const { message } = expectError(tongue, await send(server, tongue, { ...options }), 'forbidden')
        expect(message).toBe('You may not use this tenant')
        expectError(tongue, await get(server, tongue, crypto.randomUUID(), options), 'forbidden')
      }
      const anyone = await sendForTask(server, tongue, { base, tenant: 'public' })
      expect(anyone.state).toBe('completed')
    })

    it('offers its own agents', async () => {
      const narrow = inside('narrow', own('narrow'))
      const { message } = expectError(
        tongue,
        await send(server, tongue, { agent: 'clerk', ...narrow }),
        'invalidParams',
      )
      expect(message).toContain('`mirror`, `team/desk`')
      expect(message).not.toContain('clerk')
      expect((await sendForTask(server, tongue, { agent: 'mirror', ...narrow })).state).toBe('completed')
      // It has one agent, and the default is none of its agents.
      expect((await sendForTask(server, tongue, narrow)).artifacts[0]?.id).toBe('mirror')
    })

    it('must be named where the service has nothing else', async () => {
      const heard = await send(server, tongue, { base: '/tenanted' })
      expect(expectError(tongue, heard, 'invalidParams').message).toContain('`tenant`')
      const options = { base: '/tenanted', tenant: 'acme', headers: as(own('acme')) }
      expect((await sendForTask(server, tongue, options)).state).toBe('completed')
    })

    it('has contexts that no other conversation can name', async () => {
      const heard = await send(server, tongue, { base, contextId: 'tenant:acme/x' })
      expect(expectError(tongue, heard, 'invalidParams').message).toContain('`contextId`')
    })
  })

  it('is refused where there are none, and where its name is no text', async () => {
    for (const tongue of [TONGUES.rpc1]) {
      expectError(tongue, await send(server, tongue, { tenant: 'acme' }), 'invalidParams')
      const call = sendCall(tongue, { base: '/apart' })
      for (const tenant of [7, {}, 'x'.repeat(201), 'all-\ud800']) {
        const body = JSON.parse(String(call.init.body)) as { params: Json }
        body.params.tenant = tenant
        const heard = await hear(server, tongue, {
          ...call,
          init: { ...call.init, body: JSON.stringify(body) },
        })
        expectError(tongue, heard, 'invalidParams')
      }
    }
  })

  it('has a card of its own, for those who may use it', async () => {
    const path = '/apart/acme/.well-known/agent-card.json'
    const { card } = await cardAt(server, path, { ...v1, ...as(own('acme')) })
    expect(card.description).toBe('agents of acme')
    const interfaces = card.supportedInterfaces as Json[]
    const of10 = interfaces.filter(({ protocolVersion }) => protocolVersion === '1.0')
    for (const each of of10) expect([each.tenant, each.url]).toEqual(['acme', `${server().url}/apart`])
    for (const each of interfaces) {
      if (of10.includes(each)) continue
      expect([each.tenant, each.url]).toEqual([undefined, `${server().url}/apart/acme`])
    }
    const narrow = await cardAt(server, path.replace('acme', 'narrow'), { ...v1, ...as(own('narrow')) })
    expect((narrow.card.skills as Json[]).map(({ id }) => id)).toEqual(['mirror', 'team/desk'])
    for (const headers of [{}, as(own('zeta'))])
      expect((await cardAt(server, path, headers)).status).toBe(403)
  })
}

/** Tenants of a service at the root: there HTTP+JSON alone has them in the path. */
export function rootTenantCases(server: Server): void {
  it.each([
    ['1.0 JSON-RPC', TONGUES.rpc1],
    ['1.0 HTTP+JSON', TONGUES.rest1],
    ['0.3 HTTP+JSON', TONGUES.rest03],
  ])('is served: %s', async (_, tongue: Tongue) => {
    const user = own('all')
    const acme = { tenant: 'acme', headers: as(user) }
    const { id } = await sendForTask(server, tongue, acme)
    expect((await getTask(server, tongue, id, acme)).state).toBe('completed')
    expectError(tongue, await get(server, tongue, id, { headers: as(user) }), 'taskNotFound')
  })

  it('has a card whose addresses are served', async () => {
    const headers = { ...v1, ...as(own('acme')) }
    const { card } = await cardAt(server, '/acme/.well-known/agent-card.json', headers)
    const older = (card.supportedInterfaces as Json[]).filter(({ tenant }) => tenant === undefined)
    expect(older).toEqual([
      { url: `${server().url}/acme`, protocolBinding: 'HTTP+JSON', protocolVersion: '0.3' },
    ])
  })
}

export function skillCases(server: Server, spoken: Tongues = tongues): void {
  describe.each(spoken)('teams and workflows: %s', (_, tongue) => {
    it('answer as skills', async () => {
      const team = await sendForTask(server, tongue, { agent: 'team/desk', text: 'echo this' })
      expect([team.state, team.artifacts[0]?.text]).toEqual(['completed', 'echo this'])
      const workflow = await sendForTask(server, tongue, { agent: 'workflow/pipeline', text: 'all' })
      expect([workflow.state, workflow.artifacts[0]?.text]).toEqual(['completed', 'told all'])
    })

    it('answer at endpoints of their own', async () => {
      const team = await sendForTask(server, tongue, { base: '/teams/desk', text: 'echo this' })
      expect(team.artifacts[0]?.text).toBe('echo this')
      const workflow = await sendForTask(server, tongue, { base: '/workflows/pipeline', text: 'all' })
      expect(workflow.artifacts[0]?.text).toBe('told all')
    })

    it("tell a workflow's steps as statuses", async () => {
      const stream = await openSend(server, tongue, { agent: 'workflow/pipeline', text: 'all' })
      const told = JSON.stringify((await stream.rest()).map(({ json }) => json))
      for (const word of ['"gather"', '"tell"', '"started"', '"progress"', '"completed"', 'gathering']) {
        expect(told).toContain(word)
      }
    })
  })

  it('are on the card, with their examples, and have cards of their own', async () => {
    const { card } = await cardAt(server, '/.well-known/agent-card.json', v1)
    const skills = card.skills as Json[]
    expect(skills.find(({ id }) => id === 'team/desk')).toEqual({
      id: 'team/desk',
      name: 'desk',
      description: 'Sends on',
      tags: ['team'],
      examples: ['echo this'],
    })
    const own = await cardAt(server, '/workflows/pipeline/.well-known/agent-card.json', v1)
    expect(own.card).toMatchObject({ name: 'pipeline', skills: [{ id: 'workflow/pipeline' }] })
    for (const path of ['/teams/pipeline', '/workflows/desk', '/agents/desk']) {
      expect((await cardAt(server, `${path}/.well-known/agent-card.json`, v1)).status).toBe(404)
    }
  })
}

export function streamlessCases(server: Server, spoken: Tongues = tongues): void {
  it.each(spoken)('are refused, and other answers are not: %s', async (_, tongue) => {
    const base = '/whole'
    const call = callOf(tongue, 'stream', { message: messageOf(tongue.dialect) }, { base })
    expectError(tongue, await hear(server, tongue, call), 'unsupportedOperation')
    const { id } = await sendForTask(server, tongue, { agent: 'clerk', base })
    expectError(
      tongue,
      await hear(server, tongue, subscribeCall(tongue, id, { base })),
      'unsupportedOperation',
    )
  })

  it('are not on the card', async () => {
    const { card } = await cardAt(server, '/whole/.well-known/agent-card.json', v1)
    expect(card.capabilities).toMatchObject({ streaming: false })
  })
}
