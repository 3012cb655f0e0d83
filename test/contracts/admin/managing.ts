import { createServer } from 'node:http'
import { expect, it } from 'vitest'
import type { ToolServer } from '../../../src/index.ts'
import { eventually } from '../../eventually.ts'
import { listening } from '../../listening.ts'
import { jsonRequest, run, stream } from '../http/client.ts'
import { ask, post, type Server } from '../runs/client.ts'
import { served } from '../served.ts'
import {
  addServer,
  admin,
  callOf,
  expectAdmin,
  getServer,
  newName,
  removeServer,
  toolNames,
  untilStatus,
} from './client.ts'
import { serveTools } from './served-tools.ts'

const RUN = '/api/agents/caller/run'
const STREAM = '/api/agents/caller/stream'

/** Management of tool servers by administrators, and their use by agents. */
export function managingCases(server: Server): void {
  const tools = served(() => serveTools())
  const httpServer = (name = newName()) => ({ name, transport: 'http', url: `${tools().url}/mcp` })

  it('adds a server, connects it and shows it', async () => {
    const name = newName()
    const added = await addServer(server, {
      ...httpServer(name),
      headers: { authorization: 'Bearer abc-123456' },
    })
    expect(added).toEqual({
      id: expect.stringMatching(/^[\da-f-]{36}$/),
      name,
      transport: 'http',
      url: `${tools().url}/mcp`,
      command: null,
      status: 'connected',
      toolCount: 5,
      error: null,
      warnings: [],
      needsApproval: false,
      elicitation: 'refuse',
      signIn: null,
      connectedAt: expect.stringMatching(/^\d{4}-.*Z$/),
      createdAt: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    expect(await getServer(server, added)).toEqual(added)
    expect(await expectAdmin<ToolServer[]>(server, 'GET', 'mcp')).toContainEqual(added)
    expect(tools().seen.credentials).toContain('Bearer abc-123456')
    await removeServer(server, added)
  })

  it('calls a tool for an administrator, without an agent', async () => {
    const name = newName()
    const added = await addServer(server, httpServer(name))
    const call = (tool: string, args: unknown, status = 200) =>
      expectAdmin<object>(server, 'POST', `tools/${tool}/call`, { status, body: { args } })
    expect(await call('add', {})).toEqual({ result: 3, durationMs: expect.any(Number) })
    expect(await call(`${name}.sum`, { a: 1, b: 2 })).toMatchObject({ result: expect.anything() })
    expect(await call(`${name}.fail`, {}, 502)).toMatchObject({ code: 'tool_failed' })
    expect(await call('nothing', {}, 404)).toMatchObject({ code: 'tool_not_found' })
    expect(await call(`${name}.nothing`, {}, 404)).toMatchObject({ code: 'tool_not_found' })
    expect(
      await expectAdmin(server, 'POST', 'tools/add/call', { status: 400, body: ['no object'] }),
    ).toMatchObject({ code: 'invalid_body' })
    await removeServer(server, added)
  })

  it('offers its tools at once, each with its schema', async () => {
    const name = newName()
    const added = await addServer(server, httpServer(name))
    expect(await toolNames(server, name)).toEqual(
      ['forecast', 'sum', 'fail', 'tell', 'wait'].map(each => `${name}.${each}`),
    )
    const detail = JSON.parse((await ask(server, `/api/tools/${name}.forecast`)).text)
    expect(detail).toMatchObject({
      name: `${name}.forecast`,
      description: 'The weather of a city',
      parameters: { type: 'object', properties: { city: { type: 'string' } }, required: ['city'] },
      toolkit: null,
      server: name,
    })
    const listed = await expectAdmin<object[]>(server, 'GET', `mcp/${added.id}/tools`)
    expect(listed).toHaveLength(5)
    expect(listed[0]).toMatchObject({ name: `${name}.forecast`, server: name })
    await removeServer(server, added)
  })

  it('lets an agent call them, and tells of the calls', async () => {
    const name = newName()
    const added = await addServer(server, httpServer(name))
    const result = await run(server, RUN, callOf(`${name}.forecast`, { city: 'Oslo' }))
    expect(result.text).toBe('Sunny in Oslo')
    expect(result.toolCalls).toEqual([
      {
        toolCallId: expect.any(String),
        toolName: `${name}.forecast`,
        args: { city: 'Oslo' },
        result: 'Sunny in Oslo',
      },
    ])
    const { events } = await stream(server, STREAM, callOf(`${name}.sum`, { a: 1, b: 2 }))
    expect(events.map(({ type }) => type)).toEqual([
      'tool_call_start',
      'tool_call_delta',
      'tool_call_ready',
      'tool_call_end',
      'text',
      'finish',
    ])
    expect(events[3]).toMatchObject({ result: { sum: 3 } })
    // A stored run may be somewhere else than the request.
    const followed = await run(server, RUN, {
      ...callOf(`${name}.forecast`, { city: 'Bergen' }),
      background: true,
    })
    expect(followed.text).toBe('Sunny in Bergen')
    expect(tools().seen.calls.slice(-2)).toEqual(['Oslo', 'Bergen'])
    await removeServer(server, added)
  })

  it('lets an agent list and read its resources and prompts, without its secrets', async () => {
    const name = newName()
    const headers = { authorization: 'Bearer abc-654321' }
    const added = await addServer(server, { ...httpServer(name), headers })
    const read = async (query: object) =>
      JSON.parse(
        (await run(server, '/api/agents/reader/run', { input: `${name} ${JSON.stringify(query)}` })).text,
      )
    expect(await read({ kind: 'resources' })).toEqual({
      resources: [
        { uri: 'docs://guide', name: 'guide', description: 'How it works', mimeType: null, size: null },
      ],
      templates: [
        { uriTemplate: 'docs://city/{city}', name: 'city', description: null, mimeType: 'text/plain' },
      ],
      warnings: [],
    })
    const [guide] = await read({ kind: 'resource', uri: 'docs://guide' })
    expect(guide).toMatchObject({ uri: 'docs://guide', mimeType: 'text/plain' })
    expect(guide.text).toContain('[redacted]')
    expect(guide.text).not.toContain('abc-654321')
    expect(await read({ kind: 'resource', uri: 'docs://city/Oslo' })).toEqual([
      { uri: 'docs://city/Oslo', mimeType: 'text/plain', text: 'About Oslo' },
    ])
    expect(await read({ kind: 'prompts' })).toEqual({
      prompts: [
        {
          name: 'greet',
          description: 'Greets',
          arguments: [{ name: 'name', description: null, required: true }],
        },
      ],
      warnings: [],
    })
    expect(await read({ kind: 'prompt', name: 'greet', args: { name: 'Ada' } })).toEqual({
      description: null,
      messages: [{ role: 'user', content: { type: 'text', text: 'Hello Ada' } }],
    })
    const unknown = await post(server, '/api/agents/reader/run', {
      input: `${name} {"kind":"resource","uri":"docs://none"}`,
    })
    expect([unknown.status, JSON.parse(unknown.text).code]).toEqual([502, 'tool_failed'])
    await removeServer(server, added)
    const gone = await post(server, '/api/agents/reader/run', { input: `${name} {"kind":"prompts"}` })
    expect([gone.status, JSON.parse(gone.text).code]).toEqual([404, 'tool_server_not_found'])
  })

  it('asks for an approval of the tools that the definition names, and of no other', async () => {
    const name = newName()
    const body = { ...httpServer(name), needsApproval: ['forecast', 'gone'] }
    const added = await addServer(server, body)
    expect(added).toMatchObject({
      needsApproval: ['forecast', 'gone'],
      warnings: ['`needsApproval`: there is no tool `gone`'],
    })
    const listed = await expectAdmin<object[]>(server, 'GET', `mcp/${added.id}/tools`)
    expect(listed.slice(0, 2)).toMatchObject([{ needsApproval: true }, { needsApproval: false }])
    expect((await run(server, RUN, callOf(`${name}.sum`, { a: 1, b: 2 }))).finishReason).toBe('stop')
    const calls = tools().seen.calls.length
    const first = await run(server, RUN, callOf(`${name}.forecast`, { city: 'Oslo' }))
    expect(first).toMatchObject({ finishReason: 'input_required' })
    const [{ id, ...request } = { id: '' }] = first.requests ?? []
    expect(request).toMatchObject({
      kind: 'approval',
      toolName: `${name}.forecast`,
      args: { city: 'Oslo' },
    })
    expect(tools().seen.calls).toHaveLength(calls)
    const answers = [{ id, decision: 'approve' }]
    const second = await run(server, `/api/runs/${first.runId}/answers`, { answers })
    expect(second.text).toBe('Sunny in Oslo')
    expect(tools().seen.calls).toHaveLength(calls + 1)
    await removeServer(server, added)
  })

  it('asks the run what a tool asks, and goes on with the answers', async () => {
    const own = await serveTools({ asks: true })
    const added = await addServer(server, { ...httpServer(), url: own.url, elicitation: 'ask' })
    const name = `${added.name}.order`
    const call = callOf(name, { item: 'shirt' })
    let result = await run(server, '/api/agents/asker/run', call)
    for (const [message, key, value] of [
      ['Which size of shirt?', 'size', { size: 'L' }],
      ['Which colour?', 'colour', null],
    ] as const) {
      expect(result).toMatchObject({ finishReason: 'input_required' })
      expect(result.requests).toEqual([
        {
          id: expect.any(String),
          digest: expect.any(String),
          kind: 'question',
          message: `\`${name}\` asks: ${message}`,
          schema: { type: ['object', 'null'], properties: { [key]: { type: 'string' } }, required: [key] },
        },
      ])
      expect(JSON.stringify(result)).not.toContain('state-')
      const [{ id } = { id: '' }] = result.requests ?? []
      result = await run(server, `/api/runs/${result.runId}/answers`, { answers: [{ id, value }] })
    }
    expect(result.text).toBe('"shirt, L, any"')
    expect(own.seen.calls).toEqual(['shirt', 'shirt', 'shirt'])
    // Nobody is asked in a plain call.
    expect((await run(server, RUN, call)).text).toBe('shirt, any, any')
    await removeServer(server, added)
    const silent = await addServer(server, { ...httpServer(), url: own.url })
    for (const agent of ['asker', 'caller']) {
      const refused = await post(
        server,
        `/api/agents/${agent}/run`,
        callOf(`${silent.name}.order`, { item: 'x' }),
      )
      expect([refused.status, JSON.parse(refused.text).code]).toEqual([502, 'tool_failed'])
    }
    await removeServer(server, silent)
    await own.stop()
  })

  it('fails a run with what a tool says of its failure, and with what is wrong with its arguments', async () => {
    const name = newName()
    const added = await addServer(server, httpServer(name))
    for (const [call, words] of [
      [callOf(`${name}.fail`), 'There is no weather today'],
      [callOf(`${name}.forecast`, { city: 7 }), 'city'],
    ] as const) {
      const answer = await post(server, RUN, call)
      expect(answer.status, answer.text).toBe(502)
      expect(JSON.parse(answer.text)).toMatchObject({
        code: 'tool_failed',
        detail: expect.stringContaining(words),
      })
      const { events } = await stream(server, STREAM, call)
      expect(events.at(-2)).toMatchObject({ type: 'tool_call_end', code: 'tool_failed' })
      expect(events.at(-1)).toMatchObject({ type: 'error', code: 'tool_failed' })
    }
    const unknown = await post(server, RUN, callOf(`${name}.nothing`))
    expect([unknown.status, JSON.parse(unknown.text).code]).toEqual([404, 'tool_not_found'])
    await removeServer(server, added)
  })

  it('cancels a call on the tool server when the client of its run leaves', async () => {
    const added = await addServer(server, httpServer())
    const before = tools().seen.cancelled
    const leaving = new AbortController()
    const { body } = await fetch(`${server().url}${STREAM}`, {
      ...jsonRequest(callOf(`${added.name}.wait`)),
      signal: leaving.signal,
    })
    await body?.getReader().read()
    await eventually(() => expect(tools().open).toBeGreaterThan(0))
    leaving.abort()
    await eventually(() => expect(tools().seen.cancelled).toBe(before + 1))
    await removeServer(server, added)
  })

  it('ends a call that takes too long', async () => {
    const added = await addServer(server, httpServer())
    const answer = await post(server, RUN, callOf(`${added.name}.wait`))
    expect(JSON.parse(answer.text)).toMatchObject({ code: 'tool_server_failed', status: 502 })
    expect((await getServer(server, added)).status).toBe('connected')
    await removeServer(server, added)
  })

  it('takes the tools away with the server', async () => {
    const name = newName()
    const added = await addServer(server, httpServer(name))
    expect(await removeServer(server, added)).toMatchObject({
      id: added.id,
      status: 'disconnected',
      toolCount: 0,
    })
    expect(await toolNames(server, name)).toEqual([])
    expect((await ask(server, `/api/tools/${name}.forecast`)).status).toBe(404)
    expect((await post(server, RUN, callOf(`${name}.forecast`, { city: 'Oslo' }))).status).toBe(404)
    for (const [method, path] of [
      ['GET', ''],
      ['DELETE', ''],
      ['POST', '/connect'],
      ['POST', '/disconnect'],
      ['GET', '/tools'],
    ] as const) {
      const answer = await admin(server, method, `mcp/${added.id}${path}`)
      expect([answer.status, JSON.parse(answer.text).code]).toEqual([404, 'tool_server_not_found'])
    }
    // The name is free again.
    await removeServer(server, await addServer(server, httpServer(name)))
  })

  it('disconnects and connects', async () => {
    const added = await addServer(server, httpServer())
    const path = `mcp/${added.id}`
    expect(await expectAdmin(server, 'POST', `${path}/disconnect`)).toMatchObject({
      status: 'disconnected',
      toolCount: 0,
      connectedAt: null,
      error: null,
    })
    expect(await toolNames(server, added.name)).toEqual([])
    const refused = await post(server, RUN, callOf(`${added.name}.forecast`, { city: 'Oslo' }))
    expect(JSON.parse(refused.text)).toMatchObject({
      code: 'tool_server_failed',
      detail: `\`${added.name}\` is disconnected`,
    })
    expect(await expectAdmin(server, 'POST', `${path}/connect`)).toMatchObject({
      status: 'connected',
      toolCount: 5,
    })
    expect(await expectAdmin(server, 'POST', `${path}/connect`)).toMatchObject({
      status: 'connected',
      toolCount: 5,
    })
    await removeServer(server, added)
  })

  it('leaves a server alone that is not to connect by itself', async () => {
    const added = await addServer(server, { ...httpServer(), autoConnect: false })
    expect(added).toMatchObject({ status: 'disconnected', toolCount: 0 })
    expect(await toolNames(server, added.name)).toEqual([])
    expect(await expectAdmin(server, 'POST', `mcp/${added.id}/connect`)).toMatchObject({
      status: 'connected',
    })
    await removeServer(server, added)
  })

  it('hears of tools that come later', async () => {
    const own = await serveTools()
    const added = await addServer(server, { ...httpServer(), url: own.url })
    own.grow('late')
    await eventually(async () => expect(await toolNames(server, added.name)).toContain(`${added.name}.late`))
    expect((await getServer(server, added)).toolCount).toBe(6)
    expect((await run(server, RUN, callOf(`${added.name}.late`))).text).toBe('late')
    await removeServer(server, added)
    await own.stop()
  })

  it('says what a server wants that lets nobody in, and uses the token that it is given', async () => {
    const own = await serveTools({ token: 'weather-token-1' })
    const locked = await addServer(server, { ...httpServer(), url: own.url })
    expect(locked).toMatchObject({ status: 'error', toolCount: 0 })
    expect(locked.error).toMatch(
      /401.*`authorization` header.*`invalid_token`.*`weather:read`.*https:\/\/tools\.example\.com/,
    )
    const failed = await post(server, RUN, callOf(`${locked.name}.forecast`, { city: 'Oslo' }))
    expect(JSON.parse(failed.text)).toMatchObject({ code: 'tool_server_failed', status: 502 })
    await removeServer(server, locked)
    const headers = { authorization: 'Bearer weather-token-1' }
    const open = await addServer(server, { ...httpServer(), url: own.url, headers })
    expect(open).toMatchObject({ status: 'connected', toolCount: 5 })
    expect((await run(server, RUN, callOf(`${open.name}.tell`))).text).not.toContain('weather-token-1')
    await removeServer(server, open)
    await own.stop()
  })

  it('notices that a server has gone, and finds it again when it is back', async () => {
    const own = await serveTools()
    const added = await addServer(server, { ...httpServer(), url: own.url })
    const call = callOf(`${added.name}.forecast`, { city: 'Oslo' })
    expect((await run(server, RUN, call)).text).toBe('Sunny in Oslo')
    await own.stop()
    const failed = await post(server, RUN, call)
    expect(JSON.parse(failed.text)).toMatchObject({ code: 'tool_server_failed', status: 502 })
    const { events } = await stream(server, STREAM, call)
    expect(events.at(-2)).toMatchObject({ type: 'tool_call_end', code: 'tool_server_failed' })
    await untilStatus(server, added, 'error')
    const back = await serveTools({ port: own.port })
    await untilStatus(server, added, 'connected')
    expect((await run(server, RUN, call)).text).toBe('Sunny in Oslo')
    await removeServer(server, added)
    await back.stop()
  })

  it('keeps a server that cannot be reached, and says why', async () => {
    const { url, stop } = await listening(createServer())
    await stop()
    const added = await addServer(server, { ...httpServer(), url })
    expect(added).toMatchObject({ status: 'error', toolCount: 0, connectedAt: null })
    expect(added.error).toBe('The tool server cannot be reached')
    await removeServer(server, added)
  })
}
