/** The page, and CopilotKit's runtime between it and the service. The runtime keeps nothing: it may restart at any time. */
import { readFile } from 'node:fs/promises'
import process from 'node:process'
import { CopilotRuntime, createCopilotRuntimeHandler } from '@copilotkit/runtime/v2'
import { ServableAgent, servableRunner } from 'servable/ag-ui-client'
import { serve } from 'servable/node'

const { SERVICE_URL = 'http://127.0.0.1:3001', PORT = '3000' } = process.env

const agents = { desk: new ServableAgent({ url: `${SERVICE_URL}/api/agents/desk/ag-ui` }) }
const runner = servableRunner({ agents })
const copilotkit = createCopilotRuntimeHandler({
  runtime: new CopilotRuntime({ agents, runner }),
  hooks: runner.hooks,
  basePath: '/api/copilotkit',
})

const html = `<!doctype html>
<html lang="en">
  <meta charset="utf-8">
  <title>Desk</title>
  <link rel="icon" href="data:,">
  <link rel="stylesheet" href="/page.css">
  <style>
    nav [aria-current=true] { font-weight: bold }
    .decide { border: 1px solid; border-radius: 0.25rem; padding: 0 0.5rem }
  </style>
  <div id="root" data-service="${SERVICE_URL}"></div>
  <script type="module" src="/page.js"></script>
</html>`

/** The files of the page, by their paths. */
const TYPES: Readonly<Record<string, string>> = { '/page.js': 'text/javascript', '/page.css': 'text/css' }

const server = await serve(
  async request => {
    const { pathname } = new URL(request.url)
    if (pathname.startsWith('/api/copilotkit/')) return copilotkit(request)
    if (pathname === '/')
      return new Response(html, { headers: { 'content-type': 'text/html; charset=utf-8' } })
    const type = TYPES[pathname]
    if (type === undefined) return new Response('Not found', { status: 404 })
    const body = await readFile(new URL(`dist${pathname}`, import.meta.url))
    return new Response(body, { headers: { 'content-type': type } })
  },
  { port: Number(PORT) },
)
console.log(`listening ${server.url}`)
