import { join } from 'node:path'

export default {
  skipTrailingSlashRedirect: true,
  turbopack: { root: join(import.meta.dirname, '../../../..') },
  // They are checked with the rest of the tests.
  typescript: { ignoreBuildErrors: true },
}
