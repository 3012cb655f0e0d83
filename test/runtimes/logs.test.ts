/** What real servers write of themselves if nobody has said anything of the log. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { ELSEWHERE } from '../tags.ts'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'

type Start = (env: Record<string, string>) => Promise<Runtime>

const ENTRY = 'test/runtimes/entries/logs-server.ts'
const servers: Readonly<Record<string, Start>> = {
  Node: env => startNode(ENTRY, { env }),
  Bun: env => startBun(ENTRY, { env }),
  Deno: env => startDeno(ENTRY, { env, names: ['NO_COLOR'] }),
}

const run = async ({ url }: Runtime) => {
  const response = await fetch(
    `${url}/api/agents/echo/run`,
    jsonRequest({ input: 'what was asked' }, { 'x-api-key': 'sk-of-a-client-1234567890' }),
  )
  expect(await response.json()).toMatchObject({ text: 'what was asked' })
}

const jsonOf = (log: string): Record<string, unknown>[] =>
  log.split('\n').flatMap(line => (line.startsWith('{') ? [JSON.parse(line)] : []))

describe.each(Object.entries(servers))('a server on %s', ELSEWHERE, (_, start) => {
  it('is readable in development: what is served, each request and each run', async () => {
    const server = await start({ NODE_ENV: 'development' })
    onTestFinished(() => server.stop())
    await run(server)
    await eventually(() => {
      expect(server.log()).toContain(`${server.url}/api\n  serves   agent echo\n`)
      expect(server.log()).toMatch(/\n {2}access {3}everyone\. .*`local`.*\n {2}state {4}memory: /)
      expect(server.log()).toMatch(/\n {2}missing {2}.*authentication.*lasting state.*rate limit.*metrics/)
      expect(server.log()).toMatch(
        /\n\S{8} {2}agent {5}completed .* echo {2}3→5 tokens {2}\$0\.013 {2}run=[-\da-f]{36} transport=http identity=local\n/,
      )
      expect(server.log()).toMatch(
        /\n\S{8} {2}POST {6}200 .* \/api\/agents\/echo\/run {2}run=[-\da-f]{36} identity=local\n/,
      )
    })
    // It is no terminal.
    expect(server.log()).not.toContain('\u001b')
    expect(server.log()).not.toContain('what was asked')
    expect(server.log()).not.toContain('sk-of-a-client')
    expect(jsonOf(server.log())).toEqual([])
  })

  it('says in production what it serves, in one line of JSON, and nothing of requests', async () => {
    const server = await start({ NODE_ENV: 'production' })
    onTestFinished(() => server.stop())
    await run(server)
    await run(server)
    expect(jsonOf(server.log())).toEqual([
      {
        ...{ level: 'info', channel: 'service', event: 'service.started', version: expect.any(String) },
        ...{ url: `${server.url}/api`, production: true, serves: ['agent echo'] },
        ...{
          parts: ['roles', 'corrections'],
          access: 'everyone',
          state:
            'memory: a restart loses every run and session. `sqliteState` of `servable/sqlite` keeps them',
        },
        missing: expect.arrayContaining([expect.stringContaining('authentication')]),
      },
    ])
  })
})

it('a Worker in workerd says what it serves once, at its first request', ELSEWHERE, async () => {
  const server = await startWorkerd(ENTRY)
  onTestFinished(() => server.stop())
  expect(server.log()).not.toContain('service.started')
  await run(server)
  await run(server)
  await eventually(() => expect(server.log()).toContain('service.started'))
  expect(server.log().match(/service\.started/g)).toHaveLength(1)
  expect(server.log()).toContain('"url":"/api"')
})
