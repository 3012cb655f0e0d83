/** Users log in with the console, in a real browser, at a real provider. */
import { createServer } from 'node:net'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { webConsole } from '../../src/features/console/plugin.ts'
import { jwtAuth, oidcLogin } from '../../src/features/jwt/index.ts'
import { sessions } from '../../src/features/sessions/plugin.ts'
import { bearerAuth, createHandler, memoryState } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { AUDIENCE, CONSOLE_CLIENT, type Issuer, startLogins } from '../contracts/jwt/issuer.ts'
import { says } from '../features/jwt/kit.ts'
import { needing } from '../needing.ts'
import { HAS_BROWSER, launch, violationsOf, visit } from './browser.ts'

needing('chromium-headless-shell').describe('the console', () => {
  let browser: Browser
  let issuer: Issuer
  let server: Awaited<ReturnType<typeof serve>>

  beforeAll(async () => {
    if (!HAS_BROWSER) return
    browser = await launch()
    const port = await freePort()
    issuer = await startLogins(`http://127.0.0.1:${port}/api/console/callback`)
    const from = { issuer: issuer.url, allow: ['127.0.0.1'] }
    const handler = createHandler({
      serve: [says],
      registry: false,
      production: true,
      state: memoryState(),
      middleware: [jwtAuth({ ...from, audience: AUDIENCE })],
      plugins: [
        sessions(),
        webConsole({
          authenticate: (_, identity) => identity,
          login: oidcLogin({ ...from, ...CONSOLE_CLIENT }),
        }),
      ],
    })
    server = await serve(handler, { port, hostname: '127.0.0.1' })
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await issuer?.stop()
  })

  it('lets users log in and out with their provider', async () => {
    const { page } = await visit(browser, `${server.url}/api/console?login=failed`)
    await page.getByText('The identity provider did not let you in.').waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    await page.getByRole('link', { name: 'Log in with your identity provider' }).click()
    await page.locator('[name=login]').fill('ada')
    await page.locator('[name=password]').fill('any')
    await page.locator('[type=submit]').click()
    await page.getByText('Continue').click()
    await page.getByText('ada', { exact: true }).waitFor()
    expect(page.url()).toBe(`${server.url}/api/console`)
    await page.locator('.side').getByRole('link', { name: 'Runs' }).click()
    await page.getByText('There are no runs yet.').waitFor()
    expect(await page.evaluate(() => document.cookie)).toBe('')
    await page.getByRole('button', { name: 'Log out' }).click()
    await page.getByRole('link', { name: 'Log in with your identity provider' }).waitFor()
  })

  it('takes a token without a provider, whoever its user is', async () => {
    const open = await serve(
      createHandler({
        serve: [says],
        registry: false,
        production: false,
        middleware: [optional],
        plugins: [webConsole()],
      }),
      { port: 0, hostname: '127.0.0.1' },
    )
    const { page } = await visit(browser, `${open.url}/api/console`)
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByRole('button', { name: 'Cancel' }).click()
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByLabel('Bearer token').fill('let-me-in')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('bob', { exact: true }).waitFor()
    await open.close()
  })
})

needing('chromium-headless-shell').describe('the console of an operator', () => {
  it('lists the runs of everyone, and opens them', async () => {
    const tokens = { ann: 'ann', bob: 'bob', eve: { id: 'eve', roles: ['operator'] } }
    const handler = createHandler({
      serve: [says],
      registry: false,
      state: memoryState(),
      runs: { store: 'all' },
      middleware: [bearerAuth({ tokens })],
      plugins: [webConsole({ authenticate: (_, identity) => identity })],
    })
    const server = await serve(handler, { port: 0, hostname: '127.0.0.1' })
    for (const user of ['ann', 'bob'])
      await fetch(
        `${server.url}/api/agents/says/run`,
        jsonRequest({ input: 'x' }, { authorization: `Bearer ${user}` }),
      )
    const browser = await launch()
    const { page, complaints } = await visit(browser, `${server.url}/api/console#/runs`)
    await page.getByLabel('Bearer token').fill('eve')
    await page.getByRole('button', { name: 'Log in' }).click()
    await page.getByText('eve, operator', { exact: true }).waitFor()
    await page.getByText('There are no runs yet.').waitFor()
    await page.getByLabel('Whose').selectOption('Everyone’s')
    await page.getByRole('row', { name: /says bob/ }).waitFor()
    for (const colorScheme of ['light', 'dark'] as const) {
      await page.emulateMedia({ colorScheme })
      expect(await violationsOf(page)).toEqual([])
    }
    await page.getByRole('row', { name: /ann/ }).getByRole('link').click()
    await page
      .getByRole('tab', { name: 'JSON' })
      .or(page.getByRole('link', { name: 'JSON' }))
      .click()
    await page.getByText('by ann').first().waitFor()
    await page.setViewportSize({ width: 360, height: 740 })
    expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(360)
    expect(complaints).toEqual([])
    await browser.close()
    await server.close()
  })
})

const bob = bearerAuth({ tokens: { 'let-me-in': 'bob' } })

/** Middleware of a deployment that needs no token. */
const optional: typeof bob = (request, context, next) =>
  request.headers.has('authorization') ? bob(request, context, next) : next()

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  const { port } = server.address() as { readonly port: number }
  await new Promise(resolve => server.close(resolve))
  return port
}
