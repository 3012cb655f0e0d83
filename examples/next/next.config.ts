import { join } from 'node:path'
import type { NextConfig } from 'next'

const config: NextConfig = {
  // The event socket's clients ask for `/api/socket.io/`, with the slash.
  skipTrailingSlashRedirect: true,
  // The sources of the library are beside this folder. An app of your own installs `servable`, and needs no such line.
  turbopack: { root: join(import.meta.dirname, '../..') },
}

export default config
