/** The contract of the event socket against a server in this process, where coverage sees it. */
import { memoryState } from '../../../../src/index.ts'
import { handlerOn } from '../../../contracts/gateway/service.ts'
import { gatewayContract } from '../../../contracts/gateway.ts'
import { servedHere } from '../../../contracts/served-here.ts'

gatewayContract(settings => servedHere(more => handlerOn(memoryState(), settings, more)))
