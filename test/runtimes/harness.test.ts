import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Runtime, startBun, startDeno, startNode, startWorkerd } from './harness.ts'

const fixture = (name: string) => `test/runtimes/fixtures/${name}.ts`

const starts = {
  node: () => startNode(fixture('node')),
  bun: () => startBun(fixture('bun')),
  deno: () => startDeno(fixture('deno')),
  workerd: () => startWorkerd(fixture('workerd')),
}

const refused = (url: string) => expect.poll(() => fetch(url).catch(() => 'refused'), { timeout: 5_000 })

describe.each(Object.entries(starts))('%s', (name, startIt) => {
  let server: Runtime
  beforeAll(async () => {
    server = await startIt()
  }, 90_000)
  afterAll(() => server?.stop())

  test('answers over loopback and is heard', async () => {
    expect(server.url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/)
    expect(await (await fetch(`${server.url}/hello`)).text()).toBe(`native ${name}`)
    await expect.poll(server.log).toContain('asked /hello')
  })

  test('sees a client leave', async () => {
    const leave = new AbortController()
    const response = await fetch(`${server.url}/stream`, { signal: leave.signal })
    const { value } = await response.body!.getReader().read()
    expect(new TextDecoder().decode(value)).toBe('tick\n')
    leave.abort()
    await expect.poll(server.log, { timeout: 5_000 }).toContain('client left')
  })

  test('is gone once stopped', async () => {
    await server.stop()
    await refused(server.url).toBe('refused')
  })
})

test('environment reaches the Worker as text bindings', async () => {
  const server = await startWorkerd(fixture('workerd'), { env: { NAME: 'quo"ted' } })
  expect(await (await fetch(server.url)).text()).toBe('native quo"ted')
  await server.stop()
})

test('what ends before it is ready says why', async () => {
  await expect(startNode(fixture('broken'))).rejects.toThrow(/about to fail[\s\S]*no such luck/)
})

test('a test run that is killed leaves nothing running', async () => {
  const killed = promisify(execFile)(process.execPath, [fixture('orphan')])
  const { stdout, signal } = await killed.catch(error => error)
  expect(signal).toBe('SIGKILL')
  await refused(stdout.trim()).toBe('refused')
})
