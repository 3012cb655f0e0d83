import type { FileUIPart } from 'ai'

/**
 * A file of an earlier message as it can be sent again: the service has its address, which goes with that message when it is edited or
 * answered again.
 */
export async function attached(file: FileUIPart): Promise<FileUIPart> {
  if (!file.url.startsWith('/')) return file
  const answer = await fetch(file.url)
  if (!answer.ok) throw new Error('A file of the message is gone')
  return { ...file, url: await dataUrlOf(await answer.blob()) }
}

function dataUrlOf(blob: Blob): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(blob)
  })
}
