import { outboundHandler } from '../../contracts/outbound/service.ts'

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default { fetch: outboundHandler }
