import { describe } from 'vitest'
import { clientCases, survivingCases } from '../contracts/outbound/cases.ts'
import { sendAsked } from '../contracts/outbound/service.ts'

describe('a way out', () => {
  survivingCases(sendAsked)
  clientCases(sendAsked)
})
