import { otelContract } from '../contracts/otel.ts'
import { deploymentsOf, everywhere } from './deployments.ts'

// The exporter reads its settings from the environment.
everywhere(deploymentsOf('otel', { denoNames: ['OTEL_*'] }), deploy => otelContract(deploy))
