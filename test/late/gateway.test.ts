/** What the contract of the event socket says of the store. */
import { describe } from 'vitest'
import { answerCases, answerRecoveryCases } from '../contracts/gateway/answers.ts'
import { clientOf, connected, stock, WAYS } from '../contracts/gateway/client.ts'
import { recoveryCases } from '../contracts/gateway/recovery.ts'
import { runCases } from '../contracts/gateway/runs.ts'
import { gatewayHandler, gatewayOptions } from '../contracts/gateway/service.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late({ options: gatewayOptions, handler: gatewayHandler })

describe('the gateway over a store that answers late', () => {
  const server = served(() => deploy('usual'))
  const open = async (auth?: object) => {
    const socket = stock(server, { ...WAYS[0]![1], ...(auth && { auth }) })
    const client = clientOf(socket)
    await connected(socket)
    return client
  }
  runCases(server, open)
  answerCases(server, open)
})

describe('with recovery', () => {
  const server = served(() => deploy('recovering'))
  recoveryCases(server)
  answerRecoveryCases(server)
})
