/** Serves the handler of the module in the first argument, and the pages in the folder of the second one. */
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { join } from 'node:path'
import process from 'node:process'
import { pathToFileURL } from 'node:url'
import { createCopilotNodeHandler } from '@copilotkit/runtime/v2/node'

const [module = '', folder = ''] = process.argv.slice(2)
const { POST } = await import(pathToFileURL(module).href)
const listener = createCopilotNodeHandler(POST)

const htmlOf = (page: string) => `<!doctype html><link rel="icon" href="data:,">
<link rel="stylesheet" href="${page}.css"><div id="root"></div><script type="module" src="${page}.js"></script>`

const server = createServer(async (request, response) => {
  const { pathname } = new URL(request.url ?? '', 'http://page.test')
  if (pathname.startsWith('/api/')) return listener(request, response)
  const [, type] = /\.(js|css)$/.exec(pathname) ?? []
  response.setHeader('content-type', type === 'js' ? 'text/javascript' : `text/${type ?? 'html'}`)
  if (type === undefined) return response.end(htmlOf(pathname))
  response.setHeader('cache-control', 'max-age=3600')
  response.end(await readFile(join(folder, pathname)))
})
server.listen(0, '127.0.0.1', () => {
  const address = server.address()
  if (typeof address === 'object') console.log(`listening http://127.0.0.1:${address?.port}`)
})
