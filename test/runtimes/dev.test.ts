import { expect, test } from 'vitest'
import { eventually } from '../eventually.ts'
import { startWrangler } from './harness.ts'

test('npm run dev serves the examples', async () => {
  const server = await startWrangler()
  const response = await fetch(`${server.url}/api/agents`)
  expect(response.status).toBe(200)
  expect(await response.text()).toContain('"summarizer"')
  expect(await (await fetch(server.url)).text()).toContain('href="/api/docs"')
  expect(await (await fetch(`${server.url}/api`)).json()).toMatchObject({
    _links: { docs: { href: '/api/docs' } },
  })
  // Its log is for people, without being told so: what is served, and each request.
  await eventually(() => {
    expect(server.log()).toMatch(/servable \S+ {2}\/api\n {2}serves {3}agents /)
    expect(server.log()).toMatch(/GET {7}200 {6} +[\d.]+ (ms|s) {2}\/api\/agents\n/)
  })
  expect(server.log().match(/ {2}serves {3}/g)).toHaveLength(1)
  await server.stop()
})
