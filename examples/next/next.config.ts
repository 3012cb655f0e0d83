import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // The event socket's clients request `/api/socket.io/`, with the slash.
  skipTrailingSlashRedirect: true,
  // The library's sources are outside this folder. An app of your own installs `servable` and does not need this line.
  turbopack: { root: join(import.meta.dirname, '../..') },
}

export default config
