/** What both servers can be asked to do: the first word of a message names it. They run in the process of the tests. */

/** Tasks that wait until they are cancelled, by what they were asked. `true` once they are. */
export const waits: Map<string, boolean> = new Map()

/** How often a message with this text came. */
export const came: Map<string, number> = new Map()

/** Notes a message, and splits its text. */
export function doingOf(text: string): { readonly what: string; readonly rest: string } {
  came.set(text, (came.get(text) ?? 0) + 1)
  const [what = '', ...rest] = text.split(' ')
  return { what, rest: rest.join(' ') }
}

export const FILE = { data: 'AAEC', mimeType: 'image/png' } as const

export const DATA = { deep: [null, 1.5, '日本'] } as const
