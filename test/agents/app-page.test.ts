/** Pages: what they may be, and what is kept of a stranger's. */
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isForModels, isPageUri, lookIn, MAX_PAGE } from '../../src/agents/app-page.ts'
import { Agent } from '../../src/index.ts'
import { appPage } from '../../src/protocols/mcp/plugin.ts'

const page = (more: object = {}) => appPage({ uri: 'ui://map', html: '<p>', ...more } as never)

describe('a page', () => {
  it('is read with its look, from text or from a function', async () => {
    const csp = {
      connectDomains: ['https://a.example', 'wss://b.example:8443'],
      resourceDomains: ['https://*.c.example'],
    }
    expect(await page({ csp, prefersBorder: true }).read()).toEqual({ html: '<p>', csp, prefersBorder: true })
    expect(await page({ html: async () => '<b>' }).read()).toMatchObject({ html: '<b>' })
    await expect(page({ html: () => 7 }).read()).rejects.toThrow('`html` of ui://map must return')
    await expect(page({ html: () => 'x'.repeat(MAX_PAGE + 1) }).read()).rejects.toThrow('characters at most')
  })

  it.each([
    [{ uri: 'https://map' }, 'uri'],
    [{ uri: 'ui://' }, 'uri'],
    [{ uri: `ui://${'x'.repeat(1001)}` }, 'uri'],
    [{ uri: 'ui://a b' }, 'uri'],
    [{ html: '' }, 'html'],
    [{ html: 'x'.repeat(MAX_PAGE + 1) }, 'html'],
    [{ html: undefined }, 'html'],
    [{ csp: { connectDomains: ['a.example'] } }, 'csp.connectDomains.0'],
    [{ csp: { connectDomains: ["https://a.example; script-src 'self'"] } }, 'csp.connectDomains.0'],
    [{ csp: { resourceDomains: ['https://a.example', "'self'"] } }, 'csp.resourceDomains.1'],
    [{ csp: { resourceDomains: ['wss://a.example'] } }, 'csp.resourceDomains.0'],
    [{ csp: { frameDomains: ['https://*'] } }, 'csp.frameDomains.0'],
    [{ csp: { frameDomains: ['https://a.*.example'] } }, 'csp.frameDomains.0'],
    [{ csp: { frameDomains: ['https://a.example/path'] } }, 'csp.frameDomains.0'],
    [{ csp: { frameDomains: Array(31).fill('https://a.example') } }, 'csp.frameDomains'],
    [{ csp: { scriptDomains: [] } }, 'csp.scriptDomains'],
    [{ prefersBorder: 'yes' }, 'prefersBorder'],
  ])('is refused with its field: $1', (wrong, field) => {
    expect(() => page(wrong)).toThrow(expect.objectContaining({ code: 'invalid_options' }))
    expect(() => page(wrong)).toThrow(field)
  })

  it('must be made', () => {
    const make = () =>
      new Agent({ name: 'x', register: false, page: { uri: 'ui://x' } as never, run: () => '' })
    expect(make).toThrow('`page` must be made by `appPage`')
  })
})

describe("a stranger's page", () => {
  it('keeps origins alone, whatever else it says', () => {
    const csp = {
      connectDomains: ['https://a.example', "'unsafe-eval'", 7, 'data:'],
      resourceDomains: 'https://a.example',
    }
    expect(lookIn({ csp, prefersBorder: 1, domain: 'x' })).toEqual({
      csp: { connectDomains: ['https://a.example'] },
    })
    expect(lookIn(undefined)).toEqual({})
    fc.assert(
      fc.property(fc.anything(), fc.array(fc.oneof(fc.string(), fc.webUrl())), (ui, connectDomains) => {
        for (const each of [ui, { csp: ui }, { csp: { connectDomains } }])
          for (const origin of Object.values(lookIn(each).csp ?? {}).flat())
            expect(origin).toMatch(/^(https?|wss?):\/\/(\*\.)?[a-z0-9.-]+(:\d+)?$/i)
      }),
    )
  })

  it('has an address of its own kind', () => {
    expect(['ui://a/b?c', 'ui://a\n', 'UI://a', 7, ''].map(isPageUri)).toEqual([
      true,
      false,
      false,
      false,
      false,
    ])
  })
})

it('hides tools from models only if they say so', () => {
  expect(
    [{}, { visibility: ['app'] }, { visibility: ['model', 'app'] }].map(each => isForModels(each as never)),
  ).toEqual([true, false, true])
})
