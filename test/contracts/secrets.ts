/** Values that may appear only where they belong. */

/** A secret of one test. `tag` identifies it if it is found. */
export const secret = (tag: string): string => `sk-canary-${tag}-${crypto.randomUUID()}`

/** Headers that contain one secret each. */
export const secretHeaders = (): Readonly<Record<string, string>> => ({
  'x-provider-a-api-key': secret('a'),
  'x-provider-b-api-key': secret('b'),
  'x-api-key': secret('generic'),
  authorization: `Bearer ${secret('bearer')}`,
  cookie: `session=${secret('cookie')}`,
})
