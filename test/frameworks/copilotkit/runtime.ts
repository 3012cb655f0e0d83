/** CopilotKit's runtime in front of the service in the first argument. It serves the page in the folder of the second one. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { HttpAgent } from '@ag-ui/client'
import { CopilotRuntime } from '@copilotkit/runtime/v2'
import { createCopilotNodeListener } from '@copilotkit/runtime/v2/node'

const [service = '', page = ''] = process.argv.slice(2)

const agentAt = (path: string, headers?: Record<string, string>) =>
  new HttpAgent({ url: `${service}/api/${path}/ag-ui`, ...(headers && { headers }) })

const names = ['talks', 'pays', 'orders', 'paints', 'recalls', 'fails', 'waits']
const listener = createCopilotNodeListener({
  basePath: '/api/copilotkit',
  runtime: new CopilotRuntime({
    agents: {
      ...Object.fromEntries(names.map(name => [name, agentAt(`agents/${name}`)])),
      remembers: agentAt('agents/recalls', { 'x-test-user': 'ann' }),
      pair: agentAt('teams/pair'),
      gone: agentAt('agents/gone'),
    },
  }),
})

const HTML = `<!doctype html><link rel="icon" href="data:,"><link rel="stylesheet" href="page.css">
<div id="root"></div><script type="module" src="page.js"></script>`

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://page.test')
  if (pathname.startsWith('/api/')) return listener(request, response)
  const [, type] = /\.(js|css)$/.exec(pathname) ?? []
  if (type !== undefined) response.setHeader('cache-control', 'max-age=3600')
  response.setHeader('content-type', type === 'js' ? 'text/javascript' : `text/${type ?? 'html'}`)
  response.end(type === undefined ? HTML : await readFile(join(page, pathname)))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`listening http://127.0.0.1:${address?.port}`)
})
