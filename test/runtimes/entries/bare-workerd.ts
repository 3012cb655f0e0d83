import { handler } from '../../contracts/fixture.ts'

// biome-ignore lint/style/noDefaultExport: a Worker is the default export of its module
export default { fetch: handler }
