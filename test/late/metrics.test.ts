import { countingCases } from '../contracts/metrics/counting.ts'
import { metricsHandler, metricsOptions } from '../contracts/metrics/service.ts'
import { served } from '../contracts/served.ts'
import { late } from './served.ts'

const deploy = late({ options: metricsOptions, handler: metricsHandler })

countingCases(
  served(() => deploy('')),
  200,
)
