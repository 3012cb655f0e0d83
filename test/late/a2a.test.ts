/** What the contract of A2A says of the store. What it says of cards and envelopes knows no store. */
import { describe } from 'vitest'
import { answerCases } from '../contracts/a2a/answers.ts'
import { boundCases, failureCases, timeoutCases } from '../contracts/a2a/bounds.ts'
import { keyCases } from '../contracts/a2a/keys.ts'
import { listCases } from '../contracts/a2a/lists.ts'
import { ownerCases } from '../contracts/a2a/owners.ts'
import { pushCases } from '../contracts/a2a/push.ts'
import { racingCases } from '../contracts/a2a/racing.ts'
import { a2aHandler, a2aOptions } from '../contracts/a2a/service.ts'
import { streamCases } from '../contracts/a2a/streams.ts'
import { taskCases } from '../contracts/a2a/tasks.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late({ options: a2aOptions, handler: a2aHandler })

describe('tasks over a store that answers late', () => {
  const server = served(() => deploy('usual'))
  describe.concurrent('over loopback', () => {
    taskCases(server)
    answerCases(server)
    streamCases(server)
    listCases(server)
    ownerCases(server)
    keyCases(server)
    failureCases(server)
  })
  racingCases(server, 100)
})

describe('with narrow bounds', () => boundCases(served(() => deploy('tight'))))
describe('push notifications', () => pushCases(served(() => deploy('full'))))
describe('with little time', () => timeoutCases(served(() => deploy('short'))))
