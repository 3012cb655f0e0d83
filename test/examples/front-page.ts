/** What the front page of the examples names. */
import { expect } from 'vitest'

/** The tokens with which the examples know their user and their administrator. */
export interface Tokens {
  readonly user: string
  readonly admin: string
}

interface Named {
  readonly method: string
  readonly path: string
  /** Whose token it needs. */
  readonly whose: keyof Tokens | undefined
}

/** Asks as a client does. */
export type Ask = (path: string, init?: RequestInit) => Response | Promise<Response>

const LINK = /href="([^"]+)"/g
const CODE = /<code>(GET|POST) (\/[^<:]*)<\/code>/g

/** All links and routes of the page. */
function namedBy(page: string): { readonly links: Named[]; readonly routes: Named[] } {
  const sections = Array.from(page.matchAll(/<section(?: id="(user|admin)")?>([\s\S]*?)<\/section>/g))
  const all = (pattern: RegExp, named: (found: RegExpMatchArray) => Omit<Named, 'whose'>) =>
    sections.flatMap(([, whose, text = '']) =>
      Array.from(text.matchAll(pattern), found => ({
        ...named(found),
        whose: whose as keyof Tokens | undefined,
      })),
    )
  return {
    links: all(LINK, ([, path = '']) => ({ method: 'GET', path: path.replaceAll('&amp;', '&') })),
    routes: all(CODE, ([, method = '', path = '']) => ({ method, path })),
  }
}

/** The links of the page lead somewhere without any token. */
export async function expectLinks(ask: Ask): Promise<void> {
  const { links } = namedBy(await (await ask('/')).text())
  expect(links.length).toBeGreaterThan(15)
  for (const { path } of links) {
    const answer = await ask(path)
    expect([path, answer.status]).toEqual([path, 200])
    await answer.body?.cancel()
  }
}

/** What the page names is there: with the tokens that it says, and for nobody else. */
export async function expectRoutes(ask: Ask, tokens: Tokens): Promise<void> {
  const { links, routes } = namedBy(await (await ask('/')).text())
  expect(routes.length).toBeGreaterThan(12)
  for (const { method, path, whose } of [...links, ...routes]) {
    const statusWith = async (token: string | undefined) => {
      const headers = {
        'content-type': 'application/json',
        // Without a token somebody asks who is not on this machine.
        ...(token === undefined ? { via: '1.1 a-proxy' } : { authorization: `Bearer ${token}` }),
      }
      const answer = await ask(path, { method, headers, ...(method === 'POST' && { body: '{}' }) })
      await answer.body?.cancel()
      return answer.status
    }
    const status = await statusWith(whose && tokens[whose])
    if (method === 'GET') expect([path, status]).toEqual([path, 200])
    // Whatever refuses an empty message is there.
    else expect([404, 405], path).not.toContain(status)
    if (whose !== undefined) expect([401, 404], path).toContain(await statusWith(undefined))
  }
}
