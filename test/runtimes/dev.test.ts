import { expect, test } from 'vitest'
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
  await server.stop()
})
