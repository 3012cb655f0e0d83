import { expect, it } from 'vitest'
import { eventually } from '../../eventually.ts'
import { run } from '../http/client.ts'
import { post, type Server } from '../runs/client.ts'
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
} from './client.ts'
import { HOSTILE_PATHS, startHostileServer } from './hostile-server.ts'

const definition = { name: 'weather', transport: 'http', url: 'http://127.0.0.1:1/mcp' }

/** Refused definitions, and attacks of tool servers on the service. */
export function refusingCases(server: Server): void {
  const hostile = served(startHostileServer)

  const refuse = async (body: unknown, status: number, code: string, words: string | RegExp = '') => {
    const answer = await admin(server, 'POST', 'mcp', body)
    expect([answer.status, JSON.parse(answer.text).code], answer.text).toEqual([status, code])
    expect(answer.text).toMatch(words)
  }

  it('refuses a definition that is none, and names the field', async () => {
    await refuse({ ...definition, transport: 'ws' }, 400, 'invalid_body', '`transport`')
    await refuse({ ...definition, headers: { host: 'x' } }, 400, 'invalid_body', '`headers.host`')
    await refuse([], 400, 'invalid_body')
    await refuse({ ...definition, headers: { a: 'x'.repeat(300_000) } }, 413, 'body_too_large')
    const answer = await admin(server, 'POST', 'mcp')
    expect(answer.status).toBe(415)
  })

  it('refuses a name that is taken, also of two at once', async () => {
    const body = { ...definition, name: newName(), autoConnect: false }
    const answers = await Promise.all([0, 1, 2, 3].map(() => admin(server, 'POST', 'mcp', body)))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409])
    await refuse(body, 409, 'tool_server_exists')
    const added = JSON.parse(answers.find(({ status }) => status === 201)?.text ?? '')
    await removeServer(server, added)
  })

  it.each([
    'http://169.254.169.254/latest/meta-data/',
    'http://[::ffff:a9fe:a9fe]/',
    'http://2852039166/',
    'http://localhost:3000/mcp',
    'http://10.0.0.1/',
    'http://[::1]/',
    'ftp://127.0.0.1/',
    'http://user:password@127.0.0.1/',
    // An address that does not exist (RFC 6761, section 6.4).
    'http://nothing.invalid/',
  ])('refuses the address %s', async url => {
    await refuse({ ...definition, name: newName(), url }, 400, 'address_refused')
  })

  it('refuses programs that are not named, and loaders', async () => {
    const program = { name: newName(), transport: 'stdio', command: 'sh', args: ['-c', 'echo pwned'] }
    const isWorkerd = server().runtime === 'workerd'
    await refuse(
      program,
      400,
      'invalid_body',
      isWorkerd ? '`transport`' : /`command`.*admin\.stdio\.commands/,
    )
    await refuse({ ...program, env: { LD_PRELOAD: '/tmp/x.so' } }, 400, 'invalid_body', '`env.LD_PRELOAD`')
  })

  const connects = HOSTILE_PATHS.filter(path => /-connect$|-list$|^\/redirect/.test(path))
  // They wait until a server counts as silent: all of them together.
  it.concurrent.each(connects)('is not held up by %s', async path => {
    const added = await addServer(server, { ...definition, name: newName(), url: `${hostile().url}${path}` })
    expect(added.status).toBe('error')
    expect(added.error).toMatch(/\w/)
    expect(added.error?.length).toBeLessThanOrEqual(500)
    expect(added.error).not.toMatch(/[\n\r]|node_modules/)
    expect(await toolNames(server, added.name)).toEqual([])
    await removeServer(server, added)
  })

  it.concurrent('does not fall over a server that changes its tools before it has listed them', async () => {
    const added = await addServer(server, { ...definition, name: newName(), url: `${hostile().url}/early` })
    expect(added.status).toBe('error')
    expect((await getServer(server, added)).name).toBe(added.name)
    await removeServer(server, added)
  })

  it.concurrent('does not wait for a server that never answers to list the tools of the others', async () => {
    const slow = admin(server, 'POST', 'mcp', {
      ...definition,
      name: newName(),
      url: `${hostile().url}/silent-connect`,
    })
    const good = await addServer(server, {
      ...definition,
      name: newName(),
      url: `${hostile().url}/many-tools`,
    })
    expect(await toolNames(server, good.name)).toHaveLength(1000)
    await removeServer(server, good)
    await removeServer(server, JSON.parse((await slow).text))
  })

  const calls = HOSTILE_PATHS.filter(path => path.endsWith('-call'))
  it.concurrent.each(calls)('fails a call of %s, and no more', async path => {
    const added = await addServer(server, { ...definition, name: newName(), url: `${hostile().url}${path}` })
    expect(added).toMatchObject({ status: 'connected', toolCount: 1 })
    const answer = await post(server, '/api/agents/caller/run', callOf(`${added.name}.work`))
    await expectProblemOfTool(answer)
    expect((await expectAdmin<unknown[]>(server, 'GET', 'mcp')).length).toBeGreaterThan(0)
    await removeServer(server, added)
  })

  const expectProblemOfTool = async (answer: { status: number; text: string }) => {
    expect(answer.status, answer.text).toBe(502)
    expect(JSON.parse(answer.text).code).toMatch(/^tool_(server_)?failed$/)
    expect(answer.text.length).toBeLessThan(10_000)
    expect(answer.text).not.toMatch(/\\u001b|\\n/)
  }

  it('calls again, once, where a server has forgotten the session', async () => {
    const added = await addServer(server, { ...definition, name: newName(), url: `${hostile().url}/forgets` })
    const { text } = await run(server, '/api/agents/caller/run', callOf(`${added.name}.work`))
    expect(text).toBe('remembered')
    await removeServer(server, added)
  })

  it('ends the request of a call that takes too long', async () => {
    const added = await addServer(server, {
      ...definition,
      name: newName(),
      url: `${hostile().url}/silent-call`,
    })
    await post(server, '/api/agents/caller/run', callOf(`${added.name}.work`))
    await eventually(() => expect(hostile().open('/silent-call')).toBe(0))
    await removeServer(server, added)
  })

  it('uses the tools that are as they must be, beside others', async () => {
    const added = await addServer(server, {
      ...definition,
      name: newName(),
      url: `${hostile().url}/odd-tools`,
    })
    expect(added).toMatchObject({ status: 'connected', error: null })
    const names = ['empty', 'text', 'output', 'number', 'good'].map(name => `${added.name}.${name}`)
    expect(await toolNames(server, added.name)).toEqual(names)
    expect(added.warnings).toEqual([
      expect.stringMatching(/^3 left out/),
      expect.stringMatching(/^1 left out/),
    ])
    await removeServer(server, added)
  })

  it('takes as many tools as may be, and tells of the rest', async () => {
    const added = await addServer(server, {
      ...definition,
      name: newName(),
      url: `${hostile().url}/many-tools`,
    })
    expect(added).toMatchObject({ status: 'connected', toolCount: 1000 })
    expect(added.warnings).toEqual([expect.stringContaining('1000')])
    expect(await toolNames(server, added.name)).toHaveLength(1000)
    await removeServer(server, added)
  })

  it('leaves out tools with names that nobody should call', async () => {
    const added = await addServer(server, {
      ...definition,
      name: newName(),
      url: `${hostile().url}/odd-names`,
    })
    expect(added).toMatchObject({ status: 'connected', toolCount: 1 })
    expect(added.warnings).toEqual([expect.stringMatching(/^5 left out/)])
    expect(await toolNames(server, added.name)).toEqual([`${added.name}.good`])
    const listed = await getServer(server, added)
    expect(listed.warnings).toEqual(added.warnings)
    await removeServer(server, added)
  })

  it('answers paths and methods that there are not', async () => {
    const missing = await admin(server, 'GET', 'nothing')
    expect([missing.status, JSON.parse(missing.text).code]).toEqual([404, 'not_found'])
    const wrongMethod = await admin(server, 'DELETE', 'mcp')
    expect([wrongMethod.status, wrongMethod.headers.get('allow')]).toEqual([405, 'GET, HEAD, OPTIONS, POST'])
  })
}
