import type { Handler, HandlerOptions } from '../../src/index.ts'
import type { LocalState } from '../../src/runs/stored/local-state.ts'
import { serve } from '../../src/runtimes/node.ts'
import type { Deployment } from '../contracts/runs/client.ts'
import { lateState } from '../contracts/store/late.ts'

/** A service of the contracts, made from the name of its settings. */
export interface Service {
  readonly options: (state: LocalState, settings: string) => HandlerOptions
  readonly handler: (options: HandlerOptions) => Handler
}

/** Serves it in this process, over a store that answers late. */
export function late({ options, handler }: Service): (settings: string) => Promise<Deployment> {
  return async settings => {
    const logged: string[] = []
    const { url, close } = await serve(
      handler({
        ...options(lateState(), settings),
        logger: entry => void logged.push(JSON.stringify(entry)),
      }),
      { port: 0 },
    )
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
}
