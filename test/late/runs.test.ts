import { runsHandler, runsOptions } from '../contracts/runs/service.ts'
import { runsContract } from '../contracts/runs.ts'
import { late } from './served.ts'

runsContract(late({ options: runsOptions, handler: runsHandler }))
