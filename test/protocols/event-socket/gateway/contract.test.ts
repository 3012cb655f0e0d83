/** The contract of the event socket against a server in this process, where coverage sees it. */
import { memoryState } from '../../../../src/index.ts'
import { serve } from '../../../../src/runtimes/node.ts'
import { gatewayHandler, gatewayOptions } from '../../../contracts/gateway/service.ts'
import { gatewayContract } from '../../../contracts/gateway.ts'

gatewayContract(async settings => {
  const logged: string[] = []
  const handler = gatewayHandler({
    ...gatewayOptions(memoryState(), settings),
    logger: entry => void logged.push(JSON.stringify(entry)),
  })
  const { url, close } = await serve(handler, { port: 0 })
  return {
    runtime: 'node',
    url,
    pid: process.pid,
    folder: undefined,
    log: () => logged.join('\n'),
    stop: close,
    kill: close,
  }
})
