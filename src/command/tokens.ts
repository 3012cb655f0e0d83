/**
 * The file with the tokens that `servable login` has kept.
 *
 * @module
 */

import { chmod, mkdir, readFile, rename, writeFile } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'
import process from 'node:process'
import { isObject } from '../base/validation.ts'

/** The kept token for a service. */
export async function keptToken(url: string): Promise<string | undefined> {
  return (await kept())[url]
}

/** Where the tokens are. */
export function fileOfTokens(): string {
  return join(process.env.XDG_CONFIG_HOME || join(homedir(), '.config'), 'servable', 'tokens.json')
}

/** The tokens, by the address of their service. */
export async function kept(): Promise<Readonly<Record<string, string>>> {
  const path = fileOfTokens()
  const found = await readFile(path, 'utf8').catch((error: { readonly code?: string }) => {
    if (error.code === 'ENOENT') return '{}'
    throw error
  })
  try {
    const tokens: unknown = JSON.parse(found)
    if (isObject(tokens)) return tokens as Record<string, string>
  } catch {
    // It says so below.
  }
  throw new Error(`${path} is no file of tokens: delete it, and log in again`)
}

/** Writes the file anew, complete or not at all. Only its user may read it. */
export async function keep(tokens: Readonly<Record<string, string>>): Promise<void> {
  const path = fileOfTokens()
  await mkdir(dirname(path), { recursive: true, mode: 0o700 })
  const part = `${path}.${process.pid}`
  await writeFile(part, `${JSON.stringify(tokens, null, 2)}\n`, { mode: 0o600 })
  // A file of an earlier process with this number keeps its mode.
  await chmod(part, 0o600)
  await rename(part, path)
}
