import process from 'node:process'
import { ServableError } from '../../base/errors.ts'

/** Throws `invalid_options` on a Node that is older than 22.13, which `engines` of `package.json` states too (decision 58). */
export function checkNode(version: string = process.versions.node): void {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  if (major > 22 || (major === 22 && minor >= 13)) return
  throw new ServableError(
    'invalid_options',
    `servable needs Node 22.13 or newer, and this is Node ${version}`,
  )
}
