/** Files of people for a run, and files of a run for people. */
import { Buffer } from 'node:buffer'
import type { Attachment, Thread } from 'chat'
import type { Client, RunInput, RunResult } from 'servable/client'

type Part = Exclude<RunInput, string>[number]
type Artifact = NonNullable<RunResult['artifacts']>[number]

/** Most files of a message, and most bytes of all. */
const MAX_FILES = 5
const MAX_BYTES = 10 * 1_048_576

/** Downloads the files of a message. `refused` says which ones were left out, and why. */
export async function readFiles(
  attachments: readonly Attachment[],
): Promise<{ readonly files: Part[]; readonly refused: string[] }> {
  const files: Part[] = []
  const refused: string[] = []
  let left = MAX_BYTES
  for (const attachment of attachments.slice(0, MAX_FILES)) {
    const { name = 'a file' } = attachment
    try {
      const data = (attachment.size ?? 0) > left ? undefined : await attachment.fetchData?.()
      if (data === undefined || data.byteLength > left) refused.push(`${name} is too large for me.`)
      else {
        left -= data.byteLength
        files.push(partOf(attachment, data))
      }
    } catch (error) {
      console.error('a file could not be read:', error)
      refused.push(`I could not read ${name}.`)
    }
  }
  if (attachments.length > MAX_FILES)
    refused.push(`I read ${MAX_FILES} files of a message. Please send the others again.`)
  return { files, refused }
}

function partOf(
  { type, name, mimeType = 'application/octet-stream' }: Attachment,
  bytes: Buffer | ArrayBuffer,
): Part {
  const data = Buffer.from(bytes as Buffer).toString('base64')
  if (type === 'image' || type === 'audio') return { type, data, mimeType }
  return { type: 'file', data, mimeType, ...(name !== undefined && { filename: name }) }
}

/** Posts the files of an artifact. What is an address of somebody else is posted as a link. */
export async function postFiles(thread: Thread, client: Client, artifact: Artifact): Promise<void> {
  for (const part of artifact.parts) {
    if (part.type !== 'file' && part.type !== 'image' && part.type !== 'audio') continue
    const named = 'filename' in part ? part.filename : undefined
    const filename = named ?? artifact.name ?? artifact.artifactId
    if (/^https?:/.test(part.data)) await thread.post({ markdown: `[${filename}](${part.data})` })
    else {
      const isOwn = part.data.startsWith('/api/')
      const data = isOwn
        ? Buffer.from(await (await client.runs.file(part.data)).arrayBuffer())
        : Buffer.from(part.data.replace(/^data:[^,]*,/, ''), 'base64')
      await thread.post({ markdown: '', files: [{ data, filename, mimeType: part.mimeType }] })
    }
  }
}
