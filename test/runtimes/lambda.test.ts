/**
 * The contract over HTTP through events and streamed answers, as a function URL makes and reads them. `test/wide/lambda.test.ts` does
 * it with AWS's own runtime client.
 */
import { describe } from 'vitest'
import { httpConnectionContract } from '../contracts/http.ts'
import { startNode } from './harness.ts'

describe('servable/lambda', () => {
  httpConnectionContract(() => startNode('test/runtimes/entries/lambda-node.ts'), {
    readsBodies: true,
    hearsNobodyLeave: true,
  })
})
