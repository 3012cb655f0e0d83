/**
 * Gets files of stored runs, by the addresses that parts have instead of their data.
 *
 * @module
 */

import { readBytes } from './body.ts'
import type { ClientCaller } from './call.ts'
import type { CallOptions } from './options.ts'
import { runPath } from './run-stream.ts'
import { attempt, segment } from './sent.ts'

/** Gets the file at a path. */
export function getFile(caller: ClientCaller, path: string, options?: CallOptions): Promise<File> {
  return caller.within(options, async call => {
    const response = await call.send(path)
    const { headers } = response
    const bytes = await readBytes(response, call.signal, call.maxLength)
    const name = /filename\*=UTF-8''(\S+)/.exec(headers.get('content-disposition') ?? '')?.[1] ?? 'file'
    return new File(bytes, decodeURIComponent(name), { type: headers.get('content-type') ?? '' })
  })
}

/** The path of a part of an artifact. */
export function artifactPath(id: string, artifactId: string, part = 0): string {
  return runPath(id, `/artifacts/${segment(artifactId)}?part=${part}`)
}

/** The path of an address, below the client's base. Throws `invalid_options` for data that is no such address. */
export function filePath(address: string): string {
  return attempt('This is no address of a file of a run', () => {
    const found = /\/runs\/[\da-f-]{36}\/(artifacts|messages|input)[^#]*$/.exec(address)
    if (address.length > 2000 || found === null) throw address
    return found[0]
  })
}
