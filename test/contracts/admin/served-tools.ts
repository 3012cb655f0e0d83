import { serve } from '../../../src/runtimes/node.ts'
import { type ToolServerFixture, type ToolServerWays, toolServer } from './tool-server.ts'

export interface ServedTools extends Pick<ToolServerFixture, 'seen' | 'grow'> {
  readonly url: string
  readonly port: number
  /** Requests without an answer so far. */
  readonly open: number
  stop(): Promise<void>
}

/** Serves a real tool server from this process. */
export async function serveTools({
  port = 0,
  ...ways
}: { readonly port?: number } & ToolServerWays = {}): Promise<ServedTools> {
  const tools = toolServer(ways)
  let open = 0
  const server = await serve(
    request => {
      open++
      return tools.fetch(request).finally(() => open--)
    },
    { port },
  )
  return {
    seen: tools.seen,
    grow: tools.grow,
    url: server.url,
    port: server.port,
    get open() {
      return open
    },
    stop: () => server.close(),
  }
}
