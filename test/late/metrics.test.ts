import { countingCases } from '../contracts/metrics/counting.ts'
import { handlerOn } from '../contracts/metrics/service.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late(handlerOn)

countingCases(
  served(() => deploy('')),
  200,
)
