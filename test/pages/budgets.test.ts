/** The snippets of the page about budgets do what it says. */
import { rm } from 'node:fs/promises'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Handler, Plugin } from '../../src/index.ts'
import { jsonRequest } from '../contracts/http/client.ts'
import { eventually } from '../eventually.ts'
import { fencesOf, load, snippetsIn, writeSnippets } from './pages.ts'

const shown = fencesOf(['budgets.md'])
const [refusal = '', state = ''] = shown.filter(({ language }) => language === 'json').map(({ text }) => text)

let folder: string
beforeAll(async () => {
  folder = await writeSnippets(snippetsIn(shown))
})
afterAll(() => rm(folder, { recursive: true, force: true }))

it('counts a run as the page shows, in the form that it shows', async () => {
  const { handler } = await load<{ handler: Handler }>(folder, 'budgets-first.ts')
  const url = 'http://127.0.0.1/api'
  expect((await handler(new Request(`${url}/agents/writer/run`, jsonRequest({ input: 'x' })))).status).toBe(
    200,
  )
  const [expected] = JSON.parse(state).budgets
  await eventually(async () => {
    const { budgets } = (await (await handler(new Request(`${url}/budgets`))).json()) as { budgets: object[] }
    const moments = { startsAt: expect.any(String), resetAt: expect.any(String) }
    expect(budgets).toEqual([{ ...expected, ...moments }])
  })
  for (let time = 0; ; time++) {
    const answer = await handler(new Request(`${url}/agents/writer/run`, jsonRequest({ input: 'x' })))
    const problem = (await answer.json()) as object
    if (answer.status === 200 && time < 500) continue
    expect(problem).toMatchObject({ status: 429, code: 'budget_exceeded', title: 'Too Many Requests' })
    expect(Object.keys(problem)).toEqual(expect.arrayContaining(Object.keys(JSON.parse(refusal))))
    break
  }
})

it('makes several budgets', async () => {
  const { plugin } = await load<{ plugin: Plugin }>(folder, 'budgets-several.ts')
  expect(plugin.name).toBe('budgets')
})
