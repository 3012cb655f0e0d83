/** Files of messages and answers. */
import type { ContentPart } from '../../src/agents/contract.ts'
import { client } from '../service.ts'

/** A part that is a file. */
export type FilePart = Extract<ContentPart, { type: 'image' | 'audio' | 'file' }>

/** Types of files that are shown. Others may contain scripts, or belong to other programs. */
const SHOWN = /^(image\/(png|jpeg|gif|webp|avif)|audio\/[\w.+-]+)$/

/** Types of files whose source is shown as text. */
const TEXTS = /^(text\/|image\/svg\+xml|application\/(json|xml|xhtml\+xml))/

/** How a file is shown: by its type, as text, or not at all. */
export function waysToShow(mimeType: string): 'image' | 'audio' | 'text' | undefined {
  if (SHOWN.test(mimeType)) return mimeType.startsWith('image') ? 'image' : 'audio'
  return TEXTS.test(mimeType) ? 'text' : undefined
}

/** A chosen file as a part of a message. */
export async function partOf(file: File): Promise<FilePart> {
  if (file.size === 0) throw new Error(`The file ${file.name} is empty.`)
  const mimeType = file.type || 'application/octet-stream'
  const data = await base64Of(file)
  const [type] = mimeType.split('/')
  if (type === 'image' || type === 'audio') return { type, data, mimeType }
  return { type: 'file', data, mimeType, filename: file.name }
}

/** The name of a file. */
export function nameOf(part: FilePart): string {
  return (part.type === 'file' && part.filename) || part.type
}

/** The address on another site that a part has instead of data. Nothing is loaded from there. */
export function foreignIn({ data }: FilePart): string | undefined {
  return /^https?:\/\//i.test(data) && !isOfRun(data) ? data : undefined
}

/** The content of a file of this service. */
export async function contentOf(part: FilePart): Promise<Blob> {
  const { data, mimeType: type = '' } = part
  if (isOfRun(data)) return client.runs.file(data)
  const [, base64 = data] = /^data:[^,]*;base64,(.*)$/s.exec(data) ?? []
  return new Blob([Uint8Array.from(atob(base64), each => each.charCodeAt(0))], { type })
}

/** Saves a content under a name. */
export function save(content: Blob, name: string): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(content)
  link.download = name
  link.click()
  // Some browsers read it only after a while.
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000)
}

const isOfRun = (data: string) => /^\S*\/runs\/[\da-f-]{36}\/\S+$/.test(data)

function base64Of(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result).replace(/^[^,]*,/, ''))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
}
