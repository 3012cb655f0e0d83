/** What the contract of stored runs says of the store. What it says of bytes and sockets knows no store. */
import { describe } from 'vitest'
import { answerCases } from '../contracts/runs/answering.ts'
import { boundCases, shortCases } from '../contracts/runs/bounds.ts'
import { correctionCases } from '../contracts/runs/corrections.ts'
import { followingCases } from '../contracts/runs/following.ts'
import { cancelOnLeaveCases, continueCases, graceCases } from '../contracts/runs/leaving.ts'
import { ownerCases } from '../contracts/runs/owners.ts'
import { repeatingCases } from '../contracts/runs/repeating.ts'
import { handlerOn } from '../contracts/runs/service.ts'
import { sessionCases } from '../contracts/runs/sessions.ts'
import { turnCases } from '../contracts/runs/turns.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late(handlerOn)

describe.concurrent('stored runs over a store that answers late', () => {
  const server = served(() => deploy('usual'))
  followingCases(server, {})
  answerCases(server)
  ownerCases(server)
  repeatingCases(server)
  correctionCases(server)
  sessionCases(server)
  turnCases(server)
  cancelOnLeaveCases(server)
})

describe.concurrent('whose clients leave', () => {
  describe('with `continue`', () => continueCases(served(() => deploy('continue'))))
  describe('with a time of grace', () => graceCases(served(() => deploy('grace'))))
})

describe('with narrow bounds', () => boundCases(served(() => deploy('tight'))))
describe('with little time and room', () => shortCases(served(() => deploy('short'))))
