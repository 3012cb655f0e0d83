import { readFile } from 'node:fs/promises'
import type { HandlerOptions } from 'servable'
import { aiSdkUi } from 'servable/ai-sdk-ui'
import { sessions } from 'servable/sessions'
import { identify, logIn } from './login.ts'

const htmlOf = (body: string) =>
  new Response(`<!doctype html><title>Chat</title>${body}`, { headers: { 'content-type': 'text/html' } })
const FORM =
  '<form method=post><label>Name <input name=name></label> <label>Password <input name=password type=password></label> <button>Log in'

async function site(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === '/login') return request.method === 'POST' ? logIn(request) : htmlOf(FORM)
  if (pathname === '/') return htmlOf('<body><script src="/page.js"></script>')
  if (pathname !== '/page.js') return new Response('Not found', { status: 404 })
  const script = await readFile(new URL('dist/page.js', import.meta.url))
  return new Response(script, { headers: { 'content-type': 'text/javascript' } })
}

export default {
  middleware: [identify],
  plugins: [aiSdkUi({ resume: true }), sessions()],
  fallback: site,
  // The page has the path `/`, where A2A would be.
  a2a: { basePath: '/api/a2a' },
} satisfies HandlerOptions
