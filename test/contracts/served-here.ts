import type { Handler, HandlerOptions } from '../../src/index.ts'
import { serve } from '../../src/runtimes/node.ts'
import type { Deployment } from './runs/client.ts'

/** Serves a handler in this process, where coverage sees it. It is made with a log that the deployment reads. */
export async function servedHere(make: (more: HandlerOptions) => Handler): Promise<Deployment> {
  const logged: string[] = []
  const { url, close } = await serve(make({ logger: entry => void logged.push(JSON.stringify(entry)) }), {
    port: 0,
  })
  return {
    runtime: 'node',
    url,
    pid: process.pid,
    folder: undefined,
    log: () => logged.join('\n'),
    stop: close,
    kill: close,
  }
}
