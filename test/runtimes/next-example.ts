/** The plugins of the example for Next.js. */
import { expect, it, onTestFinished } from 'vitest'
import { startReceiver } from '../contracts/otel/receiver.ts'
import { eventually } from '../eventually.ts'
import { PLUGINS } from '../examples/plugins.ts'
import type { NextApps } from './next-apps.ts'

/** Asks the example for each plugin, as a visitor, an administrator and a program with a key. */
export function everyPluginCase(apps: () => Pick<NextApps, 'start'>): void {
  it('has every plugin but those that need a server of their own', async () => {
    const receiver = await startReceiver()
    onTestFinished(() => receiver.stop())
    const app = await apps().start('example', {
      DATABASE: ':memory:',
      ADMIN_TOKEN: 'token-of-admin',
      OTEL_EXPORTER_OTLP_ENDPOINT: receiver.url,
    })
    onTestFinished(() => app.stop())
    const ask = (path: string, headers: Record<string, string>, body?: object) =>
      fetch(`${app.url}/api${path}`, {
        method: body ? 'POST' : 'GET',
        headers: { 'content-type': 'application/json', ...headers },
        ...(body && { body: JSON.stringify(body) }),
      })
    const visitor = { cookie: `visitor=${crypto.randomUUID()}` }
    const admin = { authorization: 'Bearer token-of-admin' }
    const config = await (await ask('/console/config', visitor)).json()
    const expected = PLUGINS.filter(name => name !== 'schedules')
    expect(config.plugins).toEqual(expect.arrayContaining(expected))
    expect(config.plugins).not.toContain('schedules')

    const statuses = (paths: readonly string[], headers: Record<string, string>) =>
      Promise.all(paths.map(async path => [path, (await ask(path, headers)).status]))
    const ofVisitors = [
      '/console',
      '/docs',
      '/docs/spec.json',
      '/v1/models',
      '/tools',
      '/budgets',
      '/webhooks',
    ]
    expect(await statuses(ofVisitors, visitor)).toEqual(ofVisitors.map(path => [path, 200]))
    const ofAdmins = ['/metrics', '/keys', '/budgets/all', '/admin/mcp', '/admin/toolkits', '/admin/webhooks']
    expect(await statuses(ofAdmins, admin)).toEqual(ofAdmins.map(path => [path, 200]))
    expect(await statuses(ofAdmins, visitor)).toEqual(ofAdmins.map(path => [path, 401]))

    const page = await (await fetch(`${app.url}/api/docs`, { headers: { accept: 'text/html' } })).text()
    const [, script = ''] = /<script src="([^"]+bundle[^"]*)"/.exec(page) ?? []
    expect((await fetch(new URL(script, `${app.url}/api/docs`))).headers.get('content-type')).toContain(
      'javascript',
    )

    const asked = { owner: 'bob', name: 'laptop', scopes: ['agent:echo'] }
    const { key } = await (await ask('/keys', admin, asked)).json()
    const card = { input: 'Pay with 4111 1111 1111 1111' }
    const answer = await ask('/agents/echo/run', { authorization: `Bearer ${key}` }, card)
    expect(await answer.json()).toMatchObject({ text: 'Pay with [card]' })
    expect((await ask('/agents/echo/run', {}, card)).status).toBe(401)
    await eventually(() => {
      expect(receiver.spans.map(({ name }) => name)).toContain('invoke_agent echo')
      expect(app.log()).toContain('"event":"run.started"')
    })
  })
}
