import { toolServer } from '../../contracts/admin/tool-server.ts'

const { fetch } = toolServer()

const entry: { fetch: (request: Request) => Promise<Response> } = { fetch }
// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default entry
