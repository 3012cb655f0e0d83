/**
 * Pages of the tools of tool servers.
 *
 * @module
 */

import { ServableError } from '../base/errors.ts'
import { type AppPage, MAX_PAGE, PAGE_TYPE } from './app-page.ts'
import type { ToolServers } from './tool-servers.ts'

/** The page of `server.tool`, which is read from its server. Its address is its own: two servers may have pages of one address. */
export function serverPage(servers: () => Pick<ToolServers, 'tools' | 'read'>, name: string): AppPage {
  const [server = '', ...tool] = name.split('.')
  return {
    uri: `ui://${server}/${tool.join('.')}`,
    server,
    async read(signal) {
      const uri = (await servers().tools()).find(each => each.name === name)?.pageUri
      if (uri === undefined) return undefined
      const contents = await servers().read(server, { kind: 'resource', uri }, { signal })
      const page = contents.find(({ mimeType }) => mimeType?.replace(/\s/g, '') === PAGE_TYPE)
      if (page === undefined || !('text' in page)) return undefined
      if (page.text.length <= MAX_PAGE) return { html: page.text, ...page.look }
      throw new ServableError('tool_server_failed', `The page has more than ${MAX_PAGE} characters`)
    },
  }
}
